import { expect, test } from "vitest";
import type { TimelineBlock, TimelineDocument } from "../../src/trace/documents";
import { arrowsOf, askedWindow, blockKey, spliced, traceLanes } from "../../src/trace/trace_lanes";

const drawn = (start: number, end: number, id: number) => ({ start, end, kind: 0, id });

function timeline(start: number, end: number, blocks: readonly TimelineBlock[]): TimelineDocument {
  return {
    start_ps: start,
    end_ps: end,
    first_ps: 0,
    last_ps: 100,
    lanes: [{ id: 3, device: "GPU0", name: "stream 7", kind: "accelerator", levels: 1, blocks }],
    names: ["a", "b"],
    counters: [],
  };
}

test("fine blocks stand in their window, coarse ones around it and cut at its edges", () => {
  const coarse = [drawn(0, 30, 1), drawn(40, 70, 2), drawn(80, 90, 3)];
  const fine = [drawn(45, 50, 5), drawn(55, 58, 6)];
  expect(spliced(coarse, fine, [42, 60])).toEqual([
    drawn(0, 30, 1),
    drawn(40, 42, 2),
    drawn(45, 50, 5),
    drawn(55, 58, 6),
    drawn(60, 70, 2),
    drawn(80, 90, 3),
  ]);
});

test("a fine block that reaches out of its window is drawn once", () => {
  expect(spliced([drawn(0, 100, 1)], [drawn(0, 100, 1)], [40, 60])).toEqual([drawn(0, 100, 1)]);
});

test("times of a window are put back into those of the whole", () => {
  const whole = timeline(0, 100, [[0, 0, 50, 0, 0, 9, 4]]);
  const part = timeline(20, 40, [[0, 5, 3, 1, 0, 1, 6]]);
  const { lanes, kinds, merged } = traceLanes(whole, part);
  expect(lanes[0]?.tracks[0]?.start).toEqual([0, 25, 40]);
  expect(lanes[0]?.tracks[0]?.end).toEqual([20, 28, 50]);
  expect(kinds.map(({ name }) => name)).toEqual(["a", "b"]);
  expect(merged.get(blockKey(4, 0))).toBe(9);
});

test("arrows go from the call to what it launched, and in dashes to the backward call", () => {
  const moment = (lane: number, start_ps: number, level: number) => ({
    id: 1,
    name: "",
    category: "",
    lane,
    start_ps,
    duration_ps: 1,
    level,
  });
  const arrows = [
    { kind: "launch" as const, from: moment(0, 5, 2), to: moment(3, 9, 0), delay_ps: 3 },
    { kind: "backward" as const, from: moment(0, 5, 1), to: moment(0, 50, 2), delay_ps: 3 },
  ];
  const event = { ...moment(0, 5, 1), self_ps: 1, step: null, input_shape: "", attributes: {}, arrows };
  expect(arrowsOf(event)).toEqual([
    { from: { lane: "0", at: 5, track: 2 }, to: { lane: "3", at: 9, track: 0 }, dashed: false },
    { from: { lane: "0", at: 5, track: 1 }, to: { lane: "0", at: 50, track: 2 }, dashed: true },
  ]);
  expect(arrowsOf(null)).toEqual([]);
});

test("counters stand above the streams of their device, finer in the window, those of one scale on one lane", () => {
  const counters = (device: string, scale: number) => [
    { device, what: "utilization", values: [0, scale] },
    { device, what: "allocated", allocator: "", values: [null, scale * 1000] },
    { device, what: "reserved", allocator: "", values: [2048, 2048] },
  ];
  const whole = { ...timeline(0, 100, []), counters: [...counters("GPU0", 1), ...counters("GPU1", 1)] };
  const part = { ...timeline(50, 100, []), counters: counters("GPU0", 0.5) };
  const { lanes } = traceLanes(whole, part);
  expect(lanes.map(({ group, label }) => `${group} ${label}`)).toEqual([
    "GPU0 utilization",
    "GPU0 memory",
    "GPU0 stream 7",
    "GPU1 utilization",
    "GPU1 memory",
  ]);
  const [busy, memory] = lanes;
  expect(busy?.curves?.map(({ start, end, value }) => ({ start, end, value }))).toEqual([
    { start: [0, 50, 75], end: [50, 75, 100], value: [0, 0, 0.5] },
  ]);
  expect(memory?.curves?.map(({ label, dashed }) => [label, dashed])).toEqual([
    ["allocated", false],
    ["reserved", true],
  ]);
});

test("a window is asked for with as much again on both sides", () => {
  expect(askedWindow([10, 20])).toEqual([0, 30]);
});
