import { describe, expect, test } from "vitest";
import { INITIAL_STATE } from "../../src/lib/state";
import { throughputAddress } from "../../src/throughput";
import type { SeriesDocument } from "../../src/throughput/document";
import {
  Axis,
  interpolate,
  labels,
  seriesLines,
  seriesMarks,
  seriesSpans,
  stepTimeLine,
  timesBaseline,
  xKinds,
} from "../../src/throughput/lines";

const START = 1_795_985_530_000_000_001n; // Beyond 2^53, where floats would lose the nanoseconds.
const stamp = (seconds: number) => String(START + BigInt(seconds * 1e9));

function series(more: Partial<SeriesDocument> = {}): SeriesDocument {
  const average = { label: "", per_sec: null };
  return {
    run: "a",
    name: "train",
    rank: null,
    unit: "samples",
    smoothing: 0.4,
    sampling_rule: "every 10 steps",
    measured_at: "",
    clock: "unix",
    recorded_points: 4,
    step: [10, 20, 15, 30],
    time_ns: [0, 1, 2, 3].map(stamp),
    total: [1, 2, 3, 4],
    local_samples_per_sec: [1, 2, 3, null],
    avg_samples_per_sec: [1, 1.5, 2, 2.5],
    spans: [],
    annotations: [],
    statistics: {
      samples_to_date: 4,
      last_step: 30,
      whole_time: average,
      windowed: average,
      training_only: average,
      steps_per_sec: null,
      step_time: null,
      data_wait_share: null,
      mfu: null,
      time_left_ns: null,
    },
    problems: [],
    ...more,
  };
}

describe("lines", () => {
  test("ascend in x, though a resumed run goes back in steps", () => {
    const [local, avg] = seriesLines(series(), "a", "red", "step", "both");
    expect(local).toMatchObject({ label: "a local", x: [10, 15, 20, 30], y: [1, 3, 2, null], dashed: false });
    expect(avg).toMatchObject({ label: "a avg", dashed: true });
  });

  test("keep the last of points at one step", () => {
    const [line] = seriesLines(series({ step: [10, 20, 20, 30] }), "a", "red", "step", "local");
    expect(line).toMatchObject({ x: [10, 20, 30], y: [1, 3, null] });
  });

  test("leave out points whose step is not known", () => {
    const [line] = seriesLines(series({ step: [null, 20, 25, 30] }), "a", "red", "step", "local");
    expect(line?.x).toEqual([20, 25, 30]);
  });
});

test("time since the start is exact, whatever the stamps", () => {
  expect(new Axis(series(), "relative").points()).toEqual([0, 1, 2, 3]);
  expect(new Axis(series(), "relative").at(stamp(2.5))).toBe(2.5);
});

test("spans stand between the steps that they lie between", () => {
  const spans = [{ kind: "checkpoint", start_ns: stamp(0.5), end_ns: stamp(1), open: false }];
  const [span] = seriesSpans(series({ step: [10, 20, 30, 40], spans }), "step");
  expect(span).toMatchObject({ from: 15, to: 20, label: "checkpoint" });
});

test("a place outside of the points is at their end", () => {
  expect(interpolate([0, 1], [10, 20], 5)).toBe(20);
  expect(interpolate([0, 1], [10, 20], -5)).toBe(10);
});

test("wall time is offered only where all clocks have it, steps where any is known", () => {
  expect(xKinds([series()])).toEqual(["step", "samples", "relative", "wall"]);
  expect(xKinds([series(), series({ clock: "monotonic" })])).toEqual(["step", "samples", "relative"]);
  expect(xKinds([series(), series({ clock: "", time_ns: [] })])).toContain("wall");
  expect(xKinds([series({ step: [null] })])).toEqual(["samples", "relative", "wall"]);
  expect(xKinds([series({ total: [0, 0] })])).toEqual(["step", "relative", "wall"]);
});

test("series are called by their run, and by what tells them apart", () => {
  expect(labels([series(), series({ run: "b" })])).toEqual(["a", "b"]);
  expect(labels([series(), series({ name: "eval" }), series({ run: "b" })])).toEqual(["a · train", "a · eval", "b"]);
  expect(labels([series({ rank: 0 }), series({ rank: 1 })])).toEqual(["a · rank 0", "a · rank 1"]);
});

test.each([
  [1, 4000],
  [40, 2000],
  [5000, 300],
])("%d runs are asked for with %d points each", (runs, points) => {
  expect(throughputAddress(INITIAL_STATE, runs)).toBe(`throughput?points=${points}`);
});

test("over samples, a moment stands between the totals around it", () => {
  const axis = new Axis(series({ total: [0, 100, 300, 400] }), "samples");
  expect(axis.points()).toEqual([0, 100, 300, 400]);
  expect(axis.at(stamp(1.5))).toBe(200);
});

test("a line as a multiple of the baseline's is nothing where the baseline is nothing", () => {
  const line = { label: "a", colour: "red", x: [0, 5, 10, 30], y: [10, 30, null, 40] };
  const base = { label: "b", colour: "blue", x: [0, 10, 20], y: [10, 20, 30] };
  expect(timesBaseline([line], [base])[0]?.y).toEqual([1, 2, null]);
  expect(timesBaseline([base], [base])[0]?.y).toEqual([1, 1, 1]);
});

test("the histogram of step times is stairs of shares over the logarithm of the time", () => {
  const histogram = { edge_ns: [10, 100, 1000], count: [3, 1] };
  const step_time = { count: 4, mean_ns: 1, p50_ns: 1, p95_ns: 1, max_ns: 1, histogram };
  const [line] = stepTimeLine(series({ statistics: { ...series().statistics, step_time } }), "a", "red");
  expect(line?.x.map(Math.round)).toEqual([1, 2, 2, 3]);
  expect(line?.y).toEqual([0.75, 0.75, 0.25, 0.25]);
  expect(stepTimeLine(series(), "a", "red")).toEqual([]);
});

test("found pauses are stretches in the chart, resets lines, and what is about the whole run is not in it", () => {
  const annotation = { title: "", text: "", step: null };
  const marked = series({
    annotations: [
      { ...annotation, kind: "aliasing", start_ns: null, end_ns: null },
      { ...annotation, kind: "stall", title: "Stall", start_ns: stamp(1), end_ns: stamp(2) },
      { ...annotation, kind: "reset", title: "Reset", start_ns: stamp(3), end_ns: null },
      { ...annotation, kind: "checkpoint", start_ns: stamp(1), end_ns: stamp(2) },
    ],
  });
  expect(seriesMarks(marked, "relative")).toMatchObject([
    { from: 1, to: 2, label: "Stall", line: false },
    { from: 3, to: 3, label: "Reset", line: true },
  ]);
});
