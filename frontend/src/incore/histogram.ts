/** How figures of invocations are spread. */

export interface Bin {
  readonly from: number;
  readonly to: number;
  readonly count: number;
  /** One invocation of the bin: the first. */
  readonly invocation: number;
}

export interface Spread {
  readonly bins: readonly Bin[];
  readonly low: number;
  readonly high: number;
  readonly n: number;
  /** How many are less than a figure. */
  below(figure: number): number;
}

/** Bins of equal whole width from the least to the largest; null where no figure is usable. */
export function histogram(figures: readonly (number | null)[], most: number): Spread | null {
  const known = figures.flatMap((value, invocation) => (value === null ? [] : [{ value, invocation }]));
  if (known.length === 0) return null;
  const low = known.reduce((least, { value }) => Math.min(least, value), Number.POSITIVE_INFINITY);
  const high = known.reduce((largest, { value }) => Math.max(largest, value), Number.NEGATIVE_INFINITY);
  const width = Math.max(Math.ceil((high - low + 1) / most), 1);
  const bins = Array.from({ length: Math.ceil((high - low + 1) / width) }, (_, k) => ({
    from: low + k * width,
    to: low + (k + 1) * width - 1,
    count: 0,
    invocation: -1,
  }));
  for (const { value, invocation } of known) {
    const bin = bins[Math.floor((value - low) / width)];
    if (bin === undefined) continue;
    if (bin.count === 0) bin.invocation = invocation;
    bin.count++;
  }
  const below = (figure: number) => known.reduce((count, { value }) => count + Number(value < figure), 0);
  return { bins, low, high, n: known.length, below };
}
