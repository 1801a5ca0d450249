/** A series as the lens shows it. */

import type { SeriesDocument } from "./document";

export interface Shown {
  readonly series: SeriesDocument;
  readonly label: string;
  readonly colour: string;
  readonly muted: boolean;
  /** What sets it apart from the others. */
  readonly note: "" | "slowest" | "sum";
}
