import { describe, expect, test } from "vitest";
import {
  clockTicks,
  linearScale,
  linearTicks,
  logScale,
  logTicks,
  lowerBound,
  nearestPoint,
  xDomain,
  yDomain,
} from "../../src/lib/plot";

describe("scales", () => {
  test.each([linearScale([0, 50], 10, 110), logScale([1, 1000], 300, 0)])("invert what they map", (scale) => {
    for (const value of [1, 10, 42]) expect(scale.invert(scale.at(value))).toBeCloseTo(value, 9);
  });

  test("a logarithm of nothing is at the bottom, not nowhere", () => {
    expect(Number.isFinite(logScale([1, 10], 100, 0).at(0))).toBe(true);
  });
});

describe("domains", () => {
  const line = { x: [0, 1, 2, 3], y: [5, null, 100, 7] };

  test("of x are those of all lines, and never empty", () => {
    expect(xDomain([line, { x: [-2], y: [1] }])).toEqual([-2, 3]);
    expect(xDomain([])).toEqual([0, 1]);
    expect(xDomain([{ x: [4], y: [1] }])).toEqual([3.5, 4.5]);
  });

  test("of y hold every point in sight, from zero where that is near", () => {
    const [low, high] = yDomain([line], [0, 3], false);
    expect(low).toBe(0);
    expect(high).toBeGreaterThan(100);
    expect(yDomain([{ x: [0, 1], y: [100, 101] }], [0, 1], false)[0]).toBeGreaterThan(90);
    expect(yDomain([line], [0, 3], true)[0]).toBeGreaterThan(0);
  });
});

test("a rate that never changes is a level line in the middle of some room", () => {
  const [low, high] = yDomain([{ x: [0, 1], y: [640, 640.0000000000001] }], [0, 1], false);
  expect(high - low).toBeGreaterThan(0.01);
  expect(yDomain([{ x: [0], y: [0] }], [0, 1], false)[1]).toBeGreaterThan(0);
});

describe("ticks", () => {
  test("are round numbers inside the domain", () => {
    expect(linearTicks([0, 1064], 6)).toEqual([0, 200, 400, 600, 800, 1000]);
    expect(linearTicks([0.1, 0.5], 4)).toEqual([0.1, 0.2, 0.3, 0.4, 0.5]);
    expect(linearTicks([0, 3], 10, true)).toEqual([0, 1, 2, 3]);
  });

  test.each([
    [640, 640.0000000000001],
    [1e300, 1e300],
    [-Number.MAX_VALUE, Number.MAX_VALUE],
    [Number.NaN, 1],
  ])("end, however odd the domain from %d to %d is", (low, high) => {
    expect(linearTicks([low, high], 5).length).toBeLessThan(100);
    expect(logTicks([Math.abs(low), high]).length).toBeLessThan(700);
  });

  test("of a logarithm are powers of ten, and more where those are few", () => {
    expect(logTicks([1, 1e6])).toEqual([1, 10, 100, 1e3, 1e4, 1e5, 1e6]);
    expect(logTicks([1, 20])).toEqual([1, 2, 5, 10, 20]);
  });

  test("of a clock stand at round minutes", () => {
    expect(clockTicks([0, 600], 5)).toEqual([0, 120, 240, 360, 480, 600]);
  });
});

test("the nearest point leaves out gaps", () => {
  const line = { x: [0, 10, 20, 30], y: [1, null, 3, 4] };
  expect(nearestPoint(line, 11)).toEqual({ x: 20, y: 3 });
  expect(nearestPoint(line, 4)).toEqual({ x: 0, y: 1 });
  expect(nearestPoint(line, 99)).toEqual({ x: 30, y: 4 });
  expect(nearestPoint({ x: [], y: [] }, 1)).toBeNull();
});

test("the lower bound is the first that is at least so large", () => {
  expect([0, 1, 2, 5, 9].map((x) => lowerBound([1, 2, 2, 5], x))).toEqual([0, 0, 1, 3, 4]);
});
