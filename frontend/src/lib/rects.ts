/** Finding one's way among the rectangles of an icicle. */

import type { IcicleRect } from "./documents";

/** The rectangle at a depth and a place from 0 to 1. */
export function hitRect(rects: readonly IcicleRect[], depth: number, x: number): IcicleRect | null {
  return rects.find((rect) => rect[1] === depth && rect[2] <= x && x < rect[3]) ?? null;
}

/** The row id that an arrow key leads to, null where there is none. */
export function neighbour(rects: readonly IcicleRect[], id: number, key: string): number | null {
  const from = rects.find((rect) => rect[0] === id);
  if (from === undefined) return key.startsWith("Arrow") ? (rects[0]?.[0] ?? null) : null;
  const real = rects.filter((rect) => rect[0] >= 0);
  const [, depth, x0, x1] = from;
  const level = (of: number) => real.filter((rect) => rect[1] === of);
  if (key === "ArrowUp") return level(depth - 1).find((rect) => rect[2] <= x0 && x0 < rect[3])?.[0] ?? null;
  if (key === "ArrowDown") return leftmost(level(depth + 1).filter((rect) => rect[2] >= x0 && rect[2] < x1));
  if (key === "ArrowRight") return leftmost(level(depth).filter((rect) => rect[2] > x0));
  if (key === "ArrowLeft") return rightmost(level(depth).filter((rect) => rect[2] < x0));
  return null;
}

function leftmost(rects: readonly IcicleRect[]): number | null {
  return rects.length === 0 ? null : rects.reduce((p, q) => (q[2] < p[2] ? q : p))[0];
}

function rightmost(rects: readonly IcicleRect[]): number | null {
  return rects.length === 0 ? null : rects.reduce((p, q) => (q[2] > p[2] ? q : p))[0];
}
