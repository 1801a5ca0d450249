import { expect, test } from "vitest";
import { alignedLanes, boundariesOf } from "../../src/incore/aligned";

const phases = (...cycles: number[]) => ["R-E", "B-R", "A-B"].map((name, at) => ({ name, cycles: cycles[at] ?? 0 }));
const SIDES = [
  { label: "this run", phases: phases(50, 10, 6) },
  { label: "baseline", phases: phases(80, 20, -4) },
];
const starts = (boundary: string) => alignedLanes(SIDES, boundary).lanes.map(({ tracks }) => tracks[0]?.start);

test("boundaries are named by the phases between them", () => {
  expect(boundariesOf(phases(1, 2, 3))).toEqual(["E", "R", "B", "A"]);
  expect(boundariesOf([{ name: "start → qk_done", cycles: 1 }])).toEqual(["start", "qk_done"]);
  expect(boundariesOf([])).toEqual([]);
});

test("two kernels start together, or meet at a later boundary", () => {
  expect(starts("E")).toEqual([
    [0, 50, 60],
    [0, 80],
  ]);
  expect(starts("B")[0]).toEqual([-60, -10, 0]);
});

test("a phase that is negative lies on a track of its own, over the one before it", () => {
  const [, baseline] = alignedLanes(SIDES, "B").lanes;
  expect(baseline?.tracks.map(({ start, end }) => [start[0], end[0]])).toEqual([
    [-100, -20],
    [-4, 0],
  ]);
});

test("a phase has one kind and one id in both, so that it is selected in both", () => {
  const { lanes, kinds } = alignedLanes(SIDES, "E");
  expect(kinds.map(({ name }) => name)).toEqual(["R-E", "B-R", "A-B"]);
  expect(lanes.map(({ tracks }) => tracks.flatMap(({ id }) => id))).toEqual([
    [0, 1, 2],
    [0, 1, 2],
  ]);
});
