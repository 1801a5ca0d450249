/** Opening and closing rows of a tree that is open down to a depth except where toggled. */

import type { ViewRow } from "../lib/documents";
import type { PanelState, View } from "../lib/state";

const OPEN_TO: Readonly<Record<View, number>> = { op: 1, scope: 3, graph: 3, code: 3 };
const EVERYTHING = 1_000_000;
/** More would not fit into an address. */
const MAX_TOGGLED = 4000;

type Open = Pick<PanelState, "depth" | "toggled" | "below">;

export function openDepth(state: Pick<PanelState, "depth" | "view">): number {
  return state.depth === 0 ? OPEN_TO[state.view] : state.depth;
}

export function toggle(toggled: readonly number[], id: number): readonly number[] {
  const without = toggled.filter((other) => other !== id);
  return without.length < toggled.length ? without : [...toggled, id].slice(-MAX_TOGGLED);
}

export const OPEN_ALL: Open = { depth: EVERYTHING, toggled: [], below: [] };
export const CLOSE_ALL: Open = { depth: 1, toggled: [], below: [] };

/** Opens or closes a row with all below it; what was said of rows in there before is forgotten. */
export function turnBelow(
  state: Open,
  { id, end = id + 1 }: Pick<ViewRow, "id" | "end">,
  opens: boolean,
): Partial<Open> {
  if (id === 0) return opens ? OPEN_ALL : CLOSE_ALL;
  const outside = (row: number) => Math.abs(row) < id || Math.abs(row) >= end;
  const below = [...state.below.filter(outside), opens ? id : -id].slice(-MAX_TOGGLED);
  return { toggled: state.toggled.filter(outside), below };
}

/** What the left or right arrow does on a row: toggle it, or move to a row near it. */
export function arrow(
  key: string,
  index: number,
  rowAt: (index: number) => ViewRow | undefined,
): { toggle: number } | { move: number } | null {
  const row = rowAt(index);
  if (row === undefined || (key !== "ArrowLeft" && key !== "ArrowRight")) return null;
  const opens = key === "ArrowRight";
  if (row.children > 0 && row.open !== opens) return { toggle: row.id };
  if (opens) return row.children > 0 ? { move: index + 1 } : null;
  for (let at = index - 1; at >= 0; at--) {
    const above = rowAt(at);
    if (above === undefined) return null;
    if (above.id === row.parent) return { move: at };
  }
  return null;
}
