import { expect, test } from "vitest";
import type { TimelineBlock, TimelineDocument } from "../../src/views/panes/documents";
import { askedWindow, blockKey, launchArrows, spliced, traceLanes } from "../../src/views/panes/trace_lanes";

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

test("arrows go from the call to what it launched", () => {
  const moment = (lane: number, start_ps: number) => ({
    id: 1,
    name: "",
    category: "",
    lane,
    start_ps,
    duration_ps: 1,
  });
  const arrows = [{ from: moment(0, 5), to: moment(3, 9), delay_ps: 3 }];
  const event = { ...moment(0, 5), self_ps: 1, step: null, input_shape: "", attributes: {}, arrows };
  expect(launchArrows(event)).toEqual([{ from: { lane: "0", at: 5 }, to: { lane: "3", at: 9 } }]);
  expect(launchArrows(null)).toEqual([]);
});

test("a window is asked for with as much again on both sides", () => {
  expect(askedWindow([10, 20])).toEqual([0, 30]);
});
