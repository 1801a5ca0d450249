import { expect, test } from "vitest";
import { type Curve, mostOf, valueAt } from "../../src/lib/curves";

const curve = (value: (number | null)[]): Curve => ({
  label: "allocated",
  start: value.map((_, at) => at * 10),
  end: value.map((_, at) => at * 10 + 10),
  value,
  ink: 0,
  text: String,
});

test("a value holds from its start to its end", () => {
  const stairs = curve([null, 3, 7]);
  expect([-1, 5, 10, 19, 25, 31].map((time) => valueAt(stairs, time))).toEqual([null, null, 3, 3, 7, null]);
});

test("curves of a lane share the scale of the highest", () => {
  expect(mostOf([curve([1, null]), curve([4, 2])])).toBe(4);
  expect(mostOf([curve([null])])).toBe(0);
});
