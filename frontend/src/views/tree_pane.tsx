import { useCallback, useEffect, useMemo, useState } from "preact/hooks";
import { blockRgb, css } from "../lib/colour";
import type { RowsDocument, ViewRow } from "../lib/documents";
import type { Theme } from "../lib/theme";
import { Grid } from "../ui/grid";
import type { GridColumn } from "../ui/grid_column";
import type { PagedRows } from "../ui/paged_rows";
import { type Session, useSession } from "../ui/session";
import { colourKey, figureColumn, onSide, rowName, shareColumn, usefulColumns } from "./columns";
import type { Documents } from "./documents";
import { arrow, toggle, turnBelow } from "./tree";

const BELOW: Readonly<Record<string, boolean>> = { ArrowRight: true, ArrowLeft: false };

/** The tree-table. */
export function TreePane({ documents, head }: { documents: Documents; head: RowsDocument }) {
  const session = useSession();
  const { rows } = documents;
  rows.version.value; // Drawn again as rows arrive.
  const state = session.state.value;
  const columns = useColumns(session, head);
  const found = rows.indexOf(state.selected);
  const [wanted, setWanted] = useState(-1);
  const cursor = wanted >= 0 ? wanted : found;
  const wantedRow = wanted >= 0 ? rows.row(wanted) : undefined;
  // At once where the row is there: the next key may leave this table.
  const goTo = (index: number) => {
    const row = rows.row(index);
    setWanted(row === undefined ? index : -1);
    if (row !== undefined) session.update({ selected: row.id });
  };
  useEffect(() => {
    if (wantedRow === undefined) return;
    setWanted(-1);
    session.update({ selected: wantedRow.id });
  }, [wantedRow, session]);
  useFollowMatch(session, head);

  const onRange = useCallback((first: number, stop: number) => rows.need(first, stop), [rows]);
  const open = () => session.update({ drawer: "open" });
  return (
    <>
      <Grid
        label={`Rows by ${head.view}`}
        columns={columns}
        count={head.visible_rows}
        row={(index) => rows.row(index)}
        id={(row) => `row-${row.id}`}
        sort={state.sort || (head.order ?? "")}
        onSort={(sort) => session.update({ sort })}
        cursor={cursor}
        onCursor={goTo}
        onOpen={open}
        onRange={onRange}
        reveal={revealOf(state.search, state.root, head)}
        tree={(row) => ({
          "aria-level": row.depth + 1,
          ...(row.children > 0 ? { "aria-expanded": row.open } : {}),
        })}
        onKey={(event, index) => turned(session, rows, event, index, goTo)}
        keepsPlace
        rowClass={(row) => (row.matched ? "matched" : "")}
      />
      <Status head={head} />
    </>
  );
}

/** Opens and closes rows, and moves between parents and children; false where the key is none of these. */
function turned(session: Session, rows: PagedRows, event: KeyboardEvent, index: number, move: (to: number) => void) {
  const row = rows.row(index);
  if (event.altKey && row !== undefined && event.key in BELOW) {
    session.update(turnBelow(session.state.value, row, BELOW[event.key] === true));
    return true;
  }
  const action = arrow(event.key, index, (at) => rows.row(at));
  if (action === null) return false;
  if ("toggle" in action) session.update({ toggled: toggle(session.state.value.toggled, action.toggle) });
  else move(action.move);
  return true;
}

/** Where to scroll: to the match that was gone to, else to the top of another tree. */
function revealOf(search: string, root: number, head: RowsDocument) {
  const offset = search === "" ? null : (head.matches?.row_offset ?? null);
  if (offset !== null) return { row: offset, token: `${search} ${head.matches?.index} ${head.matches?.count}` };
  return { row: 0, token: `${head.view} ${root}` };
}

function useFollowMatch(session: Session, head: RowsDocument): void {
  const id = head.matches?.id ?? null;
  const searching = session.state.value.search !== "";
  useEffect(() => {
    if (searching && id !== null) session.update({ selected: id });
  }, [session, searching, id]);
}

function useColumns(session: Session, head: RowsDocument): GridColumn<ViewRow>[] {
  const { side, hidden, view } = session.state.value;
  const theme = session.theme.value;
  return useMemo(() => {
    const useful = usefulColumns(head);
    const shown = useful.filter((column) => onSide(column, side, head) && !hidden.includes(column.name));
    const [first, ...rest] = shown.map((column) => figureColumn(column, head));
    const named = nameColumn(session, view, theme);
    if (first === undefined || hidden.includes("share"))
      return [named, ...shown.map((column) => figureColumn(column, head))];
    return [named, first, shareColumn(head), ...rest];
  }, [session, head, side, hidden, view, theme]);
}

function nameColumn(session: Session, view: string, theme: Theme): GridColumn<ViewRow> {
  return {
    key: "name",
    title: view === "code" ? "line of code" : view,
    help: "The row's name. Click to sort siblings by name.",
    width: 300,
    grows: true,
    numeric: false,
    value: (row) => row.name,
    cell: (row) => ({ text: row.name, title: row.name }),
    content: (row) => <TreeName row={row} theme={theme} session={session} />,
  };
}

interface TreeNameProps {
  readonly row: ViewRow;
  readonly theme: Theme;
  readonly session: Session;
}

function TreeName({ row, theme, session }: TreeNameProps) {
  const onToggle = (event: MouseEvent) => {
    event.stopPropagation();
    session.update({ toggled: toggle(session.state.value.toggled, row.id) });
  };
  const { root } = session.state.value;
  const indent = Math.max(root > 0 ? row.depth - 1 : row.depth, 0);
  return (
    <div class="tree" style={{ paddingLeft: `${Math.min(indent, 40) * 14}px` }}>
      {row.children > 0 ? (
        <button type="button" class="twist" tabIndex={-1} aria-label={row.open ? "Close" : "Open"} onClick={onToggle}>
          {row.open ? "▼" : "▶"}
        </button>
      ) : (
        <span class="twist" />
      )}
      <span class="dot" style={{ background: css(blockRgb(colourKey(row), theme)) }} />
      <span class="name">{rowName(row.name)}</span>
      {MARKED.includes(row.kind ?? "") && <span class="badge">{row.kind}</span>}
    </div>
  );
}

/** Kinds of rows that are said. Others are what the view is of: ops, scopes, lines. */
const MARKED = ["range", "module", "step", "kernel", "copy", "runtime"];

function Status({ head }: { head: RowsDocument }) {
  const { total_rows, visible_rows } = head;
  return (
    <div class="status" role="status">
      <span>{`${visible_rows.toLocaleString()} of ${total_rows.toLocaleString()} rows open`}</span>
      {head.steps.length > 0 && <span>{`${head.steps.length.toLocaleString()} steps profiled`}</span>}
      <span class="spacer" />
      <span>Enter: details · z: start from here · c: copy row · ?: all keys</span>
    </div>
  );
}
