/** The first screen: where a step goes, how fast the runs are, what to do first, and what is logged. */

import { address } from "../lib/api";
import { RECORD_LENSES } from "../lib/lenses";
import { claims, recordsOf } from "../lib/selection";
import type { Lens } from "../lib/state";
import { counted, formatAge } from "../lib/units";
import { useDocument } from "../ui/documents";
import { howToLog } from "../ui/nothing_logged";
import { useSession } from "../ui/session";
import { titleOf } from "../ui/shell";
import { CodeBlock, Loaded } from "../ui/states";
import { Breakdown } from "./breakdown";
import { Card } from "./card";
import { type OverviewFinding, type OverviewSummary, overviewVersion } from "./documents";
import { Findings, Summaries } from "./findings";
import { Rates } from "./rates";

export function Overview() {
  const session = useSession();
  const index = session.index.data.value;
  const { run } = session.state.value;
  const has = (lens: Lens) =>
    index !== null && claims(index, lens) && (run === "" || recordsOf(index, lens).some((one) => one.run === run));
  return (
    <div class="scroll overview" tabIndex={0}>
      <div class="columns">
        <div>
          {has("throughput") && <Rates />}
          {has("views") && <Breakdown />}
        </div>
        <div>
          <TopFindings />
          <Logged has={has} />
        </div>
      </div>
    </div>
  );
}

function TopFindings() {
  const findings = useDocument<readonly OverviewFinding[]>(
    ({ state }) => address("findings", { run: state.value.run, compare: state.value.compare }),
    overviewVersion,
  );
  const summaries = useDocument<readonly OverviewSummary[]>(
    ({ state }) => address("summary", { run: state.value.run, compare: state.value.compare }),
    overviewVersion,
  );
  return (
    <Card title="What to do first" lens="findings">
      <Summaries summaries={summaries.data.value ?? []} />
      <Loaded resource={findings}>{(found) => <Findings findings={found} />}</Loaded>
    </Card>
  );
}

/** What is logged, and for what is not, how to. */
function Logged({ has }: { has: (lens: Lens) => boolean }) {
  return (
    <section class="card">
      <h2>Logged</h2>
      <ul class="plain logged">
        {RECORD_LENSES.map((lens) => (
          <li key={lens}>
            <strong>{titleOf(lens)}</strong>
            {has(lens) ? <Counts lens={lens} /> : <span class="muted">nothing yet</span>}
            {!has(lens) && <CodeBlock code={(howToLog(lens).split("\n\n")[0] ?? "").trim()} />}
          </li>
        ))}
      </ul>
    </section>
  );
}

function Counts({ lens }: { lens: Lens }) {
  const session = useSession();
  const index = session.index.data.value;
  const { run } = session.state.value;
  const records = index === null ? [] : recordsOf(index, lens).filter((one) => run === "" || one.run === run);
  const runs = new Set(records.map(({ run }) => run)).size;
  const newest = Math.max(...records.map((record) => Number(record.written_wall_ns ?? 0)));
  const age = newest > 0 ? `, ${formatAge(Date.now() / 1000 - newest / 1e9)}` : "";
  return (
    <span class="muted">
      {`${counted(records.length, "record")} in ${counted(runs, "run")}${age}`}
      <button type="button" class="link" onClick={() => session.showLens(lens)}>
        Open
      </button>
    </span>
  );
}
