/** The columns of a view: figures beside their self, in one unit each, without those that are nothing throughout. */

import type { Figure, RowsDocument, ViewColumn, ViewRow } from "../lib/documents";
import type { PanelState } from "../lib/state";
import { exact, formatIn, percent, type Quantity, type Scale, scaleFor } from "../lib/units";
import type { GridColumn } from "../ui/grid";

const QUANTITIES: Readonly<Record<string, Quantity>> = { us: "micros", bytes: "bytes", "": "count" };
const TOTAL = "total_";

/** What a column's unit word counts. */
export function quantityOf(unit: string): Quantity {
  return QUANTITIES[unit] ?? "count";
}

/** The name of the total that a figure is a part of. */
export function wholeOf(name: string): string {
  return name.startsWith(TOTAL) ? name : TOTAL + name;
}

export function figureOf(row: Readonly<Record<string, unknown>>, name: string): Figure {
  const value = row[name];
  return typeof value === "number" ? value : null;
}

/** Columns that have something to say, each total followed by its self. */
export function usefulColumns({ columns, root, rows }: RowsDocument): ViewColumn[] {
  const order = new Map(columns.map((column, at) => [column.name, at]));
  const place = ({ name, total }: ViewColumn) =>
    2 * (order.get(wholeOf(name)) ?? order.get(name) ?? 0) + (total ? 0 : 1);
  const useful = columns.filter(({ name }) => {
    const whole = wholeOf(name);
    if (order.has(whole)) return (figureOf(root, whole) ?? 0) !== 0;
    return rows.some((row) => figureOf(row, name) !== null);
  });
  return useful.sort((p, q) => place(p) - place(q));
}

/** Whether a column belongs to the side that is chosen; a figure without a total belongs to both. */
export function onSide(column: ViewColumn, side: PanelState["side"], all: readonly ViewColumn[]): boolean {
  if (side === "both" || !(column.total || all.some(({ name }) => name === wholeOf(column.name)))) return true;
  const counterpart = all.some(({ name }) => name === column.name.slice(TOTAL.length));
  return side === "total" ? column.total : !column.total || !counterpart;
}

/** A figure column of the table. */
export function figureColumn(column: ViewColumn, root: RowsDocument["root"], largest: number): GridColumn<ViewRow> {
  const quantity = quantityOf(column.unit);
  const whole = figureOf(root, wholeOf(column.name));
  const scale = scaleFor(quantity, Math.abs(whole ?? largest));
  return {
    key: column.name,
    title: column.title,
    unit: scale.unit,
    help: column.help,
    width: "minmax(84px, max-content)",
    numeric: true,
    cell: (row) => figureCell(quantity, scale, figureOf(row, column.name), whole),
  };
}

function figureCell(quantity: Quantity, scale: Scale, value: Figure, whole: Figure) {
  const text = formatIn(scale, value);
  if (value === null) return { text, tone: "muted" as const, title: "not recorded" };
  const title = whole ? `${exact(quantity, value)} · ${percent(value, whole)} of all` : exact(quantity, value);
  return {
    text,
    title,
    ...(whole ? { share: value / whole } : {}),
    ...(value === 0 ? { tone: "muted" as const } : {}),
  };
}

/** What a row is called; tfprof's word for its root says nothing to a reader. */
export function rowName(name: string): string {
  return name === "_TFProfRoot" || name === "" ? "(all)" : name;
}

/** What a row is coloured by: its op type, else its kind, else its name. */
export function colourKey(row: ViewRow): string {
  return String(row.op_type || row.kind || row.name);
}
