/** Two runs side by side, aligned by stable path. */

import { useSignalEffect } from "@preact/signals";
import { useMemo } from "preact/hooks";
import { address } from "../lib/api";
import type { ComparedRow, ComparisonDocument, Figure } from "../lib/documents";
import { VIEWS } from "../lib/state";
import { percent, type Quantity } from "../lib/units";
import { numberColumn, wordColumn } from "../ui/columns";
import { type DataColumn, DataTable, searchRows } from "../ui/data_table";
import { Switch } from "../ui/menu";
import { Resource } from "../ui/resource";
import { SearchBox } from "../ui/search_box";
import { useSession } from "../ui/session";
import { Picker } from "../ui/shell";
import { Empty, Loaded } from "../ui/states";
import { figureOf, rowName } from "./columns";
import { DEFAULT_METRIC, viewParameters } from "./questions";

export function Comparison() {
  const session = useSession();
  const resource = useMemo(() => new Resource<ComparisonDocument>(session.fetcher), [session]);
  useSignalEffect(() => {
    const question = viewParameters(session.state.value, session.recordParameters.value);
    if (session.visible.value && session.choices.value.chosen !== null) void resource.load(address("views", question));
  });
  return <Loaded resource={resource}>{(document) => <Compared document={document} />}</Loaded>;
}

function Compared({ document }: { document: ComparisonDocument }) {
  const session = useSession();
  const state = session.state.value;
  const metrics = useMemo(() => comparedFigures(document), [document]);
  const metric = state.metric || (metrics.includes(DEFAULT_METRIC) ? DEFAULT_METRIC : (metrics[0] ?? ""));
  const columns = useMemo(() => comparedColumns(document.rows, metric), [document, metric]);
  const rows = useMemo(() => searchRows(document.rows, columns, state.search), [document, columns, state.search]);
  const unmatched = document.unmatched_share;
  const share = unmatched !== null && typeof unmatched === "object" ? (unmatched[metric] ?? null) : unmatched;
  return (
    <>
      <div class="toolbar">
        <Switch
          label="View"
          value={state.view}
          choices={VIEWS.map((view) => ({ word: view, title: view }))}
          onPick={(view) => session.showRecord({ view, sort: "", metric: "" })}
        />
        <SearchBox
          value={state.search}
          onSearch={(search) => session.update({ search })}
          found={null}
          onGo={() => {}}
        />
        <Picker
          label="Figure"
          value={metric}
          words={metrics}
          titles={Object.fromEntries(metrics.map((name) => [name, name.replaceAll("_", " ")]))}
          onPick={(name) => session.update({ metric: name })}
        />
        <span class="spacer" />
        {share !== null && <span class="muted">{percent(share, 1)} has no counterpart</span>}
      </div>
      {rows.length === 0 ? (
        <Empty title={state.search === "" ? "Nothing to compare" : "No row matches the search"} />
      ) : (
        <DataTable
          label="Comparison"
          columns={columns}
          rows={rows}
          id={(row) => row.key}
          sort={state.sort || "-size"}
          onSort={(sort) => session.update({ sort })}
          selected={state.key}
          onSelect={(key) => session.update({ key })}
        />
      )}
    </>
  );
}

/** The figures that rows were compared by. */
export function comparedFigures({ rows }: ComparisonDocument): string[] {
  const names = new Set<string>();
  for (const row of rows.slice(0, 200)) {
    for (const [name, value] of Object.entries(row.delta ?? {})) if (typeof value === "number") names.add(name);
  }
  return [...names];
}

function quantityOfName(name: string): Quantity {
  if (name.endsWith("_micros")) return "micros";
  return name.endsWith("bytes") ? "bytes" : "count";
}

function comparedColumns(rows: readonly ComparedRow[], metric: string): DataColumn<ComparedRow>[] {
  const quantity = quantityOfName(metric);
  const side = (which: "a" | "b" | "delta") => (row: ComparedRow) => figureOf(row[which] ?? {}, metric);
  const largest = rows.reduce((most, row) => Math.max(most, side("a")(row) ?? 0, side("b")(row) ?? 0), 0);
  const size = (row: ComparedRow): Figure => Math.abs(side("delta")(row) ?? 0);
  const relative = (row: ComparedRow): Figure => {
    const [delta, base] = [side("delta")(row), side("b")(row)];
    return delta === null || !base ? null : delta / base;
  };
  return [
    {
      ...wordColumn<ComparedRow>({
        key: "key",
        title: "row",
        help: "The stable path that aligns the runs",
        value: (row) => rowName(row.key),
      }),
      width: 300,
      grows: true,
    },
    wordColumn<ComparedRow>({
      key: "state",
      title: "",
      help: "added: only in this run; removed: only in the baseline",
      width: 84,
      value: (row) => (row.state === "both" ? "" : row.state),
    }),
    numberColumn(rows, {
      key: "a",
      title: "this run",
      help: "The figure of the chosen run",
      quantity,
      value: side("a"),
      whole: largest,
    }),
    numberColumn(rows, {
      key: "b",
      title: "baseline",
      help: "The figure of the baseline run",
      quantity,
      value: side("b"),
      whole: largest,
    }),
    {
      ...numberColumn(rows, {
        key: "size",
        title: "difference",
        help: "This run minus the baseline; sorted by its size",
        quantity,
        value: side("delta"),
        signed: true,
      }),
      value: size,
    },
    numberColumn(rows, {
      key: "relative",
      title: "relative",
      help: "The difference as a share of the baseline",
      quantity: "ratio",
      value: relative,
      signed: true,
    }),
  ];
}
