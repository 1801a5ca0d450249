/** What to do first, over all lenses. */

import { readHash } from "../lib/address";
import { address } from "../lib/api";
import { parseState } from "../lib/state";
import { percent } from "../lib/units";
import { lensVersion, useDocument } from "../ui/documents";
import { useSession } from "../ui/session";
import { Empty, Loaded } from "../ui/states";

interface Evidence {
  readonly lens: string;
  readonly run: string;
  readonly name: string;
  readonly key: string;
  readonly hash: string;
}

interface Finding {
  readonly rule: string;
  readonly title: string;
  readonly cost_share: number | null;
  readonly evidence: readonly Evidence[];
  readonly advice: string;
  readonly certainty: "measured" | "derived" | "hint";
}

const CERTAINTY: Readonly<Record<Finding["certainty"], string>> = {
  measured: "Measured: the cost was recorded",
  derived: "Derived: the cost follows from what was recorded",
  hint: "A hint: the cost is not known",
};

export function FindingsLens() {
  const resource = useDocument<readonly Finding[]>(
    ({ state }) => address("findings", { run: state.value.run }),
    (session) => lensVersion(session, "findings"),
  );
  return (
    <Loaded resource={resource}>
      {(findings) =>
        findings.length === 0 ? (
          <Empty title="Nothing found">No rule sees something to gain in what was logged.</Empty>
        ) : (
          <div class="scroll" tabIndex={0}>
            {findings.map((finding, at) => (
              <FindingItem key={at} finding={finding} />
            ))}
          </div>
        )
      }
    </Loaded>
  );
}

function FindingItem({ finding }: { finding: Finding }) {
  const session = useSession();
  const show = ({ hash }: Evidence) => session.accept(parseState(readHash(hash)));
  return (
    <article class="finding">
      <div class="cost" title={finding.cost_share === null ? "" : "Share of the step"}>
        {percent(finding.cost_share, 1)}
      </div>
      <div>
        <h2>{finding.title}</h2>
        <p>{finding.advice}</p>
        <span class="badge" title={CERTAINTY[finding.certainty]}>
          {finding.certainty}
        </span>
        {finding.evidence.map((evidence, at) => (
          <button key={at} type="button" class="link evidence" onClick={() => show(evidence)}>
            {[evidence.run, evidence.key, shownIn(evidence)].filter(Boolean).join(" · ")}
          </button>
        ))}
      </div>
    </article>
  );
}

/** Where among the views the evidence is: two pieces may be of one row in two of them. */
function shownIn({ lens, hash }: Evidence): string {
  if (lens !== "views") return "";
  const { view, pane } = parseState(readHash(hash)).state;
  return pane || `${view} view`;
}
