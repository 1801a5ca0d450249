/** Two runs as one icicle: width is what a row costs where it costs more, colour is how the runs differ there. */

import { css, oklch } from "../lib/colour";
import type { ComparedRow, IcicleDocument, IcicleRect } from "../lib/documents";
import { groupBy } from "../lib/grouping";
import type { Theme } from "../lib/theme";

const SEPARATORS = [" > ", "/"];
const LEAST_SHARE = 1 / 1200;
const MOST_LEVELS = 40;
/** A row that differs by this share of itself has the full colour. */
const FULL_AT = 0.5;

export interface Diverging {
  readonly icicle: IcicleDocument;
  /** For each compared row from -1, all of it is less, to 1, all of it is more. */
  readonly change: readonly number[];
  /** Of each row the figure of this run and of the baseline. */
  readonly sides: readonly (readonly [number, number])[];
}

/** Lays compared rows out as a tree by what their keys begin with, from a row on. Ids are the rows' indices. */
export function diverging(rows: readonly ComparedRow[], metric: string, flat: boolean, start = 0): Diverging {
  const sides = rows.map(({ a, b }) => [figure(a, metric), figure(b, metric)] as const);
  const change = sides.map(([a, b]) => (a === b ? 0 : (a - b) / Math.max(a, b)));
  // What an op launched is part of the op, which stands beside it here.
  const width = sides.map(([a, b], row) => (flat && rows[row]?.launched === true ? 0 : Math.max(a, b)));
  const children = childrenOf(rows, flat);
  const names = rows.map(({ key }, row) => (row === 0 ? key : shortName(key, flat)));
  const rects: IcicleRect[] = [];
  const whole = width[start] || 1;
  const waiting = rows.length === 0 ? [] : [{ row: start, depth: 0, from: 0, to: 1 }];
  for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
    rects.push([at.row, at.depth, at.from, at.to, at.row, at.row, 0]);
    const below = (children.get(at.row) ?? []).toSorted((p, q) => (width[q] ?? 0) - (width[p] ?? 0));
    const sum = below.reduce((total, row) => total + (width[row] ?? 0), 0);
    // Children together may be wider than their parent: in each, the other run is the wider one.
    const scale = (at.to - at.from) / Math.max(sum, width[at.row] ?? 0, whole * 1e-12);
    let from = at.from;
    for (const [place, row] of below.entries()) {
      const to = from + (width[row] ?? 0) * scale;
      if (to - from < LEAST_SHARE || at.depth >= MOST_LEVELS) {
        const rest = from + below.slice(place).reduce((total, one) => total + (width[one] ?? 0), 0) * scale;
        if (rest > from) rects.push([-1, at.depth + 1, from, rest, -1, -1, below.length - place]);
        break;
      }
      waiting.push({ row, depth: at.depth + 1, from, to });
      from = to;
    }
  }
  const depths = rects.reduce((most, [, depth]) => Math.max(most, depth + 1), 0);
  return { icicle: { metric, total: whole, depths, rects, names, colors: [] }, change, sides };
}

function figure(side: ComparedRow["a"], metric: string): number {
  const value = side?.[metric];
  return typeof value === "number" ? Math.max(value, 0) : 0;
}

function childrenOf(rows: readonly ComparedRow[], flat: boolean): Map<number, number[]> {
  const parents = parentsOf(rows, flat);
  return groupBy(rows.keys(), (row) => parents[row] ?? -1);
}

/** Of each row the one that it hangs below; -1 of the first, which is the root. */
export function parentsOf(rows: readonly ComparedRow[], flat: boolean): readonly number[] {
  const place = new Map(rows.map(({ key }, row) => [key, row]));
  return rows.map(({ key }, row) => (row === 0 ? -1 : flat ? 0 : (parentOf(key, place) ?? 0)));
}

/** A row with all that hangs below it. */
export function below(rows: readonly ComparedRow[], start: number, flat: boolean): readonly ComparedRow[] {
  if (start <= 0) return rows;
  const parents = parentsOf(rows, flat);
  const inside = (row: number): boolean => {
    for (let at = row; at >= 0; at = parents[at] ?? -1) if (at === start) return true;
    return false;
  };
  return rows.filter((_, row) => inside(row));
}

/** The row of the longest key that a key begins with. */
function parentOf(key: string, place: ReadonlyMap<string, number>): number | undefined {
  for (let end = cut(key); end > 0; end = cut(key.slice(0, end))) {
    const found = place.get(key.slice(0, end));
    if (found !== undefined) return found;
  }
  return undefined;
}

function cut(key: string): number {
  return Math.max(...SEPARATORS.map((separator) => key.lastIndexOf(separator)));
}

function shortName(key: string, flat: boolean): string {
  const at = flat ? -1 : cut(key);
  if (at <= 0) return key;
  return key.slice(at).replace(/^( > |\/)/, "") || key;
}

/** Blue for less, orange for more, told apart by most kinds of colour vision; grey for what is alike. */
export function changeColour(change: number, theme: Theme): string {
  const strength = Math.min(Math.abs(change) / FULL_AT, 1);
  const hue = change < 0 ? 250 : 60;
  return theme === "dark"
    ? css(oklch(0.36 + 0.1 * strength, 0.1 * strength, hue))
    : css(oklch(0.92 - 0.12 * strength, 0.12 * strength, hue));
}
