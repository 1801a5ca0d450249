/** How the lens says lengths of time: in counts of its clock, and as time where the clock's frequency is known. */

import { ABSENT, format } from "../lib/units";
import type { FigureCell } from "../ui/small_table";
import type { InCoreDocument } from "./document";

export interface Units {
  /** The word of the count: cycles, or ns where there is no clock. */
  readonly unit: string;
  /** The length of a count in ns; 0 where counts are shown. */
  readonly ns: number;
  readonly clock: string;
  /** As the user chose to see it. */
  readonly say: (length: number) => string;
  /** With every digit, and as time beside it where that is known. */
  readonly exact: (length: number) => string;
  readonly cell: (length: number | null) => FigureCell;
  /** Without the word of the count, for a column that has it in its head. */
  readonly bare: (length: number | null) => FigureCell;
  /** What heads a column of bare lengths. */
  readonly word: string;
  /** The count without its word, and the time. */
  readonly both: (length: number) => readonly [FigureCell, FigureCell];
}

export function unitsOf({ detail }: InCoreDocument, asTime: boolean): Units {
  const unit = detail?.unit || "cycles";
  const frequency = detail?.clock_freq_hz ?? 0;
  const ns = unit === "ns" ? 1 : frequency ? 1e9 / frequency : 0;
  const digits = (length: number) => length.toLocaleString().replace("-", "−");
  const timed = (length: number) => (ns > 0 ? format("ns", length * ns) : ABSENT);
  const exact = (length: number) =>
    [`${digits(length)} ${unit}`, ...(ns > 0 && unit !== "ns" ? [timed(length)] : [])].join(" · ");
  const say = (length: number) => (ns > 0 && (asTime || unit === "ns") ? timed(length) : `${digits(length)} ${unit}`);
  return {
    unit,
    ns: asTime || unit === "ns" ? ns : 0,
    clock: frequency ? `${digits(frequency / 1e6)} MHz clock` : unit === "ns" ? "ns, no clock" : "clock unknown",
    say,
    exact,
    cell: (length) => (length === null ? [ABSENT, ""] : [say(length), exact(length)]),
    bare: (length) => (length === null ? [ABSENT, ""] : [say(length).replace(` ${unit}`, ""), exact(length)]),
    word: ns > 0 && (asTime || unit === "ns") ? "time" : unit,
    both: (length) => [
      [digits(length), exact(length)],
      [timed(length), exact(length)],
    ],
  };
}
