import { expect, test } from "vitest";
import type { InCoreDocument } from "../../src/incore/document";
import { histogram } from "../../src/incore/histogram";
import { blockAtBoundary, phaseLanes } from "../../src/incore/phase_lanes";
import { unitsOf } from "../../src/incore/units";
import { blockAt } from "../../src/lib/lanes";

const DETAIL = {
  base: "86702071000000",
  clock_freq_hz: 50_000_000,
  cores: [
    { slot: 0, name: "AIC_0", engine: "aic" },
    { slot: 1, name: "AIV_1", engine: "aiv" },
    { slot: 2, name: "AIV_2", engine: "aiv" },
  ],
  boundaries: ["E", "R", "B", "A", "F"].map((name, at) => ({
    name,
    reduce: at % 3 === 0 ? "min" : "max",
    kind: "unknown",
    deciding_slots: [[0], [1], [1], [0], [2]][at] ?? [],
  })),
  lanes: [
    { slot: 2, stamps: [9, 70, 75, 102, 200] },
    { slot: 0, stamps: [0, null, 40, 100, 190] },
    { slot: 1, stamps: [5, 80, 90, 105, 180] },
  ],
};
const DOCUMENT: InCoreDocument = {
  status: "ok",
  partition: { "R-E": 80, "B-R": 10, "A-B": 10, "F-A": 100 },
  total: 200,
  detail: DETAIL,
};
const found = phaseLanes(DOCUMENT, DETAIL);

test("the envelope stands first, then AIC before AIV with how many there are", () => {
  expect(found.lanes.map(({ label, group }) => [label, group])).toEqual([
    ["envelope", ""],
    ["AIC_0", "AIC · 1"],
    ["AIV_2", "AIV · 2"],
    ["AIV_1", "AIV · 2"],
  ]);
});

test("the envelope is the partition, end to end", () => {
  const [track] = found.lanes[0]?.tracks ?? [];
  expect(track?.start).toEqual([0, 80, 90, 100]);
  expect(track?.end).toEqual([80, 90, 100, 200]);
});

test("within the task's own bounds the envelope starts before the first boundary", () => {
  const l2 = { ordered: true, total: 208, partition: { "E-M0": 8, ...DOCUMENT.partition } };
  const [track] = phaseLanes({ ...DOCUMENT, l2 }, DETAIL).lanes[0]?.tracks ?? [];
  expect(track?.start[0]).toBe(-8);
});

test("a core that produces nothing has one block from its entry to its arrival, and its wait is striped", () => {
  const [track] = found.lanes[1]?.tracks ?? [];
  if (track === undefined) throw new Error("no track");
  const kinds = track.kind.map((kind) => found.kinds[kind]);
  expect(kinds.map((kind) => kind?.name)).toEqual(["B-E", "A-B", "F-A"]);
  expect(kinds.map((kind) => kind?.striped === true)).toEqual([false, true, false]);
  expect(found.blocks[blockAt(track, 0).id]?.key).toBe("0/B-E");
});

test("deciding stamps are marked by name on their lane", () => {
  expect(found.marks).toEqual([
    { lane: "0", at: 0, text: "E" },
    { lane: "1", at: 80, text: "R" },
    { lane: "1", at: 90, text: "B" },
    { lane: "0", at: 100, text: "A" },
    { lane: "2", at: 200, text: "F" },
  ]);
});

test("a slot at a boundary leads to the block that ends there, else to the one that starts there", () => {
  expect(blockAtBoundary(found, 1, 90)?.key).toBe("1/B-R");
  expect(blockAtBoundary(found, 0, 0)?.key).toBe("0/B-E");
});

test("lengths are counts, and time where the clock is known", () => {
  const cycles = unitsOf(DOCUMENT, false);
  expect([cycles.say(1500), cycles.exact(-60), cycles.ns]).toEqual(["1,500 cycles", "−60 cycles · −1.200 µs", 0]);
  expect(unitsOf(DOCUMENT, true).say(1500)).toBe("30.000 µs");
  const unknown = unitsOf({ status: "ok", detail: {} }, true);
  expect([unknown.say(7), unknown.exact(7), unknown.clock]).toEqual(["7 cycles", "7 cycles", "clock unknown"]);
});

test("a histogram has every usable figure in one bin, and leads to the first of each", () => {
  const spread = histogram([10, null, 19, 12, 12], 5);
  expect(spread?.bins.map(({ from, to, count, invocation }) => [from, to, count, invocation])).toEqual([
    [10, 11, 1, 0],
    [12, 13, 2, 3],
    [14, 15, 0, -1],
    [16, 17, 0, -1],
    [18, 19, 1, 2],
  ]);
  expect([spread?.n, spread?.below(12)]).toEqual([4, 1]);
  expect(histogram([null], 5)).toBeNull();
});
