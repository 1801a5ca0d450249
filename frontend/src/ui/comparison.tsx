/** Two runs side by side: the figure of each, and how they differ. */

import type { ComponentChildren } from "preact";
import { useMemo } from "preact/hooks";
import type { ComparedRow, ComparisonDocument, Figure } from "../lib/documents";
import { percent, type Quantity } from "../lib/units";
import { largestOf, numberColumn, wordColumn } from "./columns";
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
  const { document, figure, first, rowTitle, rowName = same, picture, note } = props;
  const session = useSession();
  const { metric: wanted, hidden, search } = session.state.value;
  const names = useMemo(() => comparedFigures(document).filter((name) => figure(name) !== null), [document, figure]);
  const metric = [wanted, first].find((name) => names.includes(name)) ?? names[0] ?? "";
  const columns = useMemo(
    () => comparedColumns(document.rows, metric, figure(metric) ?? PLAIN, rowTitle, rowName, note),
    [document, metric, figure, rowTitle, rowName, note],
  );
  const shown = columns.filter(({ key }, at) => at === 0 || !hidden.includes(hiddenKey(key)));
  const rows = useMemo(() => searchRows(document.rows, columns, search), [document, columns, search]);
  return (
    <>
      <div class="toolbar">
        {props.controls}
        <SearchBox value={search} onSearch={(next) => session.update({ search: next })} />
        <FigurePicker names={names} metric={metric} figure={figure} />
        <span class="spacer" />
        <Unmatched share={unmatchedShare(document, metric)} />
        <ColumnMenu
          columns={columns.slice(1).map((column) => ({ ...column, key: hiddenKey(column.key) }))}
          hidden={hidden}
          onHidden={(next) => session.update({ hidden: next })}
        />
        <CopyButton text={() => toTsv(shown, rows)} label="Copy" />
        <ExportMenu
          title="All rows that are compared, in the source's units"
          url={props.exported}
          picture={picture === undefined ? null : ICICLE}
        />
      </div>
      {picture?.(metric, figure(metric)?.quantity ?? "count")}
      {rows.length === 0 ? <NoRows searched={search !== ""} /> : <ComparedTable columns={shown} rows={rows} />}
      <div class="status" role="status">
        <span>{countOf(rows.length, document)}</span>
        <span class="spacer" />
        <span>{STATUS_KEYS}</span>
      </div>
    </>
  );
}

/** Columns of comparisons are hidden apart from those of the lens alone. */
function hiddenKey(key: string): string {
  return `compared.${key}`;
}

interface FigurePickerProps extends Pick<ComparisonProps, "figure"> {
  readonly names: readonly string[];
  readonly metric: string;
}

function FigurePicker({ names, metric, figure }: FigurePickerProps) {
  const session = useSession();
  const titles = Object.fromEntries(names.map((name) => [name, figure(name)?.title ?? name]));
  if (names.length < 2) return <span class="muted">{titles[metric]}</span>;
  const pick = (name: string) => session.update({ metric: name });
  return <Picker label="Figure" value={metric} words={names} titles={titles} onPick={pick} />;
}

function Unmatched({ share }: { share: Figure }) {
  if (share === null || share <= 0) return null;
  return (
    <span class="muted" title="The share of both runs that only one of them has">
      {percent(share, 1)} has no counterpart
    </span>
  );
}

interface ComparedTableProps {
  readonly columns: readonly DataColumn<ComparedRow>[];
  readonly rows: readonly ComparedRow[];
}

function ComparedTable({ columns, rows }: ComparedTableProps) {
  const session = useSession();
  const { sort, key } = session.state.value;
  return (
    <DataTable
      label="Comparison"
      columns={columns}
      rows={rows}
      keepsPlace
      id={keyOf}
      sort={sort || "-size"}
      onSort={(next) => session.update({ sort: next })}
      selected={key}
      onSelect={(next) => session.update({ key: next })}
      rowClass={({ state }) => (state === "both" ? "" : state)}
    />
  );
}

function keyOf({ key }: ComparedRow): string {
  return key;
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
  const delta = (row: ComparedRow): Figure => deltaOf(row, a(row), b(row));
  const largest = Math.max(largestOf(rows, a), largestOf(rows, b));
  const figures = { quantity, largest };
  const difference = numberColumn(rows, { ...DIFFERENCE, ...figures, value: delta, signed: true });
  const name = { key: "key", title: rowTitle, help: "What aligns the runs", width: 300, grows: true };
  return [
    wordColumn<ComparedRow>({ ...name, value: ({ key }) => rowName(key) }),
    ...(note === undefined ? [] : [wordColumn({ key: "note", width: 220, ...note, value: note.of })]),
    ...(rows.some(({ state }) => state !== "both") ? [wordColumn(ONLY_IN_ONE)] : []),
    numberColumn(rows, { ...THIS_RUN, ...figures, value: a, fullBar: largest }),
    numberColumn(rows, { ...BASELINE, ...figures, value: b, fullBar: largest }),
    { ...difference, value: (row) => Math.abs(delta(row) ?? 0) },
    numberColumn(rows, { ...RELATIVE, quantity: "ratio", value: (row) => share(delta(row), b(row)), signed: true }),
  ];
}

const ONLY_IN_ONE = {
  key: "state",
  title: "only in one",
  help: "added: only in this run; removed: only in the baseline",
  width: 84,
  value: ({ state }: ComparedRow) => (state === "both" ? "" : state),
};
const THIS_RUN = { key: "a", title: "this run", help: "The figure of the chosen run" };
const BASELINE = { key: "b", title: "baseline", help: "The figure of the baseline run" };
const DIFFERENCE = { key: "size", title: "difference", help: "This run minus the baseline; sorted by its size" };
const RELATIVE = { key: "relative", title: "relative", help: "The difference as a share of the baseline" };

function share(difference: Figure, base: Figure): Figure {
  return difference === null || !base ? null : difference / Math.abs(base);
}

/** Of a row that only one run has, all of it is the difference. */
export function deltaOf({ state }: ComparedRow, a: Figure, b: Figure): Figure {
  if (state === "added") return a;
  if (state === "removed") return b === null ? null : -b;
  return a === null || b === null ? null : a - b;
}
