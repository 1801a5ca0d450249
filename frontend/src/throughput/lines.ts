/** Series as lines of a chart: x in steps or samples, in seconds since the start, or in seconds of the wall clock. */

import type { Figure } from "../lib/documents";
import { lowerBound } from "../lib/plot";
import type { PanelState } from "../lib/state";
import type { Line, Span } from "../ui/chart_lines";
import type { SeriesDocument } from "./document";

export type XKind = PanelState["x"];

const SPAN_HUES: Readonly<Record<string, string>> = {
  checkpoint: "#7a5cd6",
  evaluation: "#1f8f76",
  compile: "#b3702d",
  data: "#b8475f",
  profile: "#5f6b7a",
};

const MARK_HUES: Readonly<Record<string, string>> = {
  first_step: "#b3702d",
  stall: "#c2410c",
  burst: "#b58900",
  reset: "#7c8694",
  resume: "#7c8694",
  clock_step: "#7c8694",
};
const MOMENTS = ["reset", "resume", "clock_step"];

/** What a series is called: its run, and what tells it from the run's other series. */
export function labels(series: readonly SeriesDocument[]): string[] {
  const namesOf = (run: string) => new Set(series.filter((one) => one.run === run).map((one) => one.name));
  const plain = series.map(({ run, name }) =>
    [run === "." ? "" : run, namesOf(run).size > 1 ? name : ""].filter(Boolean).join(" · "),
  );
  return series.map(({ rank, name }, at) => {
    const label = plain[at] || name;
    const repeated = plain.filter((other) => other === plain[at]).length > 1;
    return repeated && rank !== null ? `${label} · rank ${rank}` : label;
  });
}

/** Which x a series can be drawn over. */
export function xKinds(series: readonly SeriesDocument[]): XKind[] {
  const steps = series.some(({ step }) => step.some((value) => value !== null));
  // A series that has only begun has no clock yet.
  const wall = series.every(({ clock, time_ns }) => clock === "unix" || time_ns.length === 0);
  // Where the source states rates and no counts, all totals are 0.
  const counted = series.some(({ total }) => total.some((value) => value > 0));
  return [
    ...(steps ? (["step"] as const) : []),
    ...(counted ? (["samples"] as const) : []),
    "relative",
    ...(wall ? (["wall"] as const) : []),
  ];
}

/** Turns an absolute stamp into x. Stamps are beyond 2^53, so they are subtracted before they become numbers. */
export class Axis {
  private readonly seconds: number[];
  private readonly origin: bigint;

  constructor(
    private readonly series: SeriesDocument,
    private readonly kind: XKind,
  ) {
    this.origin = BigInt(series.time_ns[0] ?? 0);
    this.seconds = series.time_ns.map((stamp) => this.since(stamp));
  }

  points(): Figure[] {
    if (this.kind === "step") return [...this.series.step];
    if (this.kind === "samples") return [...this.series.total];
    return this.kind === "relative" ? this.seconds : this.series.time_ns.map((stamp) => Number(stamp) / 1e9);
  }

  /** Where a moment stands; on an axis of steps or samples between those around it. */
  at(stamp: string): number | null {
    if (this.kind === "wall") return Number(stamp) / 1e9;
    const seconds = this.since(stamp);
    if (this.kind === "relative") return seconds;
    return interpolate(this.seconds, this.kind === "step" ? this.series.step : this.series.total, seconds);
  }

  private since(stamp: string): number {
    return Number(BigInt(stamp) - this.origin) / 1e9;
  }
}

/** The value at x between the points around it, the nearest end's outside of them. */
export function interpolate(xs: readonly number[], ys: readonly Figure[], x: number): Figure {
  const after = lowerBound(xs, x);
  if (after >= xs.length) return ys.at(-1) ?? null;
  const [y1, y0] = [ys[after] ?? null, ys[after - 1] ?? null];
  const [x1, x0] = [xs[after] ?? x, xs[after - 1] ?? x];
  if (y1 === null || y0 === null || x1 === x0) return y1;
  return y0 + ((x - x0) / (x1 - x0)) * (y1 - y0);
}

/** The lines of a series: Rate as measured, GlobalRate dashed. */
export function seriesLines(
  series: SeriesDocument,
  label: string,
  colour: string,
  x: XKind,
  rate: PanelState["rate"],
): Line[] {
  const points = new Axis(series, x).points();
  const order = ascending(points);
  const line = (name: string, y: readonly Figure[], dashed: boolean): Line => ({
    label: `${label} ${name}`,
    colour,
    x: order.map((at) => points[at] ?? 0),
    y: order.map((at) => y[at] ?? null),
    dashed,
  });
  const lines: Line[] = [];
  if (rate !== "avg") lines.push(line("local", series.local_samples_per_sec, false));
  if (rate !== "local") lines.push(line("avg", series.avg_samples_per_sec, rate === "both"));
  return lines;
}

/** Each line as a multiple of the baseline's at the same x, where the baseline has one. */
export function timesBaseline(lines: readonly Line[], baseline: readonly Line[]): Line[] {
  return lines.map((line, at) => {
    const base = baseline[at];
    const [first, last] = [base?.x[0] ?? 0, base?.x.at(-1) ?? -1];
    const inside = line.x.flatMap((x, point) => (first <= x && x <= last ? [point] : []));
    const x = inside.map((point) => line.x[point] ?? 0);
    const y = inside.map((point) => {
      const value = line.y[point] ?? null;
      const rate = base === undefined ? null : interpolate(base.x, base.y, line.x[point] ?? 0);
      return value === null || !rate ? null : value / rate;
    });
    return { ...line, x, y };
  });
}

/** How many of the steps take how long, as stairs over the logarithm of the time: shares, so that runs compare. */
export function stepTimeLine({ statistics }: SeriesDocument, label: string, colour: string): Line[] {
  const { histogram, count } = statistics.step_time ?? {};
  if (!histogram || !count) return [];
  const x: number[] = [];
  const y: number[] = [];
  histogram.count.forEach((steps, bin) => {
    x.push(Math.log10(histogram.edge_ns[bin] ?? 1), Math.log10(histogram.edge_ns[bin + 1] ?? 1));
    y.push(steps / count, steps / count);
  });
  return [{ label, colour, x, y }];
}

/** Indices with a known x, in its order: a resumed run goes back in steps. Of equal x the last one stands. */
function ascending(points: readonly Figure[]): number[] {
  const known = points.flatMap((x, at) => (x === null ? [] : [at]));
  known.sort((p, q) => (points[p] ?? 0) - (points[q] ?? 0) || p - q);
  return known.filter((at, k) => k + 1 === known.length || points[at] !== points[known[k + 1] ?? -1]);
}

export function seriesSpans(series: SeriesDocument, x: XKind): Span[] {
  const axis = new Axis(series, x);
  return series.spans.flatMap(({ kind, start_ns, end_ns, open }) => {
    const [from, to] = [axis.at(start_ns), axis.at(end_ns)];
    if (from === null || to === null) return [];
    return [{ from, to, label: open ? `${kind} (still open)` : kind, colour: spanColour(kind) }];
  });
}

/** Disturbances that are no spans: found pauses as stretches, and moments such as a reset as lines. */
export function seriesMarks(series: SeriesDocument, x: XKind): Span[] {
  const axis = new Axis(series, x);
  return series.annotations.flatMap(({ kind, title, start_ns, end_ns }) => {
    const colour = MARK_HUES[kind];
    const from = start_ns === null ? null : axis.at(start_ns);
    if (colour === undefined || from === null) return [];
    const to = end_ns === null ? from : (axis.at(end_ns) ?? from);
    return [{ from, to, label: title, colour, line: MOMENTS.includes(kind) }];
  });
}

export function spanColour(kind: string): string {
  return SPAN_HUES[kind] ?? "#7c8694";
}
