/** A table of any length: only the rows in sight are in the document. Keyboard and ARIA as a grid or a treegrid. */

import { Component } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { contentHeight, firstInSight, scrollTopFor, scrollTopOf, type Viewport, visibleRows } from "../lib/scroll";
import { useSize } from "./canvas";
import { toMarkdown, toTsv } from "./copying";
import type { GridColumn } from "./grid_column";
import { Head, useWidths } from "./grid_head";
import { useSession } from "./session";
import { copyText } from "./states";
import { useTypeAhead } from "./type_ahead";

const ROW_HEIGHT = 22;
const HEAD_HEIGHT = 28;
const PADDING_RIGHT = 12;
const MOST_LOOKED_THROUGH = 5000;
const PLACE_AFTER_MS = 200;

export interface GridProps<R> {
  readonly label: string;
  readonly columns: readonly GridColumn<R>[];
  readonly count: number;
  readonly row: (index: number) => R | undefined;
  readonly id: (row: R) => string;
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  /** The index of the selected row, -1 for none. */
  readonly cursor: number;
  readonly onCursor: (index: number) => void;
  readonly onOpen?: (index: number) => void;
  /** Rows that are about to be drawn. */
  readonly onRange?: (first: number, stop: number) => void;
  /** Brings a row into sight each time the token changes. */
  readonly reveal?: { readonly row: number; readonly token: unknown } | null;
  /** Makes a treegrid: where a row stands in the tree. */
  readonly tree?: (row: R) => { readonly "aria-level": number; readonly "aria-expanded"?: boolean };
  /** Keys beyond those of a grid; true where it took the key. */
  readonly onKey?: (event: KeyboardEvent, index: number) => boolean;
  readonly rowClass?: (row: R) => string;
  /** Whether the address says which rows are in sight; of one table of a lens. */
  readonly keepsPlace?: boolean;
}

export function Grid<R>(props: GridProps<R>) {
  const { count, cursor, onRange } = props;
  const [columns, setWidth] = useWidths(props.columns);
  const scroller = useRef<HTMLDivElement>(null);
  const grid = useRef(props);
  grid.current = props;
  const size = useSize(scroller);
  const [scrollTop, setScrollTop] = useState(0);
  const view: Viewport = { rows: count, rowHeight: ROW_HEIGHT, viewHeight: Math.max(size.height - HEAD_HEIGHT, 0) };
  const visible = visibleRows(view, scrollTop);

  useLayoutEffect(() => {
    if (size.height > 0) onRange?.(visible.first, visible.stop);
  }, [onRange, visible.first, visible.stop, size.height]);

  const show = (row: number) => {
    const element = scroller.current;
    if (element !== null && row >= 0) element.scrollTop = scrollTopFor(view, element.scrollTop, row);
  };
  const place = usePlace(scroller, view, props.keepsPlace === true);
  useReveal(props.reveal, size.height > 0 && count > 0, place, show);
  const onKeyDown = useGridKeys({ props, columns, scroller, view, show });

  const template = columns.map(({ width, grows }) => (grows ? `minmax(${width}px, 1fr)` : `${width}px`)).join(" ");
  const leastWidth = columns.reduce((sum, { width }) => sum + width, PADDING_RIGHT);
  // Only a row in the document can be the active one.
  const selected = cursor >= visible.first && cursor < visible.stop ? props.row(cursor) : undefined;
  return (
    <div
      ref={scroller}
      class="grid"
      role={props.tree ? "treegrid" : "grid"}
      aria-label={props.label}
      aria-rowcount={count + 1}
      aria-colcount={columns.length}
      aria-activedescendant={selected === undefined ? undefined : props.id(selected)}
      tabIndex={0}
      style={{ "--columns": template, "--least-width": `${leastWidth}px` }}
      onScroll={(event) => {
        setScrollTop(event.currentTarget.scrollTop);
        place.note(event.currentTarget.scrollTop);
      }}
      onKeyDown={onKeyDown}
    >
      <Head
        columns={columns}
        sort={props.sort}
        onSort={props.onSort}
        onWidth={setWidth}
        onLeave={() => scroller.current?.focus()}
      />
      <div class="grid-body" role="presentation" style={{ height: `${contentHeight(view)}px` }}>
        <div class="grid-rows" role="presentation" style={{ transform: `translateY(${visible.top}px)` }}>
          {range(visible.first, visible.stop).map((index) => (
            <Row
              key={index}
              index={index}
              row={props.row(index)}
              selected={index === cursor}
              columns={columns}
              grid={grid}
            />
          ))}
        </div>
      </div>
    </div>
  );
}

/** Scrolls to a row each time another one is to be shown; first, once, to where the address says. */
function useReveal<R>(reveal: GridProps<R>["reveal"], ready: boolean, place: Place, show: (row: number) => void): void {
  const revealed = useRef<unknown>(undefined);
  useLayoutEffect(() => {
    if (!ready) return;
    const opened = place.restore();
    // Coming back from another tab is no reason to scroll.
    if (reveal && reveal.token !== revealed.current && !opened) show(reveal.row);
    revealed.current = reveal?.token;
  }, [reveal?.token, ready]);
}

interface Keyed<R> {
  readonly props: GridProps<R>;
  readonly columns: readonly GridColumn<R>[];
  readonly scroller: { readonly current: HTMLElement | null };
  readonly view: Viewport;
  readonly show: (row: number) => void;
}

/** What keys do in a table: move, open, copy, and lead to rows by their first letters. */
function useGridKeys<R>({ props, columns, scroller, view, show }: Keyed<R>): (event: KeyboardEvent) => void {
  const { count, cursor } = props;
  const move = (index: number) => {
    const next = Math.min(Math.max(index, 0), count - 1);
    show(next);
    props.onCursor(next);
  };
  const typeAhead = useTypeAhead((from, begins) => {
    for (let step = 0; step < Math.min(count, MOST_LOOKED_THROUGH); step++) {
      const row = props.row((from + step) % count);
      if (row !== undefined && begins(columns[0]?.cell(row).text ?? "")) return move((from + step) % count);
    }
  });
  return (event) => {
    if (event.ctrlKey || event.metaKey || count === 0) return;
    const page = Math.max(Math.floor(view.viewHeight / ROW_HEIGHT) - 1, 1);
    const target = event.altKey ? null : moveOf(event.key, cursor, page, count);
    const row = cursor >= 0 ? props.row(cursor) : undefined;
    if (target === -1) scroller.current?.querySelector<HTMLElement>(".head button")?.focus();
    else if (target !== null) move(target);
    else if (event.key === "Enter" && props.onOpen && cursor >= 0) props.onOpen(cursor);
    else if (!typeAhead(event, cursor) && !props.onKey?.(event, cursor) && !copied(event.key, columns, row)) return;
    event.preventDefault();
    event.stopPropagation();
  };
}

/** Copies a row for the keys that do so. */
function copied<R>(key: string, columns: readonly GridColumn<R>[], row: R | undefined): boolean {
  const write = key === "c" ? toTsv : key === "m" ? toMarkdown : null;
  if (row === undefined || write === null) return false;
  copyText(write(columns, [row]));
  return true;
}

interface Place {
  /** Scrolls to where the address says, once; false where it says nothing. */
  restore(): boolean;
  note(scrollTop: number): void;
}

/** Keeps the first row in sight in the address. */
function usePlace(scroller: { readonly current: HTMLElement | null }, view: Viewport, keeps: boolean): Place {
  const session = useSession();
  const [opened] = useState({ top: keeps ? session.state.peek().top : 0 });
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  const restore = () => {
    const { top } = opened;
    opened.top = 0;
    if (top === 0 || scroller.current === null) return false;
    scroller.current.scrollTop = scrollTopOf(view, top);
    return true;
  };
  const note = (scrollTop: number) => {
    if (!keeps) return;
    clearTimeout(timer.current);
    timer.current = setTimeout(() => session.update({ top: firstInSight(view, scrollTop) }), PLACE_AFTER_MS);
  };
  return { restore, note };
}

/** The row that a key leads to; -1 for the head. */
function moveOf(key: string, cursor: number, page: number, count: number): number | null {
  if (key === "ArrowDown") return cursor + 1;
  if (key === "ArrowUp") return Math.max(cursor - 1, -1);
  if (key === "PageDown") return cursor + page;
  if (key === "PageUp") return Math.max(cursor - page, 0);
  if (key === "Home") return 0;
  return key === "End" ? count - 1 : null;
}

function range(first: number, stop: number): number[] {
  return Array.from({ length: Math.max(stop - first, 0) }, (_, k) => first + k);
}

interface RowProps<R> {
  readonly index: number;
  readonly row: R | undefined;
  readonly selected: boolean;
  readonly columns: readonly GridColumn<R>[];
  /** The grid as it is now; a change of it alone is no reason to draw the row again. */
  readonly grid: { readonly current: GridProps<R> };
}

/** A row. Scrolling draws only the rows that come into sight. */
class Row<R> extends Component<RowProps<R>> {
  override shouldComponentUpdate(next: RowProps<R>): boolean {
    const { index, row, selected, columns } = this.props;
    return next.index !== index || next.row !== row || next.selected !== selected || next.columns !== columns;
  }

  override render({ index, row, selected, columns, grid }: RowProps<R>) {
    if (row === undefined) return <div class="row pending" role="row" aria-rowindex={index + 2} aria-busy="true" />;
    const { id, tree, rowClass } = grid.current;
    return (
      <div
        id={id(row)}
        role="row"
        aria-rowindex={index + 2}
        aria-selected={selected}
        class={`row ${selected ? "selected" : ""} ${rowClass?.(row) ?? ""}`}
        onClick={() => grid.current.onCursor(index)}
        onDblClick={() => grid.current.onOpen?.(index)}
        {...tree?.(row)}
      >
        {columns.map((column, at) => (
          <GridCell key={column.key} column={column} row={row} first={at === 0} at={at} />
        ))}
      </div>
    );
  }
}

interface GridCellProps<R> {
  readonly column: GridColumn<R>;
  readonly row: R;
  readonly first: boolean;
  readonly at: number;
}

function GridCell<R>({ column, row, first, at }: GridCellProps<R>) {
  const { text, title, share, tone } = column.cell(row);
  const classes = `cell ${column.numeric ? "num" : ""} ${first ? "first" : ""} ${tone ?? ""}`;
  const bar = share !== undefined && share > 0 ? { "--share": `${Math.min(share, 1) * 100}%` } : undefined;
  const content = column.content?.(row) ?? text;
  return (
    <div
      role={first ? "rowheader" : "gridcell"}
      aria-colindex={at + 1}
      class={bar ? `${classes} bar` : classes}
      title={title ?? text}
      style={bar}
    >
      {content}
    </div>
  );
}
