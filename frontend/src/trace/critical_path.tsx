/** The critical path: the chain of host work, device work and waits that decides how long the steps take. */

import { useMemo } from "preact/hooks";
import { format, percent } from "../lib/units";
import { numberColumn, wordColumn } from "../ui/columns";
import { type DataColumn, DataTable } from "../ui/data_table";
import { useSession } from "../ui/session";
import { Empty, Loaded } from "../ui/states";
import { useShape } from "../ui/trace_document";
import type { CriticalPathDocument, PathRow, PathSegment } from "./documents";

export function CriticalPath() {
  const resource = useShape<CriticalPathDocument>("critical-path");
  return <Loaded resource={resource}>{(document) => <Tables document={document} />}</Loaded>;
}

function Tables({ document }: { document: CriticalPathDocument }) {
  const session = useSession();
  const { sort, key } = session.state.value;
  const rows = useMemo(() => rowColumns(document.rows, document.total_ps), [document]);
  const chain = useMemo(() => segmentColumns(document.segments), [document]);
  if (document.total_ps === 0) return <Empty title="No critical path">This profile has no single executions.</Empty>;
  const parts = Object.entries(document.parts_ps).map(
    ([kind, time]) => `${kind} ${percent(time / document.total_ps, 1)}`,
  );
  const show = (id: string) => {
    const execution = document.segments.find((one) => segmentKey(one) === id)?.execution;
    session.update({ pane: "trace", key: String(execution ?? ""), host: ON_PATH, zoom: windowOf(document, id) });
  };
  return (
    <div class="main-column">
      <div class="pane-head">
        <div>
          {`${format("ps", document.total_ps)} on the critical path`} <span class="muted">{parts.join(" · ")}</span>
        </div>
        <button type="button" class="link" onClick={() => session.update({ pane: "trace", key: "", host: ON_PATH })}>
          Mark it in the trace
        </button>
      </div>
      <DataTable
        label="Critical path by name"
        columns={rows}
        rows={document.rows}
        id={rowKey}
        sort={sort || "-path_ps"}
        onSort={(next) => session.update({ sort: next })}
        selected={key}
        onSelect={(next) => session.update({ key: next })}
      />
      <DataTable
        label="Chain in order of time; select a segment to open it in the trace"
        columns={chain}
        rows={document.segments}
        id={segmentKey}
        sort=""
        onSort={() => undefined}
        selected=""
        onSelect={show}
      />
    </div>
  );
}

/** The value of the trace's `host` that marks the critical path there. */
export const ON_PATH = "critical-path";

function rowKey({ kind, name }: PathRow): string {
  return `${kind} ${name}`;
}

/** An execution may lie on the path in several segments. */
function segmentKey({ start_ps, lane, kind }: PathSegment): string {
  return `${start_ps} ${lane} ${kind}`;
}

function windowOf({ segments }: CriticalPathDocument, id: string): readonly [number, number] | null {
  const segment = segments.find((one) => segmentKey(one) === id);
  if (segment === undefined) return null;
  const around = Math.max(segment.duration_ps * 10, 1);
  const start = Math.max(segment.start_ps - around, 0);
  return [start, segment.start_ps + segment.duration_ps + around];
}

function rowColumns(rows: readonly PathRow[], whole: number): DataColumn<PathRow>[] {
  return [
    wordColumn<PathRow>({
      key: "name",
      title: "on the path",
      help: "The innermost op, the kernel, or what is waited for",
      width: 260,
      grows: true,
      value: (row) => row.name,
    }),
    wordColumn<PathRow>({ key: "kind", title: "kind", help: KIND_HELP, width: 80, value: (row) => row.kind }),
    numberColumn(rows, {
      key: "path_ps",
      title: "time",
      help: "Time on the critical path",
      quantity: "ps",
      whole,
      value: (row) => row.path_ps,
    }),
    numberColumn(rows, {
      key: "segments",
      title: "segments",
      help: "How often it is on the path",
      quantity: "count",
      value: (row) => row.segments,
    }),
  ];
}

const KIND_HELP =
  "op: host work; kernel: device work; wait: launch latency, returns and hand-overs; idle: an idle stream";

function segmentColumns(rows: readonly PathSegment[]): DataColumn<PathSegment>[] {
  return [
    numberColumn(rows, {
      key: "start_ps",
      title: "from",
      help: "Start, from the start of the profile",
      quantity: "ps",
      value: (row) => row.start_ps,
    }),
    numberColumn(rows, {
      key: "duration_ps",
      title: "takes",
      help: "Time of the segment",
      quantity: "ps",
      value: (row) => row.duration_ps,
    }),
    wordColumn<PathSegment>({ key: "kind", title: "kind", help: KIND_HELP, width: 80, value: (row) => row.kind }),
    wordColumn<PathSegment>({
      key: "name",
      title: "segment",
      help: "The innermost op, the kernel, or what is waited for",
      width: 260,
      grows: true,
      value: (row) => row.name,
    }),
    wordColumn<PathSegment>({
      key: "lane",
      title: "on",
      help: "Thread or stream",
      width: 160,
      value: (row) => row.lane,
    }),
  ];
}
