/** Which rows of a long list are in sight. Browsers limit how tall an element can be, so very long lists scroll in proportion. */

export interface Viewport {
  readonly rows: number;
  readonly rowHeight: number;
  readonly viewHeight: number;
}

export interface Visible {
  /** The first row to draw and the row after the last. */
  readonly first: number;
  readonly stop: number;
  /** Where the first drawn row stands in the scrolled content. */
  readonly top: number;
}

/** Firefox clamps at about 17.9 million px, Chromium at 33.5 million. */
const TALLEST_PX = 10_000_000;
const OVERSCAN = 6;

export function contentHeight({ rows, rowHeight }: Viewport): number {
  return Math.min(rows * rowHeight, TALLEST_PX);
}

/** How many px of the true list one px of scrolling moves. */
function stretch(view: Viewport): number {
  const scrollable = contentHeight(view) - view.viewHeight;
  return scrollable <= 0 ? 1 : Math.max((view.rows * view.rowHeight - view.viewHeight) / scrollable, 1);
}

export function visibleRows(view: Viewport, scrollTop: number): Visible {
  const offset = scrollTop * stretch(view);
  const first = Math.max(Math.floor(offset / view.rowHeight) - OVERSCAN, 0);
  const stop = Math.min(Math.ceil((offset + view.viewHeight) / view.rowHeight) + OVERSCAN, view.rows);
  return { first: Math.min(first, stop), stop, top: scrollTop + first * view.rowHeight - offset };
}

/** The first row in sight, but for one of which less than half is. */
export function firstInSight(view: Viewport, scrollTop: number): number {
  return Math.min(Math.round((scrollTop * stretch(view)) / view.rowHeight), Math.max(view.rows - 1, 0));
}

/** The scroll position that makes a row the first in sight. */
export function scrollTopOf(view: Viewport, row: number): number {
  return (row * view.rowHeight) / stretch(view);
}

/** The scroll position that brings a row into sight; the present one where it is there already. */
export function scrollTopFor(view: Viewport, scrollTop: number, row: number): number {
  const factor = stretch(view);
  const offset = scrollTop * factor;
  const top = row * view.rowHeight;
  if (top < offset) return top / factor;
  const lowest = top + view.rowHeight - view.viewHeight;
  return lowest > offset ? lowest / factor : scrollTop;
}
