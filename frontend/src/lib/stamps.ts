/** Moments as exact integers, and how they are written. Offsets count from a base, so that nothing is lost beyond 2^53. */

/** An absolute time with every digit: the base and an offset are integers. */
export function absolute(base: bigint, offset: number): string {
  return (base + BigInt(Math.round(offset))).toLocaleString();
}

/** Offsets of decimal texts from the least of them, exact beyond 2^53. */
export function offsetsOf(stamps: readonly string[]): { readonly base: bigint; readonly offsets: number[] } {
  const values = stamps.map(BigInt);
  let base = values[0] ?? 0n;
  for (const value of values) if (value < base) base = value;
  return { base, offsets: values.map((value) => Number(value - base)) };
}

const TIME_UNITS: readonly [string, number][] = [
  ["ps", 1e-3],
  ["ns", 1],
  ["µs", 1e3],
  ["ms", 1e6],
  ["s", 1e9],
];

/** Labels for ticks at equal steps: one unit, and as many digits as tell neighbours apart. `ns` is the length of a unit, 0 for counts. */
export function tickLabels(ticks: readonly number[], ns: number): string[] {
  const largest = Math.max(...ticks.map(Math.abs), 0);
  const step = Math.abs((ticks[1] ?? largest) - (ticks[0] ?? 0)) || largest || 1;
  if (ns === 0) return ticks.map((tick) => grouped(tick, 0));
  const [unit, size] = TIME_UNITS.findLast(([, one]) => largest * ns >= one) ?? ["ns", 1];
  const digits = Math.min(Math.max(Math.ceil(-Math.log10((step * ns) / size) - 1e-9), 0), 9);
  return ticks.map((tick) => `${grouped((tick * ns) / size, digits)} ${unit}`);
}

function grouped(value: number, digits: number): string {
  return value.toLocaleString(undefined, { minimumFractionDigits: digits, maximumFractionDigits: digits });
}
