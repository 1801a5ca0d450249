import { readHash } from "../lib/address";
import { parseState } from "../lib/state";
import { percent } from "../lib/units";
import { useSession } from "../ui/session";
import type { OverviewFinding } from "./documents";

const SHOWN = 5;

/** The runs that a finding is about. */
function runsOf(evidence: OverviewFinding["evidence"]): string {
  return [...new Set(evidence.map(({ run }) => run))].filter((run) => run !== "" && run !== ".").join(", ");
}

/** The findings that come first; each leads to its evidence. */
export function Findings({ findings }: { findings: readonly OverviewFinding[] }) {
  const session = useSession();
  if (findings.length === 0) return <p class="muted">No rule sees something to gain in what was logged.</p>;
  return (
    <ol class="plain ranked">
      {findings.slice(0, SHOWN).map(({ title, cost_share, evidence, certainty }, at) => (
        <li key={at}>
          <span class="num" title={certainty}>
            {percent(cost_share, 1)}
          </span>
          <span class="name" title={title}>
            {evidence[0] === undefined ? (
              title
            ) : (
              <button
                type="button"
                class="link"
                onClick={() => session.accept(parseState(readHash(evidence[0]?.hash ?? "")))}
              >
                {title}
              </button>
            )}
          </span>
          <span class="muted name run" title={runsOf(evidence)}>
            {runsOf(evidence)}
          </span>
        </li>
      ))}
      {findings.length > SHOWN && (
        <li class="muted">
          <span>{`and ${findings.length - SHOWN} more`}</span>
        </li>
      )}
    </ol>
  );
}
