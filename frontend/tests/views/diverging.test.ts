import { expect, test } from "vitest";
import type { ComparedRow } from "../../src/lib/documents";
import { below, changeColour, diverging } from "../../src/views/diverging";
import { keyAbove } from "../../src/views/diverging_pane";

function row(key: string, a: number | null, b: number | null): ComparedRow {
  const state = a === null ? "removed" : b === null ? "added" : "both";
  const side = (value: number | null) => (value === null ? null : { time: value });
  return { key, a: side(a), b: side(b), delta: null, state };
}
const ROWS = [
  row("root", 100, 80),
  row("a", 60, 60),
  row("a/x", 20, 40),
  row("a/y", 40, null),
  row("b", 40, 20),
  row("c/deep/z", null, 10),
];

test("rows hang below the longest key that theirs begins with, as wide as the larger of both", () => {
  const { icicle } = diverging(ROWS, "time", false);
  const level = (depth: number) => icicle.rects.filter((rect) => rect[1] === depth && rect[0] >= 0);
  expect(
    level(1)
      .map(([id]) => ROWS[id]?.key)
      .sort(),
  ).toEqual(["a", "b", "c/deep/z"]);
  expect(
    level(2)
      .map(([id]) => icicle.names[id])
      .sort(),
  ).toEqual(["x", "y"]);
  for (const [, depth, from, to] of icicle.rects.filter((rect) => rect[1] > 0)) {
    const inside = level(depth - 1).some((above) => above[2] <= from + 1e-9 && to <= above[3] + 1e-9);
    expect(inside).toBe(true);
  }
});

test("what only one run has is all change, and a run beside itself is none", () => {
  expect(diverging(ROWS, "time", false).change).toEqual([0.2, 0, -0.5, 1, 0.5, -1]);
  expect(diverging([row("root", 5, 5)], "time", false).change).toEqual([0]);
});

test("a flat list is one level, and what is too narrow is folded", () => {
  const many = Array.from({ length: 2000 }, (_, k) => row(`op/${k}`, 1, 1));
  const { icicle } = diverging([row("root", 1_000_000, 0), row("big", 999_000, 0), ...many], "time", true);
  expect(icicle.depths).toBe(2);
  expect(icicle.rects.filter(([id]) => id < 0)).toEqual([
    [-1, 1, expect.any(Number), expect.any(Number), -1, -1, 2000],
  ]);
});

test("more is orange and less is blue in both themes", () => {
  for (const theme of ["light", "dark"] as const) {
    const channels = (change: number) => [...changeColour(change, theme).matchAll(/\d+/g)].map(Number);
    const [more, less] = [channels(1), channels(-1)];
    expect(more[0]).toBeGreaterThan(more[2] ?? 0);
    expect(less[2]).toBeGreaterThan(less[0] ?? 0);
  }
});

test("from a row on, the picture is that row's and the rows are those below it", () => {
  const { icicle } = diverging(ROWS, "time", false, 1);
  expect(icicle.rects.find(([, depth]) => depth === 0)).toEqual([1, 0, 0, 1, 1, 1, 0]);
  expect(icicle.rects.map(([id]) => ROWS[id]?.key).sort()).toEqual(["a", "a/x", "a/y"]);
  expect(below(ROWS, 1, false).map(({ key }) => key)).toEqual(["a", "a/x", "a/y"]);
  expect(below(ROWS, -1, false)).toBe(ROWS);
  expect(below(ROWS, 0, false)).toBe(ROWS);
});

test("one level up leads to the parent, and from the top to the root", () => {
  expect(keyAbove(ROWS, 2, false)).toBe("a");
  expect(keyAbove(ROWS, 1, false)).toBe("");
  expect(keyAbove(ROWS, 2, true)).toBe("");
  expect(keyAbove(ROWS, -1, false)).toBe("");
});
