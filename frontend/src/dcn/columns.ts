/** The columns of the table of collectives. */

import { largestOf, numberColumn, wordColumn } from "../ui/columns";
import type { DataColumn } from "../ui/data_table";
import type { DcnRow } from "./document";

type TimeField = "stall_ms" | "slack_ms" | "observed_ms" | "send_ms" | "send_done_ms" | "recv_ms" | "recv_done_ms";

const TIMES: readonly [TimeField, string, string][] = [
  ["stall_ms", "stall", "Send + send-done + recv + recv-done of one occurrence; mean over occurrences"],
  ["slack_ms", "slack", "From the send's end to the recv-done's start, without the time of other DCN ops; mean"],
  ["observed_ms", "observed", "From the send's start to the recv-done's end; mean"],
  ["send_ms", "send", "Duration of the send; mean"],
  ["send_done_ms", "send-done", "Duration of the send-done; mean"],
  ["recv_ms", "recv", "Duration of the recv; mean"],
  ["recv_done_ms", "recv-done", "Duration of the recv-done: waiting for the data; mean"],
];

export function dcnColumns(rows: readonly DcnRow[]): DataColumn<DcnRow>[] {
  const whole = rows.reduce((sum, row) => sum + (row.total_stall_ms ?? 0), 0);
  // One unit for all times of an occurrence, so that they can be read against each other.
  const largest = Math.max(...TIMES.map(([key]) => largestOf(rows, (row) => row[key])), 0);
  const several = new Set(rows.map(({ program }) => program)).size > 1;
  const program = wordColumn<DcnRow>({
    key: "program",
    title: "program",
    help: "The program that the collective belongs to",
    value: (row) => row.program,
  });
  return [
    wordColumn({
      key: "rendezvous",
      title: "rendezvous",
      help: "The name under which sender and receiver meet",
      width: 200,
      grows: true,
      value: (row) => row.rendezvous,
    }),
    ...(several ? [program] : []),
    wordColumn({
      key: "transfer_type",
      title: "kind",
      help: "The kind of the collective",
      width: 152,
      value: (row) => row.transfer_type,
    }),
    numberColumn(rows, {
      key: "total_stall_ms",
      title: "total stall",
      help: "Stall of all occurrences: the time that the accelerator waits",
      quantity: "ms",
      value: (row) => row.total_stall_ms,
      whole,
    }),
    numberColumn(rows, {
      key: "occurrences",
      title: "occurrences",
      help: "Sends with their recv-done inside the profile",
      quantity: "count",
      value: (row) => row.occurrences,
    }),
    ...TIMES.map(([key, title, help]) =>
      numberColumn(rows, { key, title, help, quantity: "ms" as const, largest, value: (row) => row[key] }),
    ),
    numberColumn(rows, {
      key: "bytes",
      title: "sent",
      help: "Bytes that cross the network in one occurrence",
      quantity: "network_bytes",
      value: (row) => row.bytes,
    }),
    bandwidthColumn(rows),
    numberColumn(rows, {
      key: "group_size",
      title: "group",
      help: "Slices that take part",
      quantity: "count",
      value: (row) => row.group_size,
    }),
    wordColumn({ key: "send_op", title: "send op", help: "Name of the send", value: (row) => row.send_op }),
    wordColumn({ key: "recv_op", title: "recv op", help: "Name of the recv-done", value: (row) => row.recv_op }),
  ];
}

/** Without slack no bandwidth would be enough; without a size none can be said. */
function bandwidthColumn(rows: readonly DcnRow[]): DataColumn<DcnRow> {
  const value = (row: DcnRow) => {
    const endless = row.required_bandwidth_gbps === null && row.bytes !== null && row.slack_ms === 0;
    return endless ? Number.POSITIVE_INFINITY : row.required_bandwidth_gbps;
  };
  const help = "Bytes × 8 / mean slack: the bandwidth at which the collective would not stall. ∞: there is no slack";
  const finite = rows.filter((row) => Number.isFinite(value(row)));
  const column = numberColumn(finite, {
    key: "required_bandwidth_gbps",
    title: "required",
    help,
    quantity: "gbps",
    value,
  });
  return { ...column, unit: "Gbit/s" };
}
