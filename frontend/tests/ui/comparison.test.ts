import { expect, test } from "vitest";
import type { ComparedRow } from "../../src/lib/documents";
import { comparedFigures, countOf, deltaOf, sideOf } from "../../src/ui/comparison";

const both: ComparedRow = { key: "mm", a: { t: 6, n: 1 }, b: { t: 4 }, delta: { t: 2, word: "x" }, state: "both" };
const added: ComparedRow = { key: "add", a: { t: 6 }, b: null, delta: {}, state: "added" };
const removed: ComparedRow = { key: "sub", a: null, b: { t: 4 }, delta: {}, state: "removed" };

test("figures are those that rows were compared by", () => {
  expect(comparedFigures({ a: "", b: "", rows: [both], unmatched_share: 0 })).toEqual(["t"]);
});

test("a side that a row is not on has no figure, and the difference is all of it", () => {
  const [a, b] = [sideOf("a", "t", 1), sideOf("b", "t", 1)];
  const difference = [both, added, removed].map((row) => deltaOf(row, a(row), b(row)));
  expect(b(added)).toBeNull();
  expect(difference).toEqual([2, 6, -4]);
});

test("medians that are kept twice are shown once", () => {
  expect(sideOf("a", "t", 0.5)(both)).toBe(3);
});

test("says how many rows are shown, and of how many", () => {
  const document = { a: "", b: "", rows: [both, added, removed], unmatched_share: 0 };
  expect(countOf(3, document)).toBe("3 rows");
  expect(countOf(1, document)).toBe("1 row of 3");
  expect(countOf(3, { ...document, rows_total: 9000 })).toBe("3 rows of 9,000: those that differ most are here");
});
