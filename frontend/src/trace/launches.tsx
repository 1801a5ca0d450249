/** How work reaches the accelerator: why streams stand idle, and how long launches wait. */

import { useMemo } from "preact/hooks";
import { ABSENT } from "../lib/units";
import { largestOf, numberColumn, wordColumn } from "../ui/columns";
import { type DataColumn, DataTable } from "../ui/data_table";
import { useSession } from "../ui/session";
import { Loaded } from "../ui/states";
import { useShape } from "../ui/trace_document";
import type { LaunchesDocument, LaunchRow, StreamRow } from "./documents";

export function Launches() {
  const resource = useShape<LaunchesDocument>("launches");
  return <Loaded resource={resource}>{(document) => <Tables document={document} />}</Loaded>;
}

function Tables({ document }: { document: LaunchesDocument }) {
  const session = useSession();
  const { sort, key } = session.state.value;
  const streams = useMemo(() => streamColumns(document.streams), [document]);
  const launches = useMemo(() => launchColumns(document.rows), [document]);
  const shared = {
    onSort: (next: string) => session.update({ sort: next }),
    selected: key,
    onSelect: (next: string) => session.update({ key: next }),
  };
  return (
    <div class="main-column">
      <div class="pane-head">
        <div>
          {`${document.launches.toLocaleString()} launches`}{" "}
          <span class="muted">{`· ${document.short.toLocaleString()} of work shorter than its launch`}</span>
        </div>
      </div>
      <div class="pane-part" style={{ height: `${Math.min(document.streams.length, 8) * 22 + 40}px` }}>
        <DataTable
          label="Idle streams"
          columns={streams}
          rows={document.streams}
          id={streamKey}
          sort={sort}
          {...shared}
        />
      </div>
      <DataTable
        label="Launches by what is launched"
        columns={launches}
        rows={document.rows}
        id={({ name }) => name}
        sort={sort || "-delay_ps"}
        {...shared}
      />
    </div>
  );
}

function streamKey({ device, stream }: StreamRow): string {
  return `${device} ${stream}`;
}

const IDLE: readonly [keyof StreamRow & `${string}_ps`, string, string][] = [
  ["busy_ps", "busy", "Time in which work runs on the stream"],
  ["host_bound_ps", "host-bound", "Gaps before work that was launched only after the last had ended"],
  ["kernel_gap_ps", "kernel gap", "Gaps under 30 µs before work that was queued in time"],
  ["other_ps", "other idle", "Longer gaps before work that was queued in time: waiting for an event or a copy"],
];

function streamColumns(rows: readonly StreamRow[]): DataColumn<StreamRow>[] {
  const largest = Math.max(...IDLE.map(([field]) => largestOf(rows, (row) => row[field])), 0);
  return [
    wordColumn<StreamRow>({
      key: "stream",
      title: "stream",
      help: "The stream",
      width: 200,
      grows: true,
      value: streamKey,
    }),
    numberColumn(rows, {
      key: "work",
      title: "work",
      help: "Kernels, copies and sets",
      quantity: "count",
      value: (row) => row.count,
    }),
    ...IDLE.map(([field, title, help]) =>
      numberColumn(rows, { key: field, title, help, quantity: "ps" as const, largest, value: (row) => row[field] }),
    ),
    queueColumn(rows),
    numberColumn(rows, {
      key: "queue_max",
      title: "longest queue",
      help: "The most at once",
      quantity: "count",
      value: (row) => row.queue_max,
    }),
  ];
}

function queueColumn(rows: readonly StreamRow[]): DataColumn<StreamRow> {
  const value = ({ queue_mean: [sum, count] }: StreamRow) => (count > 0 ? sum / count : null);
  const help = "Work that is launched and has not started, mean over the moments at which that changes";
  const column = numberColumn(rows, { key: "queue", title: "mean queue", help, quantity: "count", value });
  const text = (mean: number | null) => (mean === null ? ABSENT : mean.toFixed(1));
  return { ...column, cell: (row) => ({ text: text(value(row)), title: `${row.queue_mean.join(" / ")}` }) };
}

const TIMES: readonly [keyof LaunchRow & `${string}_ps`, string, string][] = [
  ["delay_ps", "delay", "From the end of the launching call to the start of the work; sum"],
  ["delay_p50_ps", "median delay", "Half of the launches wait no longer"],
  ["delay_p95_ps", "p95 delay", "95 of 100 launches wait no longer"],
  ["delay_max_ps", "longest delay", "The longest wait"],
  ["host_ps", "host", "Time of the launching calls; sum"],
  ["device_ps", "device", "Time of the work; sum"],
];

function launchColumns(rows: readonly LaunchRow[]): DataColumn<LaunchRow>[] {
  return [
    wordColumn<LaunchRow>({
      key: "name",
      title: "launched",
      help: "The work",
      width: 260,
      grows: true,
      value: (row) => row.name,
    }),
    numberColumn(rows, {
      key: "count",
      title: "launches",
      help: "How many",
      quantity: "count",
      value: (row) => row.count,
    }),
    numberColumn(rows, {
      key: "short",
      title: "short",
      help: "Work that took less time than its launch",
      quantity: "count",
      value: (row) => row.short,
    }),
    ...TIMES.map(([field, title, help]) =>
      numberColumn(rows, { key: field, title, help, quantity: "ps" as const, value: (row) => row[field] }),
    ),
  ];
}
