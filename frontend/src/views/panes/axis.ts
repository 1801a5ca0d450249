/** Values beside an axis: no more digits than tell ticks apart. */

import { type Quantity, scaleFor } from "../../lib/units";

export function tickText(quantity: Quantity): (value: number) => string {
  return (value) => {
    const { unit, divisor } = scaleFor(quantity, Math.abs(value), 1);
    return `${(value / divisor).toLocaleString(undefined, { maximumSignificantDigits: 5 })} ${unit}`.trim();
  };
}
