/** Two runs side by side: the figure of each, and how they differ. */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { ComparedRow, ComparisonDocument, Figure } from "../lib/documents";
import { percent, type Quantity } from "../lib/units";
import { numberColumn, wordColumn } from "./columns";
import { toTsv } from "./copying";
import { type DataColumn, DataTable, searchRows } from "./data_table";
import { ColumnMenu, ExportMenu, ICICLE } from "./menu";
import { SearchBox } from "./search_box";
import { useSession } from "./session";
import { Picker } from "./shell";
import { CopyButton, Empty } from "./states";

/** How a figure of the document is shown. */
export interface ComparedFigure {
  readonly title: string;
  readonly quantity: Quantity;
  /** What the document's figure is multiplied by. */
  readonly factor?: number;
}

interface ComparisonProps {
  readonly document: ComparisonDocument;
  /** Null for a figure that is none of this lens's to show. */
  readonly figure: (name: string) => ComparedFigure | null;
  /** The figure that is shown first. */
  readonly first: string;
  readonly rowTitle: string;
  readonly rowName?: (key: string) => string;
  /** Controls of the lens itself, first in the toolbar. */
  readonly controls?: ComponentChildren;
  /** What else is known of a row, as a column of words. */
  readonly note?: { readonly title: string; readonly help: string; readonly of: (row: ComparedRow) => string };
  /** The address of all rows as a file in a format. */
  readonly exported: (format: string) => string;
  /** What stands above the table, for the figure that is shown. */
  readonly picture?: (metric: string, quantity: Quantity) => ComponentChildren;
}

const PLAIN: ComparedFigure = { title: "", quantity: "count" };
const same = (key: string) => key;

export function Comparison(props: ComparisonProps) {
  const { document, figure, first, rowTitle, rowName = same, controls, picture, note } = props;
  const session = useSession();
  const state = session.state.value;
  const names = useMemo(() => comparedFigures(document).filter((name) => figure(name) !== null), [document, figure]);
  const metric = names.includes(state.metric) ? state.metric : names.includes(first) ? first : (names[0] ?? "");
  const columns = useMemo(
    () => comparedColumns(document.rows, metric, figure(metric) ?? PLAIN, rowTitle, rowName, note),
    [document, metric, figure, rowTitle, rowName, note],
  );
  const shown = columns.filter(({ key }, at) => at === 0 || !state.hidden.includes(`compared.${key}`));
  const rows = useMemo(() => searchRows(document.rows, columns, state.search), [document, columns, state.search]);
  const titles = Object.fromEntries(names.map((name) => [name, figure(name)?.title ?? name]));
  const onSearch = (search: string) => session.update({ search });
  const unmatched = unmatchedShare(document, metric);
  return (
    <>
      <div class="toolbar">
        {controls}
        <SearchBox value={state.search} onSearch={onSearch} found={null} onGo={() => {}} />
        {names.length > 1 ? (
          <Picker
            label="Figure"
            value={metric}
            words={names}
            titles={titles}
            onPick={(name) => session.update({ metric: name })}
          />
        ) : (
          <span class="muted">{titles[metric]}</span>
        )}
        <span class="spacer" />
        {unmatched !== null && unmatched > 0 && (
          <span class="muted" title="The share of both runs that only one of them has">
            {percent(unmatched, 1)} has no counterpart
          </span>
        )}
        <ColumnMenu
          columns={columns.slice(1).map((column) => ({ ...column, key: `compared.${column.key}` }))}
          hidden={state.hidden}
          onHidden={(hidden) => session.update({ hidden })}
        />
        <CopyButton text={() => toTsv(shown, rows)} label="Copy" />
        <ExportMenu
          title="All rows that are compared, in the source's units"
          url={props.exported}
          picture={picture === undefined ? null : ICICLE}
        />
      </div>
      {picture?.(metric, figure(metric)?.quantity ?? "count")}
      {rows.length === 0 ? (
        <NoRows searched={state.search !== ""} />
      ) : (
        <DataTable
          label="Comparison"
          columns={shown}
          rows={rows}
          keepsPlace
          id={(row) => row.key}
          sort={state.sort || "-size"}
          onSort={(sort) => session.update({ sort })}
          selected={state.key}
          onSelect={(key) => session.update({ key })}
          rowClass={(row) => (row.state === "both" ? "" : row.state)}
        />
      )}
      <div class="status" role="status">
        <span>{countOf(rows.length, document)}</span>
        <span class="spacer" />
        <span>{STATUS_KEYS}</span>
      </div>
    </>
  );
}

const STATUS_KEYS = "c: copy row · ?: all keys";

/** How many rows are shown, of how many there are. */
export function countOf(shown: number, { rows, rows_total = rows.length }: ComparisonDocument): string {
  const found = shown === 1 ? "1 row" : `${shown.toLocaleString()} rows`;
  return rows_total > rows.length
    ? `${found} of ${rows_total.toLocaleString()}: those that differ most are here`
    : shown < rows.length
      ? `${found} of ${rows.length.toLocaleString()}`
      : found;
}

function NoRows({ searched }: { searched: boolean }) {
  const session = useSession();
  if (searched) {
    const clear = () => session.update({ search: "" });
    return <Empty title="No row matches the search" action={{ label: "Clear the search", run: clear }} />;
  }
  const alone = () => session.showRecord({ compare: "" });
  return <Empty title="Nothing to compare" action={{ label: "Show this run alone", run: alone }} />;
}

/** The figures that rows were compared by. */
export function comparedFigures({ rows }: ComparisonDocument): string[] {
  const names = new Set<string>();
  for (const row of rows.slice(0, 200)) {
    // A row that only one run has is all difference.
    for (const [name, value] of Object.entries(row.delta ?? row.a ?? row.b ?? {}))
      if (typeof value === "number") names.add(name);
  }
  return [...names];
}

function unmatchedShare({ unmatched_share }: ComparisonDocument, metric: string): Figure {
  if (unmatched_share === null || typeof unmatched_share === "number") return unmatched_share;
  return unmatched_share[metric] ?? null;
}

/** A figure of one side; a row that is on the other side only has none. */
export function sideOf(which: "a" | "b", metric: string, factor: number): (row: ComparedRow) => Figure {
  return (row) => {
    const value = row[which]?.[metric];
    return typeof value === "number" ? value * factor : null;
  };
}

function comparedColumns(
  rows: readonly ComparedRow[],
  metric: string,
  { quantity, factor = 1 }: ComparedFigure,
  rowTitle: string,
  rowName: (key: string) => string,
  note: ComparisonProps["note"],
): DataColumn<ComparedRow>[] {
  const [a, b] = [sideOf("a", metric, factor), sideOf("b", metric, factor)];
  const largest = rows.reduce((most, row) => Math.max(most, Math.abs(a(row) ?? 0), Math.abs(b(row) ?? 0)), 0);
  const delta = (row: ComparedRow): Figure => deltaOf(row, a(row), b(row));
  const relative = (row: ComparedRow): Figure => {
    const [difference, base] = [delta(row), b(row)];
    return difference === null || !base ? null : difference / Math.abs(base);
  };
  const number = (key: string, title: string, help: string, value: (row: ComparedRow) => Figure) =>
    numberColumn(rows, {
      key,
      title,
      help,
      quantity,
      value,
      largest,
      ...(key === "size" ? { signed: true } : { whole: largest }),
    });
  const name = {
    key: "key",
    title: rowTitle,
    help: "What aligns the runs",
    value: (row: ComparedRow) => rowName(row.key),
  };
  const state = {
    key: "state",
    title: "only in one",
    help: "added: only in this run; removed: only in the baseline",
    width: 84,
    value: (row: ComparedRow) => (row.state === "both" ? "" : row.state),
  };
  return [
    wordColumn({ ...name, width: 300, grows: true }),
    ...(note === undefined ? [] : [wordColumn({ key: "note", width: 220, ...note, value: note.of })]),
    ...(rows.some((row) => row.state !== "both") ? [wordColumn(state)] : []),
    number("a", "this run", "The figure of the chosen run", a),
    number("b", "baseline", "The figure of the baseline run", b),
    // Sorted by how much it is, whichever way.
    {
      ...number("size", "difference", "This run minus the baseline; sorted by its size", delta),
      value: (row) => Math.abs(delta(row) ?? 0),
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

/** Of a row that only one run has, all of it is the difference. */
export function deltaOf({ state }: ComparedRow, a: Figure, b: Figure): Figure {
  if (state === "added") return a;
  if (state === "removed") return b === null ? null : -b;
  return a === null || b === null ? null : a - b;
}
