import { expect, test } from "vitest";
import type { IcicleRect } from "../../src/lib/documents";
import { hitRect, neighbour } from "../../src/lib/rects";

const RECTS: IcicleRect[] = [
  [0, 0, 0, 1, 0, 0, 0],
  [1, 1, 0, 0.6, 1, 1, 0],
  [5, 1, 0.6, 0.9, 2, 1, 0],
  [-1, 1, 0.9, 1, -1, -1, 12],
  [2, 2, 0, 0.2, 3, 1, 0],
];

test("a place is in at most one rectangle", () => {
  expect(hitRect(RECTS, 1, 0.6)?.[0]).toBe(5);
  expect(hitRect(RECTS, 1, 0.95)?.[6]).toBe(12);
  expect(hitRect(RECTS, 2, 0.5)).toBeNull();
});

test.each([
  ["ArrowDown", 0, 1],
  ["ArrowDown", 1, 2],
  ["ArrowDown", 5, null],
  ["ArrowRight", 1, 5],
  ["ArrowRight", 5, null],
  ["ArrowLeft", 5, 1],
  ["ArrowUp", 2, 1],
  ["ArrowUp", 0, null],
  ["ArrowUp", 99, 0],
  ["x", 0, null],
])("%s from %d leads to %s", (key, from, to) => {
  expect(neighbour(RECTS, from, key)).toBe(to);
});
