/** Times and values as text. */

import { type Quantity, scaleFor } from "../lib/units";

/** A time with every digit, in µs. */
export function exactTime(ps: number): string {
  return `${(ps / 1e6).toLocaleString(undefined, { maximumFractionDigits: 6 })} µs`;
}

/** Values beside an axis: no more digits than tell ticks apart. */
export function tickText(quantity: Quantity): (value: number) => string {
  return (value) => {
    const { unit, divisor } = scaleFor(quantity, Math.abs(value), 1);
    return `${(value / divisor).toLocaleString(undefined, { maximumSignificantDigits: 5 })} ${unit}`.trim();
  };
}
