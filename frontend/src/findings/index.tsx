/** What to change, and what it saves: the findings of each run, the worst run first. */

import { readHash } from "../lib/address";
import { address } from "../lib/api";
import { parseState } from "../lib/state";
import { percent } from "../lib/units";
import { lensVersion, useDocument } from "../ui/documents";
import { useSession } from "../ui/session";
import { Empty, Loaded } from "../ui/states";
import { byRun, type Cost, type Evidence, type Finding, type RunSummary } from "./documents";

const CERTAINTY: Readonly<Record<Finding["certainty"], string>> = {
  measured: "Measured: the trace records it",
  derived: "Derived: it follows from the trace",
  hint: "A hint: only the pattern is known",
};

export function FindingsLens() {
  const findings = useDocument<readonly Finding[]>(
    ({ state }) => address("findings", { run: state.value.run, compare: state.value.compare }),
    (session) => lensVersion(session, "findings"),
  );
  const summaries = useDocument<readonly RunSummary[]>(
    ({ state }) => address("summary", { run: state.value.run, compare: state.value.compare }),
    (session) => lensVersion(session, "findings"),
  );
  return (
    <Loaded resource={findings}>{(found) => <Groups findings={found} summaries={summaries.data.value ?? []} />}</Loaded>
  );
}

function Groups({ findings, summaries }: { findings: readonly Finding[]; summaries: readonly RunSummary[] }) {
  const groups = byRun(summaries, findings);
  if (groups.length === 0) return <Empty title="No issues found">No rule finds anything to change.</Empty>;
  return (
    <div class="scroll" tabIndex={0}>
      {groups.map(({ run, summary, findings: own }) => (
        <section key={run} aria-label={run}>
          <RunHead run={run} summary={summary} />
          {own.map((finding, at) => (
            <FindingItem key={at} finding={finding} />
          ))}
          {summary !== null && summary.costs.length > 0 && <Costs costs={summary.costs} />}
        </section>
      ))}
    </div>
  );
}

function RunHead({ run, summary }: { run: string; summary: RunSummary | null }) {
  return (
    <header class="finding-run">
      <strong>{run === "." ? "" : run}</strong> {summary?.sentence} {summary?.difference}
    </header>
  );
}

function FindingItem({ finding }: { finding: Finding }) {
  const [first, ...others] = finding.evidence;
  const what = finding.saving_share === null ? "What can be saved is unknown" : "Saved at most";
  return (
    <article class="finding">
      <div class="cost" title={what}>
        {percent(finding.saving_share, 1)}
      </div>
      <div>
        <h2>{first === undefined ? finding.title : <Link evidence={first} text={finding.title} />}</h2>
        <p>{finding.advice}</p>
        {finding.try.length > 0 && (
          <ul class="try" aria-label="Try">
            {finding.try.map((change) => (
              <li key={change}>{change}</li>
            ))}
          </ul>
        )}
        {finding.state !== undefined && <span class="badge">{finding.state}</span>}
        <span class="badge" title={CERTAINTY[finding.certainty]}>
          {finding.certainty}
        </span>
        {[first, ...others].map(
          (evidence, at) =>
            evidence !== undefined && (
              <Link
                key={at}
                evidence={evidence}
                text={[evidence.run, evidence.key, shownIn(evidence)].filter(Boolean).join(" · ")}
              />
            ),
        )}
      </div>
    </article>
  );
}

function Costs({ costs }: { costs: readonly Cost[] }) {
  return (
    <details class="costs" open>
      <summary>Largest costs</summary>
      <ul class="plain ranked">
        {costs.map(({ title, kind, share, note, evidence: [place] }) => (
          <li key={title}>
            <span class="num">{percent(share, 1)}</span>
            <span class="name" title={note}>
              {place === undefined ? title : <Link evidence={place} text={title} />}
            </span>
            <span class="muted">{kind}</span>
          </li>
        ))}
      </ul>
    </details>
  );
}

function Link({ evidence, text }: { evidence: Evidence; text: string }) {
  const session = useSession();
  const show = () => session.accept(parseState(readHash(evidence.hash)));
  return (
    <button type="button" class="link evidence" onClick={show}>
      {text}
    </button>
  );
}

/** Where among the tables and views the evidence is: two pieces may be of one row in two of them. */
function shownIn({ lens, hash }: Evidence): string {
  if (lens !== "views") return "";
  const { view, pane } = parseState(readHash(hash)).state;
  return pane || `${view} view`;
}
