/** The trace lens: the single executions of a profile as steps, timeline, kernels, launches, shapes, memory and ranks. */

import { address } from "../lib/api";
import type { RowsDocument } from "../lib/documents";
import { useDocument } from "../ui/documents";
import { useSession } from "../ui/session";
import { Empty, Failure, Skeleton } from "../ui/states";
import { CriticalPath } from "./critical_path";
import { Kernels } from "./kernels";
import { Launches } from "./launches";
import { Memory } from "./memory";
import { Ranks } from "./ranks";
import { Shapes } from "./shapes";
import { Steps } from "./steps";
import { TableExport, TableSwitch } from "./table_switch";
import { Trace } from "./trace";

const TABLES: Readonly<Record<string, () => preact.JSX.Element | null>> = {
  steps: Steps,
  trace: Trace,
  shapes: Shapes,
  kernels: Kernels,
  launches: Launches,
  "critical-path": CriticalPath,
  memory: Memory,
  ranks: Ranks,
};

export function TraceLens() {
  const session = useSession();
  const head = useDocument<Pick<RowsDocument, "panes">>(({ recordParameters }) => {
    const { run, name, record_step } = recordParameters.value;
    return address("views", { run, name, record_step, view: "op", shape: "rows", limit: 0 });
  });
  const error = head.error.value;
  if (error !== null) return <Failure error={error} retry={() => session.refresh()} />;
  if (head.data.value === null) return head.slow.value ? <Skeleton /> : null;

  const tables = head.data.value.panes ?? [];
  const [first] = tables;
  if (first === undefined) {
    return (
      <Empty title="No single executions">This profile has only sums: no steps, timeline, kernels or memory.</Empty>
    );
  }
  const { pane } = session.state.value;
  const shown = tables.includes(pane) ? pane : first;
  const Table = TABLES[shown];
  return (
    <>
      <div class="toolbar">
        <TableSwitch tables={tables} shown={shown} />
        <span class="spacer" />
        <TableExport shown={shown} />
      </div>
      {Table !== undefined && <Table key={shown} />}
    </>
  );
}
