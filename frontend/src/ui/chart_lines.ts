/** What a line chart shows. */

import type { Scale } from "../lib/plot";

export interface Line {
  readonly label: string;
  readonly colour: string;
  readonly x: readonly number[];
  readonly y: readonly (number | null)[];
  readonly dashed?: boolean;
}

/** A stretch of x that something took, such as a checkpoint. */
export interface Span {
  readonly from: number;
  readonly to: number;
  readonly label: string;
  readonly colour: string;
  /** A moment: a line over the chart's height. */
  readonly line?: boolean;
}

/** Where values stand on the canvas. */
export interface Frame {
  readonly x: Scale;
  readonly y: Scale;
}
