/** The diagnosis in sentences. */

import { exact, format, percent } from "../lib/units";
import { type FigureCell, SmallTable } from "../ui/small_table";
import {
  type CauseDocument,
  type DcnDocument,
  type DcnRow,
  type NetworkDocument,
  type PercentilesDocument,
  rowKey,
  type SpreadDocument,
  type TransfersDocument,
} from "./document";

/** What a collective's figures say, and what to do. */
export function verdictOf(cause: CauseDocument, capacity: number | null): string {
  const needs = cause.host_gbps === null ? null : format("gbps", cause.host_gbps);
  const late = percent(cause.recv_done_per_slack, 1);
  switch (cause.verdict) {
    case "healthy":
      return "Healthy: it hardly stalls the accelerator.";
    case "congestion":
      return `It needs ${needs} of each host, ${percent(cause.capacity_share, 1)} of what the network carries: the network is too small.`;
    case "no_overlap":
      return "Next to nothing runs between its send and its recv-done: give it work to overlap with.";
    case "bandwidth":
      return `Its data come late although they had time: the recv-done lasts ${late} of the slack, which means bandwidth.`;
    case "hardware": {
      const room =
        capacity === null || needs === null ? "" : ` and it needs only ${needs} of ${format("gbps", capacity)}`;
      return `The recv-done is short against its slack (${late})${room}: not bandwidth. Look at the hardware and the other hosts.`;
    }
    default:
      return "It does not stall.";
  }
}

interface DiagnosisProps {
  readonly document: DcnDocument;
  /** The selected row; the worst where none is. */
  readonly row: DcnRow | undefined;
}

/** One line: how much the collective stalls, and why. */
export function Verdict({ document, row }: DiagnosisProps) {
  const { causes = [], network_gbps = null } = document.diagnosis ?? {};
  const cause = row === undefined ? causes[0] : causes.find((one) => rowKey(one) === rowKey(row));
  if (cause === undefined) return null;
  const time = cause.time_share === null ? "" : `, ${percent(cause.time_share, 1)} of the profiled time`;
  return (
    <p class="verdict" role="status">
      {cause === causes[0] && <span class="badge">worst</span>} <b>{cause.rendezvous}</b>
      {` takes ${percent(cause.stall_share, 1)} of all stall${time}. ${verdictOf(cause, network_gbps)}`}
    </p>
  );
}

/** What stands around a collective, and what holds for all of them. */
export function Diagnosis({ document, row }: DiagnosisProps) {
  const { causes = [], neighbourhoods = [], tiny_collectives: tiny, stragglers = [] } = document.diagnosis ?? {};
  const key = row === undefined ? causes.map(rowKey)[0] : rowKey(row);
  const near = neighbourhoods.find((one) => rowKey(one) === key);
  const lines = [
    near === undefined ? "" : overlapOf(near.between_count, near.overlapped_ps, near.movable_count, near.movable_ps),
    tiny === undefined || tiny.collectives === 0
      ? ""
      : `${tiny.collectives} of ${tiny.of_collectives} collectives move less than 1 MiB: ${percent(tiny.bytes_share, 1)} of the bytes for ${percent(tiny.stall_share, 1)} of the stall. Many tiny ones are better fused.`,
    ...stragglers.map(
      ({ rendezvous, host, core, mean_ps, median_ps }) =>
        `Straggler in ${rendezvous}: ${host}${core === null ? "" : ` core ${core}`} stalls ${format("ps", mean_ps)} on average, the median of the others is ${format("ps", median_ps)}.`,
    ),
    stragglers.length === 0 ? "No host or core stalls over 1.5 times the median of the others." : "",
  ];
  return (
    <div class="scroll diagnosis" tabIndex={0}>
      <ul class="prose" aria-label="Diagnosis">
        {lines.filter(Boolean).map((line) => (
          <li key={line}>{line}</li>
        ))}
      </ul>
      <Spreads spread={document.distributions?.find((one) => rowKey(one) === key)} />
      {document.transfers && <Network network={document.transfers} />}
    </div>
  );
}

const FIGURES = ["stall", "slack", "observed", "send", "send_done", "recv", "recv_done"];
const PERCENTILES = ["min", "p50", "p95", "max"] as const;

/** How much the occurrences of a collective differ. Each figure is a real occurrence's. */
function Spreads({ spread }: { spread: SpreadDocument | undefined }) {
  if (spread === undefined) return null;
  const rows = FIGURES.flatMap((name) => {
    const found = spread[`${name}_ps`];
    if (typeof found !== "object") return [];
    return [{ key: name, cells: [name.replace("_", "-"), ...percentileCells(found)] }];
  });
  const title = `Over ${spread.occurrences.toLocaleString()} occurrences`;
  return <SmallTable title={title} columns={["", ...PERCENTILES]} rows={rows} />;
}

function percentileCells(found: PercentilesDocument): FigureCell[] {
  return PERCENTILES.map((name) => [format("ps", found[name]), exact("ps", found[name])]);
}

/** The transfers that the hosts saw: by size, and by pair with the slow ones named. */
function Network({ network }: { network: NetworkDocument }) {
  const columns = ["", "transfers", "bytes", "throughput", ...PERCENTILES];
  const cells = ({ count, bytes, gbps, latency_ps }: TransfersDocument): FigureCell[] => [
    [count.toLocaleString(), ""],
    [format("network_bytes", bytes), exact("network_bytes", bytes)],
    [format("gbps", gbps), exact("gbps", gbps)],
    ...percentileCells(latency_ps),
  ];
  const sizes = network.by_size.map((one) => ({
    key: String(one.from_bytes),
    cells: [`${format("network_bytes", one.from_bytes)} to ${format("network_bytes", one.below_bytes)}`, ...cells(one)],
  }));
  const pairs = network.by_pair.map((one) => {
    const name = `${one.source_slice}/${one.source_device} → ${one.destination_slice}/${one.destination_device}`;
    return { key: name, cells: [one.slow ? `${name}, slow` : name, ...cells(one)] };
  });
  return (
    <>
      <SmallTable title="Transfers by size, with their latency" columns={columns} rows={sizes} help={TRANSFER_HELP} />
      <SmallTable
        title="Transfers from slice/device to slice/device"
        columns={columns}
        rows={pairs}
        help={TRANSFER_HELP}
      />
    </>
  );
}

const TRANSFER_HELP = {
  transfers: "How many of them the hosts saw",
  bytes: "What they moved together",
  throughput: "Their bytes over the time in which one was under way",
};

function overlapOf(between: number, overlapped: number, movable: number, more: number): string {
  const work = overlapped > 0 ? `, ${format("ps", overlapped)} of work` : "";
  const now =
    between === 0
      ? "No instruction stands between its send and its recv-done."
      : `Between its send and its recv-done stand ${between.toLocaleString()} instructions${work}.`;
  if (movable === 0) return `${now} No other instruction could overlap with it.`;
  return `${now} ${movable} more, ${format("ps", more)}, need nothing of it and feed nothing to it: they could overlap too.`;
}
