/** Two runs part by part in order of time, and how the difference adds up. */

import type { ComparedRow } from "../lib/documents";
import { parentsOf } from "./diverging";

export interface Part {
  /** The key of its row; empty for what is no row of its own. */
  readonly key: string;
  readonly name: string;
  readonly a: number;
  readonly b: number;
  /** The difference of this part and all before it. */
  readonly accumulated: number;
  /** Whether it has parts of its own. */
  readonly opens: boolean;
}

const MOST_PARTS = 48;

/** The parts of a row in an order of keys; small ones together, and what the row spends itself, at the end. */
export function courseOf(
  rows: readonly ComparedRow[],
  start: number,
  metric: string,
  order: readonly string[],
  own = metric.replace(/^total_/, ""),
): Part[] {
  const parents = parentsOf(rows, false);
  const place = new Map(order.map((key, at) => [key, at]));
  const placeOf = (key: string) => place.get(key) ?? order.length;
  const inside = rows
    .map((row, at) => ({ key: row.key, name: row.key, a: sideOf(row.a, metric), b: sideOf(row.b, metric), at }))
    .filter(({ at }) => parents[at] === start);
  const large = new Set(inside.toSorted((p, q) => sizeOf(q) - sizeOf(p)).slice(0, MOST_PARTS));
  const inOrder = (p: { key: string }, q: { key: string }) =>
    placeOf(p.key) - placeOf(q.key) || p.key.localeCompare(q.key, undefined, { numeric: true });
  const shown = inside.filter((part) => large.has(part)).sort(inOrder);
  const small = inside.filter((part) => !large.has(part));
  const folded = small.length === 0 ? [] : [sum(`${small.length.toLocaleString()} others`, small)];
  const itself = { key: "", name: "itself", a: sideOf(rows[start]?.a, own), b: sideOf(rows[start]?.b, own), at: -1 };
  let accumulated = 0;
  return [...shown, ...folded, ...(own === metric || sizeOf(itself) === 0 ? [] : [itself])].map((part) => {
    accumulated += part.a - part.b;
    return { ...part, accumulated, opens: part.at >= 0 && parents.includes(part.at) };
  });
}

interface Sized {
  readonly a: number;
  readonly b: number;
}

function sizeOf({ a, b }: Sized): number {
  return Math.max(a, b);
}

function sum(name: string, parts: readonly Sized[]) {
  const add = (side: "a" | "b") => parts.reduce((total, part) => total + part[side], 0);
  return { key: "", name, a: add("a"), b: add("b"), at: -1 };
}

function sideOf(side: ComparedRow["a"] | undefined, metric: string): number {
  const value = side?.[metric];
  return typeof value === "number" ? value : 0;
}
