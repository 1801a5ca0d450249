/** How the lens says lengths of time: in counts of its clock, and as time where the clock's frequency is known. */

import { format } from "../lib/units";
import type { InCoreDocument } from "./document";

export interface Units {
  /** The word of the count: cycles, or ns where there is no clock. */
  readonly unit: string;
  /** The length of a count in ns, 0 where that is not known. */
  readonly ns: number;
  /** What clock it is, in words. */
  readonly clock: string;
  /** As the user chose to see it. */
  readonly say: (length: number) => string;
  /** With every digit, and as time beside it where that is known. */
  readonly exact: (length: number) => string;
}

export function unitsOf({ detail }: InCoreDocument, asTime: boolean): Units {
  const unit = detail?.unit || "cycles";
  const frequency = detail?.clock_freq_hz ?? 0;
  const ns = unit === "ns" ? 1 : frequency ? 1e9 / frequency : 0;
  const counted = (length: number) => `${length.toLocaleString().replace("-", "−")} ${unit}`;
  const timed = (length: number) => format("ns", length * ns);
  return {
    unit,
    ns: asTime ? ns : 0,
    clock: frequency
      ? `${(frequency / 1e6).toLocaleString()} MHz clock`
      : unit === "ns"
        ? "no clock, ns"
        : "clock unknown",
    say: asTime && ns > 0 ? timed : counted,
    exact: (length) => (ns > 0 && unit !== "ns" ? `${counted(length)} · ${timed(length)}` : counted(length)),
  };
}
