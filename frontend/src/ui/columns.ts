/** Columns of tables that are all in the browser. */

import { exact, formatIn, percent, type Quantity, scaleFor } from "../lib/units";
import type { DataColumn } from "./data_table";
import { figureWidth } from "./width";

interface WordColumn<R> {
  readonly key: string;
  readonly title: string;
  readonly help: string;
  readonly width?: number;
  readonly grows?: boolean;
  readonly value: (row: R) => string | null;
}

export function wordColumn<R>({ key, title, help, width = 130, grows = false, value }: WordColumn<R>): DataColumn<R> {
  return { key, title, help, width, grows, numeric: false, value, cell: (row) => ({ text: value(row) ?? "—" }) };
}

interface NumberColumn<R> {
  readonly key: string;
  readonly title: string;
  readonly help: string;
  readonly quantity: Quantity;
  readonly value: (row: R) => number | null;
  /** The sum that the figures are shares of. */
  readonly whole?: number;
  /** What a full bar stands for, where that is no sum. */
  readonly fullBar?: number;
  /** The figure that decides the unit, where several columns are to share one. */
  readonly largest?: number;
  /** For differences: more and less are told apart. */
  readonly signed?: boolean;
}

export function largestOf<R>(rows: readonly R[], value: (row: R) => number | null): number {
  return rows.reduce((most, row) => Math.max(most, Math.abs(value(row) ?? 0)), 0);
}

/** A column of figures in the one unit that fits its largest. */
export function numberColumn<R>(rows: readonly R[], column: NumberColumn<R>): DataColumn<R> {
  const { key, title, help, quantity, value, whole, fullBar = whole, signed } = column;
  const largest = column.largest ?? largestOf(rows, value);
  const scale = scaleFor(quantity, largest);
  const cell = (row: R) => {
    const figure = value(row);
    if (figure === null) return { text: formatIn(scale, null), tone: "muted" as const, title: "not known" };
    const more = signed && figure > 0;
    return {
      text: (more ? "+" : "") + formatIn(scale, figure),
      title: exact(quantity, figure) + (whole ? ` · ${percent(figure, whole)} of all` : ""),
      ...(fullBar ? { share: figure / fullBar } : {}),
      ...(signed && figure !== 0 ? { tone: more ? ("more" as const) : ("less" as const) } : {}),
    };
  };
  return {
    key,
    title,
    unit: scale.unit,
    help,
    width: figureWidth(title, scale.unit, [formatIn(scale, largest), formatIn(scale, -largest)]),
    numeric: true,
    value,
    cell,
  };
}
