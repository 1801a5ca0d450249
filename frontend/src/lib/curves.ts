/** Figures over time on a lane: stairs, each value from one moment to the next. */

import { lowerBound } from "./plot";

export interface Curve {
  readonly label: string;
  readonly start: readonly number[];
  readonly end: readonly number[];
  readonly value: readonly (number | null)[];
  /** A slot of the line palette. */
  readonly ink: number;
  /** Only a dashed line, where another curve of the lane is filled. */
  readonly dashed?: boolean;
  readonly text: (value: number) => string;
}

/** What a lane with curves is scaled to. */
export function mostOf(curves: readonly Curve[]): number {
  return curves.flatMap(({ value }) => value).reduce<number>((most, value) => Math.max(most, value ?? 0), 0);
}

/** The value at a time; null where none is known. */
export function valueAt({ start, end, value }: Curve, time: number): number | null {
  const next = lowerBound(start, time);
  const at = start[next] === time ? next : next - 1;
  return time < (end[at] ?? time) ? (value[at] ?? null) : null;
}
