/** What a column of a table holds. */

import type { ComponentChildren } from "preact";
import type { CopiedColumn } from "./copying";

export interface Cell {
  readonly text: string;
  /** The exact figure. */
  readonly title?: string;
  /** 0 to 1: the bar behind the figure. */
  readonly share?: number;
  readonly tone?: "muted" | "more" | "less" | "bad";
}

export interface GridColumn<R> extends CopiedColumn<R> {
  readonly unit?: string;
  /** Definition and formula, in a sentence. */
  readonly help: string;
  /** In px; a column that grows takes what is left too. */
  readonly width: number;
  readonly grows?: boolean;
  readonly numeric: boolean;
  cell(row: R): Cell;
  /** What is drawn instead of the cell's text. */
  content?(row: R): ComponentChildren;
}
