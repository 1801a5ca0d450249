import { expect, test } from "vitest";
import type { ComparedRow } from "../../src/lib/documents";
import { courseOf } from "../../src/views/course";

const row = (key: string, a: number | null, b: number | null, own = 0): ComparedRow => {
  const side = (value: number | null) => (value === null ? null : { total_exec_micros: value, exec_micros: own });
  return { key, a: side(a), b: side(b), delta: {}, state: "both" } as unknown as ComparedRow;
};

const ROWS = [
  row("_TFProfRoot", 100, 90),
  row("forward", 50, 40, 5),
  row("data", 10, 30),
  row("forward/mm", 45, 35),
  row("backward", 40, null),
];
const ORDER = ["data", "forward", "backward"];

test("parts stand in order of time, and their differences add up to that of the whole", () => {
  const parts = courseOf(ROWS, 0, "total_exec_micros", ORDER);
  expect(parts.map(({ name, a, b, accumulated }) => [name, a, b, accumulated])).toEqual([
    ["data", 10, 30, -20],
    ["forward", 50, 40, -10],
    ["backward", 40, 0, 30],
  ]);
  expect(parts.map(({ opens }) => opens)).toEqual([false, true, false]);
});

test("what a scope spends itself is its last part", () => {
  const parts = courseOf(ROWS, 1, "total_exec_micros", ["forward/mm"]);
  expect(parts.map(({ name, a, b }) => [name, a, b])).toEqual([
    ["forward/mm", 45, 35],
    ["itself", 5, 5],
  ]);
});

test("small parts are taken together and nothing is left out", () => {
  const many = [row("_TFProfRoot", 0, 0), ...Array.from({ length: 100 }, (_, at) => row(`op${at}`, at, 1))];
  const parts = courseOf(many, 0, "total_exec_micros", []);
  expect(parts).toHaveLength(49);
  expect(parts[parts.length - 1]?.name).toBe("52 others");
  expect(parts[parts.length - 1]?.accumulated).toBe((99 * 100) / 2 - 100);
});
