/** The head of a table: sorts, and gives columns the width that the user wants. Up from the first row leads here. */

import { useCallback, useMemo } from "preact/hooks";
import type { GridColumn } from "./grid_column";
import { useSession } from "./session";

const LEAST_PX = 40;
const STEP_PX = 16;

type SetWidth = (key: string, width: number | null) => void;

/** Columns as wide as the user made them in this lens, and how to change that; null is the width of the column's own. */
export function useWidths<R>(columns: readonly GridColumn<R>[]): [readonly GridColumn<R>[], SetWidth] {
  const session = useSession();
  const lens = session.lens.value;
  const { widths } = session.state.value;
  const shown = useMemo(
    () =>
      columns.map((column) => {
        const width = widths[`${lens}.${column.key}`];
        return width === undefined ? column : { ...column, width, grows: false };
      }),
    [columns, widths, lens],
  );
  const setWidth = useCallback<SetWidth>(
    (key, width) => {
      const { [`${lens}.${key}`]: _, ...others } = session.state.peek().widths;
      const own = width === null ? {} : { [`${lens}.${key}`]: Math.max(Math.round(width), LEAST_PX) };
      session.update({ widths: { ...others, ...own } });
    },
    [session, lens],
  );
  return [shown, setWidth];
}

interface HeadProps<R> {
  readonly columns: readonly GridColumn<R>[];
  readonly sort: string;
  readonly onSort: (sort: string) => void;
  readonly onWidth: SetWidth;
  readonly onLeave: () => void;
}

export function Head<R>({ columns, sort, onSort, onWidth, onLeave }: HeadProps<R>) {
  const onKeyDown = (event: KeyboardEvent, key: string) => {
    const head = (event.currentTarget as Element).parentElement;
    const by = event.key === "ArrowLeft" ? -1 : event.key === "ArrowRight" ? 1 : 0;
    const next = by < 0 ? head?.previousElementSibling : head?.nextElementSibling;
    if (by !== 0 && event.shiftKey) onWidth(key, (head?.clientWidth ?? 0) + by * STEP_PX);
    else if (by !== 0) next?.querySelector("button")?.focus();
    else if (event.key === "ArrowDown" || event.key === "Escape") onLeave();
    else if (event.key !== "Enter" && event.key !== " ") return;
    else return event.stopPropagation();
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <div class="grid-head" role="row" aria-rowindex={1}>
      {columns.map(({ key, title, unit, help, numeric }, index) => {
        const direction = sort === key ? "ascending" : sort === `-${key}` ? "descending" : "none";
        return (
          <div
            key={key}
            role="columnheader"
            aria-colindex={index + 1}
            aria-sort={direction}
            class={`head ${numeric ? "num" : ""} ${index === 0 ? "first" : ""}`}
          >
            <button
              type="button"
              tabIndex={-1}
              title={help}
              onClick={() => onSort(nextSort(key, numeric, sort))}
              onKeyDown={(event) => onKeyDown(event, key)}
            >
              <span class="head-title">{title}</span>
              {unit && <span class="unit">{unit}</span>}
              <span class="arrow" aria-hidden="true">
                {direction === "none" ? "" : direction === "ascending" ? "▲" : "▼"}
              </span>
            </button>
            <span
              class="resize"
              title="Drag to resize, double-click for the column's own width"
              onPointerDown={(event) => dragWidth(event, (width) => onWidth(key, width))}
              onDblClick={() => onWidth(key, null)}
            />
          </div>
        );
      })}
    </div>
  );
}

function dragWidth(event: PointerEvent, onWidth: (width: number) => void): void {
  const handle = event.currentTarget as HTMLElement;
  const before = handle.parentElement?.clientWidth ?? 0;
  const from = event.clientX;
  handle.setPointerCapture(event.pointerId);
  handle.onpointermove = (move) => onWidth(before + move.clientX - from);
  handle.onlostpointercapture = () => {
    handle.onpointermove = null;
  };
  event.preventDefault();
}

/** Figures sort the largest first, words from A; a second click turns the order. */
export function nextSort(key: string, numeric: boolean, sort: string): string {
  const first = numeric ? `-${key}` : key;
  const second = numeric ? key : `-${key}`;
  return sort === first ? second : first;
}
