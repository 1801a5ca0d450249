/** Ways through a view, by key or by button. */

import type { Command } from "../lib/commands";
import type { Matches, NodeDocument } from "../lib/documents";
import { VIEWS, type View } from "../lib/state";
import type { Session } from "../ui/session";
import type { Documents } from "./documents";
import { CLOSE_ALL, OPEN_ALL } from "./tree";

/** A command of this lens. */
export function command(keys: readonly string[], title: string, run: () => void): Command {
  return { keys, title, group: "Views", run };
}

/** Starts the tree from the parent of the row that it starts from. */
export function upFrom(session: Session, root: NodeDocument | null): void {
  const { root: from } = session.state.value;
  const parent = root?.parent;
  if (from > 0) session.update({ root: typeof parent === "number" ? Math.max(parent, 0) : 0, selected: from });
}

/** Goes to another match; after the last one comes the first. */
export function goToMatch(session: Session, matches: Matches | null | undefined, by: number): void {
  if (matches && matches.count > 0) session.update({ match: (matches.index + by + matches.count) % matches.count });
}

/** From the selected row to its callers, and back. */
export function turn(session: Session): void {
  session.update({ direction: session.state.value.direction === "up" ? "down" : "up" });
}

export function showView(session: Session, view: View): void {
  session.showRecord({ view, sort: "", metric: "" });
}

/** The four views, each with the number of its place. */
export function viewCommands(session: Session): Command[] {
  return VIEWS.map((view, at) => command([String(at + 1)], `By ${view}`, () => showView(session, view)));
}

export function treeCommands(session: Session, { rows, root }: Documents): Command[] {
  const match = (by: number) => () => goToMatch(session, rows.head.value?.matches, by);
  return [
    ...viewCommands(session),
    command(["n"], "Next match", match(1)),
    command(["p"], "Previous match", match(-1)),
    command(["*"], "Open all rows", () => session.update(OPEN_ALL)),
    command(["-"], "Close all rows", () => session.update(CLOSE_ALL)),
    command(["z"], "Start from the selected row", () => session.update({ root: session.state.value.selected })),
    command(["b"], "From the bottom up: callers of the selected row", () => turn(session)),
    command(["u", "Backspace"], "Up to the parent", () => upFrom(session, root.data.value)),
    command(["Escape"], "Show the whole tree", () => session.update({ root: 0 })),
    command(["d"], "Details of the selected row", () =>
      session.update({ drawer: session.state.value.drawer === "open" ? "" : "open" }),
    ),
  ];
}
