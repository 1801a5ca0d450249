/** The columns of a view: figures beside their self, in one unit each, without those that are nothing throughout. */

import type { Figure, Resource, RowsDocument, ViewColumn, ViewRow } from "../lib/documents";
import type { PanelState } from "../lib/state";
import { exact, formatIn, percent, type Quantity, type Scale, scaleFor } from "../lib/units";
import type { GridColumn } from "../ui/grid_column";
import { figureWidth } from "../ui/width";

const QUANTITIES: Readonly<Record<string, Quantity>> = { us: "micros", bytes: "bytes", "": "count" };
const TOTAL = "total_";

/** What a column's unit word counts. */
export function quantityOf(unit: string): Quantity {
  return QUANTITIES[unit] ?? "count";
}

/** What a figure of the rows counts; a time where the rows do not say. */
export function quantityIn(head: RowsDocument | null, name: string): Quantity {
  return quantityOf(head?.columns.find((column) => column.name === name)?.unit ?? "us");
}

/** The name of the total that a figure is a part of. */
export function wholeOf(name: string): string {
  return name.startsWith(TOTAL) ? name : TOTAL + name;
}

/** The total that icicles and searches are of where no other is chosen. */
export function defaultMetric(head: RowsDocument | null): string {
  return TOTAL + (head?.time ?? "exec_micros");
}

export function figureOf(row: Readonly<Record<string, unknown>>, name: string): Figure {
  const value = row[name];
  return typeof value === "number" ? value : null;
}

/** Columns that have something to say, each total followed by its self. */
export function usefulColumns({ columns, root, rows, resource, time = "", view }: RowsDocument): ViewColumn[] {
  const byResource = resource === "device" || resource === "host";
  // Of ops that call each other the self times are read first.
  const selfFirst = byResource && view === "op" ? -1 : 1;
  const order = new Map(columns.map((column, at) => [column.name, at]));
  const pair = (name: string) =>
    byResource && wholeOf(name) === TOTAL + time ? -1 : (order.get(wholeOf(name)) ?? order.get(name) ?? 0);
  const place = ({ name, total }: ViewColumn) => 2 * pair(name) + (total ? 0 : selfFirst / 2);
  const onHostOnly = (figureOf(root, "total_accelerator_exec_micros") ?? 0) === 0;
  const useful = columns.filter(({ name }) => {
    // Host and device time are not added up where time is read by resource.
    if (byResource) {
      if (/^(total_)?exec_micros$/.test(name)) return false;
      // Without an accelerator all time is host time; the same figures twice would only take room.
    } else if (onHostOnly && name.endsWith("cpu_exec_micros")) return false;
    const whole = wholeOf(name);
    if (order.has(whole)) return (figureOf(root, whole) ?? 0) !== 0;
    return rows.some((row) => figureOf(row, name) !== null);
  });
  return useful.sort((p, q) => place(p) - place(q));
}

/**
 * Whether a column belongs to the side that is chosen: totals and the self of times, all totals, or all selfs. A figure
 * without a counterpart belongs to each. In a flat op view, where no op holds another, total and self are the same.
 */
export function onSide(column: ViewColumn, side: PanelState["side"], head: RowsDocument): boolean {
  const all = head.columns;
  const has = (name: string) => all.some((other) => other.name === name);
  if (column.total) return side !== "self" || !has(column.name.slice(TOTAL.length));
  if (!has(wholeOf(column.name))) return true;
  return side === "self" || (side === "both" && column.unit === "us" && !isFlat(head));
}

function isFlat({ view, columns }: RowsDocument): boolean {
  return view === "op" && !isNestedOp(view, columns);
}

/** Whether an op's total holds what it called, which other rows hold too: then rows do not add up to the root. */
function isNestedOp(view: string, columns: readonly ViewColumn[]): boolean {
  return view === "op" && columns.some(({ name }) => name === "p50_micros");
}

/** A figure column of the table. */
export function figureColumn(column: ViewColumn, { root, rows }: RowsDocument): GridColumn<ViewRow> {
  const quantity = quantityOf(column.unit);
  const title = shortTitle(column.title);
  const whole = figureOf(root, wholeOf(column.name));
  const largest = rows.reduce((most, row) => Math.max(most, Math.abs(figureOf(row, column.name) ?? 0)), 0);
  const scale = scaleFor(quantity, Math.max(Math.abs(whole ?? 0), largest));
  return {
    key: column.name,
    title,
    unit: scale.unit,
    help: column.help,
    width: figureWidth(title, scale.unit, [formatIn(scale, whole), formatIn(scale, largest)]),
    numeric: true,
    value: (row) => figureOf(row, column.name),
    cell: (row) => figureCell(quantity, scale, figureOf(row, column.name), row.parent < 0 ? null : whole),
  };
}

const WHOLES: Readonly<Record<Resource, string>> = { device: "device time", host: "host time", both: "time" };

/** The share of each row, headed by the whole that it is of. */
export function shareColumn({ resource = "both", view }: RowsDocument): GridColumn<ViewRow> {
  const title = `% of ${WHOLES[resource]}`;
  const side =
    view === "op" ? "Self time; of kernels, copies and runtime calls the time below their op" : "Time with all below";
  return {
    key: "share",
    title,
    help: `${side}, as a share of all ${WHOLES[resource]} added up`,
    width: figureWidth(title, "", ["100.0"]),
    numeric: true,
    value: (row) => figureOf(row, "share"),
    cell: (row) => {
      const share = figureOf(row, "share");
      return share === null ? { text: "—", tone: "muted" } : { text: (100 * share).toFixed(1), share };
    },
  };
}

/** Titles without the word that the unit says already. */
export function shortTitle(title: string): string {
  return /^(self )?time$/.test(title) ? title : title.replace(/ time$/, "");
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
  return name === "_TFProfRoot" || name === "" ? "(total)" : name;
}

/** What a row is coloured by: its op type, else its kind, else its name. */
export function colourKey(row: ViewRow): string {
  return colourName(row.color ?? "", row.name);
}

/** Ops by their type; lines of code by their file; scopes by their name. */
export function colourName(kind: string, name: string): string {
  return kind || name.replace(/:\d+\b.*$/, "");
}
