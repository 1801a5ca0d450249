/** The ranks of a job side by side: computing, talking, waiting, and who is late. */

import { useMemo } from "preact/hooks";
import { RANK_PARTS } from "../lib/parts";
import { counted } from "../lib/units";
import { largestOf, numberColumn, wordColumn } from "../ui/columns";
import { type DataColumn, DataTable } from "../ui/data_table";
import { useSession } from "../ui/session";
import { Loaded, Problems } from "../ui/states";
import { useShape } from "../ui/trace_document";
import { Bar, Legend } from "./bar";
import type { CollectiveRow, RankRow, RanksDocument } from "./documents";

export function Ranks() {
  const resource = useShape<RanksDocument>("ranks");
  return <Loaded resource={resource}>{(document) => <Tables document={document} />}</Loaded>;
}

function partsOf(rank: RankRow): Record<string, number> {
  const { computation_ps, overlap_ps, communication_ps, other_ps } = rank;
  return { computation: computation_ps, overlap: overlap_ps, communication: communication_ps, other: other_ps };
}

function Tables({ document }: { document: RanksDocument }) {
  const session = useSession();
  const { sort, key } = session.state.value;
  const ranks = useMemo(() => rankColumns(document.ranks), [document]);
  const collectives = useMemo(() => collectiveColumns(document.rows), [document]);
  const sums: Record<string, number> = {};
  for (const rank of document.ranks) {
    for (const [part, value] of Object.entries(partsOf(rank))) sums[part] = (sums[part] ?? 0) + value;
  }
  const late = document.ranks.toSorted((p, q) => q.caused_waiting_ps - p.caused_waiting_ps)[0];
  const shared = { sort, onSort: (next: string) => session.update({ sort: next }), selected: key };
  return (
    <div class="main-column">
      <Problems problems={document.problems} />
      <div class="pane-head">
        <div>
          {counted(document.ranks.length, "rank")}{" "}
          <span class="muted">
            {late !== undefined && late.caused_waiting_ps > 0
              ? `· the others wait most for rank ${late.rank}`
              : document.ranks.length === 1
                ? "· import the traces of the other ranks beside it to compare them"
                : ""}
          </span>
        </div>
        <Legend parts={RANK_PARTS} values={sums} />
      </div>
      <div class="pane-part" style={{ height: `${Math.min(document.ranks.length, 12) * 22 + 40}px` }}>
        <DataTable
          label="Ranks"
          columns={ranks}
          rows={document.ranks}
          id={({ run }) => run}
          {...shared}
          onSelect={(next) => session.update({ key: next })}
          onOpen={({ run }) => session.showRecord({ run, pane: "trace" })}
        />
      </div>
      <DataTable
        label="Collectives of each rank"
        columns={collectives}
        rows={document.rows}
        id={({ run, name, group }) => `${run} ${name} ${group}`}
        {...shared}
        onSelect={(next) => session.update({ key: next })}
      />
    </div>
  );
}

function rankColumns(rows: readonly RankRow[]): DataColumn<RankRow>[] {
  const whole = largestOf(rows, (row) => row.span_ps);
  const time = (key: keyof RankRow & `${string}_ps`, title: string, help: string) =>
    numberColumn(rows, { key, title, help, quantity: "ps", largest: whole, value: (row) => row[key] });
  return [
    numberColumn(rows, { key: "rank", title: "rank", help: "Its number", quantity: "count", value: (row) => row.rank }),
    wordColumn<RankRow>({
      key: "run",
      title: "run",
      help: "Enter opens its trace",
      width: 150,
      value: (row) => row.run.slice(row.run.lastIndexOf("/") + 1),
    }),
    {
      ...wordColumn<RankRow>({
        key: "parts",
        title: "parts",
        help: "The steps' time: computing, computing and communicating at once, communicating only, neither",
        width: 220,
        grows: true,
        value: () => null,
      }),
      content: (row) => <Bar parts={RANK_PARTS} values={partsOf(row)} whole={whole} />,
    },
    time("computation_ps", "computation", "A kernel runs and no collective; without an accelerator: an op"),
    time("overlap_ps", "both", "A kernel and a collective run at once"),
    time("communication_ps", "communication", "A collective runs and no kernel"),
    time("other_ps", "other", "Neither runs"),
    numberColumn(rows, {
      key: "unpaired",
      title: "unpaired",
      help: "Collectives, sends and receives without a counterpart in the other ranks",
      quantity: "count",
      value: (row) => row.unpaired,
    }),
    time("transfer_ps", "transfer", "Of the collectives: the shortest duration that any rank has for the same one"),
    time("waiting_ps", "waiting", "What the collectives took beyond that: waiting for the rank that comes last"),
    numberColumn(rows, {
      key: "came_last",
      title: "came last",
      help: "Collectives in which this rank's call was the shortest while others waited",
      quantity: "count",
      value: (row) => row.came_last,
    }),
    time("caused_waiting_ps", "waited for", "How long the others waited in those, all together"),
  ];
}

function collectiveColumns(rows: readonly CollectiveRow[]): DataColumn<CollectiveRow>[] {
  const mean = (row: CollectiveRow) => (row.calls > 0 ? row.latency_ps / row.calls : null);
  const columns = [
    wordColumn<CollectiveRow>({
      key: "name",
      title: "collective",
      help: "What it is",
      width: 180,
      grows: true,
      value: (row) => row.name,
    }),
    wordColumn<CollectiveRow>({
      key: "group",
      title: "group",
      help: "The process group",
      width: 90,
      value: (row) => row.group || null,
    }),
    numberColumn(rows, { key: "rank", title: "rank", help: "The rank", quantity: "count", value: (row) => row.rank }),
    numberColumn(rows, {
      key: "calls",
      title: "calls",
      help: "How often",
      quantity: "count",
      value: (row) => row.calls,
    }),
    numberColumn(rows, {
      key: "bytes",
      title: "bytes in",
      help: "Elements taken in times their size; — where the trace does not say",
      quantity: "bytes",
      value: (row) => row.bytes,
    }),
    numberColumn(rows, {
      key: "latency",
      title: "latency",
      help: "Duration of all calls",
      quantity: "ps",
      value: (row) => row.latency_ps,
    }),
    numberColumn(rows, { key: "mean", title: "mean latency", help: "Latency / calls", quantity: "ps", value: mean }),
    numberColumn(rows, {
      key: "transfer",
      title: "transfer",
      help: "The shortest durations of the same calls in all ranks",
      quantity: "ps",
      value: (row) => row.transfer_ps,
    }),
  ];
  return columns.filter((column) => rows.some((row) => column.value(row) !== null));
}
