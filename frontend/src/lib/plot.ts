/** The geometry of a line chart: domains, scales, ticks, and the points near a place. */

export type Domain = readonly [number, number];

const LEVEL = 1e-3;

/** A line's points; x ascending, y null where there is a gap. */
export interface Points {
  readonly x: readonly number[];
  readonly y: readonly (number | null)[];
}

/** Maps a domain to pixels. */
export interface Scale {
  readonly domain: Domain;
  at(value: number): number;
  invert(pixel: number): number;
}

export function linearScale(domain: Domain, from: number, to: number): Scale {
  const [low, high] = domain;
  const factor = (to - from) / (high - low);
  return { domain, at: (value) => from + (value - low) * factor, invert: (pixel) => low + (pixel - from) / factor };
}

export function logScale(domain: Domain, from: number, to: number): Scale {
  const inner = linearScale([Math.log10(domain[0]), Math.log10(domain[1])], from, to);
  const floor = domain[0] / 1e3;
  return {
    domain,
    at: (value) => inner.at(Math.log10(Math.max(value, floor))),
    invert: (pixel) => 10 ** inner.invert(pixel),
  };
}

/** The first and last x of all lines; a unit length where they are one. */
export function xDomain(lines: readonly Points[]): Domain {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { x } of lines) {
    low = Math.min(low, x[0] ?? low);
    high = Math.max(high, x[x.length - 1] ?? high);
  }
  if (low > high) return [0, 1];
  return high > low ? [low, high] : [low - 0.5, high + 0.5];
}

/** The range of y within an x domain, with a margin. From zero where that costs little room, so that heights compare. */
export function yDomain(lines: readonly Points[], [from, to]: Domain, log: boolean): Domain {
  let [low, high] = [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY];
  for (const { x, y } of lines) {
    for (let at = Math.max(lowerBound(x, from) - 1, 0); at < x.length; at++) {
      const value = y[at];
      if (value !== null && value !== undefined && (!log || value > 0)) {
        low = Math.min(low, value);
        high = Math.max(high, value);
      }
      if ((x[at] ?? 0) > to) break;
    }
  }
  if (low > high) return log ? [1, 10] : [0, 1];
  if (log) return [low / 1.2, high * 1.2];
  const bottom = low >= 0 && low < 0.6 * high ? 0 : low;
  // What differs in its last digits only is a level line, not a rugged one.
  const least = Math.abs(high) * LEVEL || 1;
  const margin = Math.max(high - bottom, least) * 0.06;
  return [bottom === 0 ? 0 : bottom - margin, high + margin];
}

/** The index of the first value that is at least `wanted`. */
export function lowerBound(values: readonly number[], wanted: number): number {
  let [low, high] = [0, values.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((values[middle] ?? 0) < wanted) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The point of a line nearest to an x, gaps left out. */
export function nearestPoint({ x, y }: Points, wanted: number): { x: number; y: number } | null {
  const start = lowerBound(x, wanted);
  const point = (at: number, step: number) => {
    for (let i = at; i >= 0 && i < x.length; i += step) {
      const [px, py] = [x[i], y[i]];
      if (px !== undefined && py !== null && py !== undefined) return { x: px, y: py };
    }
    return null;
  };
  const [before, after] = [point(start - 1, -1), point(start, 1)];
  if (before === null || after === null) return before ?? after;
  return wanted - before.x <= after.x - wanted ? before : after;
}

/** About `count` round numbers in a domain: 1, 2 or 5 times a power of ten apart; whole numbers only on request. */
export function linearTicks([low, high]: Domain, count: number, whole = false): number[] {
  const rough = (high - low) / Math.max(count, 1);
  if (!(rough > 0)) return [low];
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((one) => one * power >= rough * 0.999) ?? 10;
  const step = whole ? Math.max(factor * power, 1) : factor * power;
  const first = Math.ceil(low / step - 1e-9);
  // A domain narrower than its numbers are exact has no round numbers inside.
  if (!Number.isSafeInteger(first)) return [low];
  const ticks: number[] = [];
  for (let k = first; k * step <= high + step * 1e-9; k++) ticks.push(Number((k * step).toPrecision(12)));
  return ticks;
}

/** Powers of ten in a domain, with 2 and 5 times them where there are few. */
export function logTicks([low, high]: Domain): number[] {
  const decades = Math.log10(high / low);
  if (decades < 0.7) return linearTicks([low, high], 5).filter((tick) => tick > 0);
  const factors = decades < 3 ? [1, 2, 5] : [1];
  const ticks: number[] = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++) {
    for (const factor of factors) ticks.push(Number((factor * 10 ** power).toPrecision(12)));
  }
  return ticks.filter((tick) => tick >= low && tick <= high);
}

const CLOCK_STEPS = [
  0.001, 0.01, 0.1, 1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 43200, 86400,
];

/** Ticks of seconds that stand at round minutes and hours. */
export function clockTicks([low, high]: Domain, count: number): number[] {
  const rough = (high - low) / Math.max(count, 1);
  const step = CLOCK_STEPS.find((one) => one >= rough);
  if (step === undefined || step < 1) return linearTicks([low, high], count);
  const ticks: number[] = [];
  for (let k = Math.ceil(low / step); k * step <= high; k++) ticks.push(k * step);
  return ticks;
}
