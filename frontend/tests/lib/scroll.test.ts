import { describe, expect, test } from "vitest";
import { contentHeight, firstInSight, scrollTopFor, scrollTopOf, visibleRows } from "../../src/lib/scroll";

const SHORT = { rows: 1000, rowHeight: 20, viewHeight: 400 };
const LONG = { rows: 5_000_000, rowHeight: 20, viewHeight: 400 };

describe("a list that fits an element", () => {
  test("draws what is in sight and a little more", () => {
    const { first, stop, top } = visibleRows(SHORT, 2000);
    expect(first).toBeLessThanOrEqual(100);
    expect(stop).toBeGreaterThanOrEqual(120);
    expect(stop - first).toBeLessThan(40);
    expect(top).toBe(first * 20);
  });

  test("scrolls only as far as a row needs", () => {
    expect(scrollTopFor(SHORT, 2000, 105)).toBe(2000);
    expect(scrollTopFor(SHORT, 2000, 10)).toBe(200);
    expect(scrollTopFor(SHORT, 0, 50)).toBe(51 * 20 - 400);
  });
});

describe("a list longer than an element may be", () => {
  test("reaches its last row at the end of the scroll", () => {
    const end = contentHeight(LONG) - LONG.viewHeight;
    expect(visibleRows(LONG, end).stop).toBe(LONG.rows);
    expect(visibleRows(LONG, 0).first).toBe(0);
  });

  test.each([0, 1, 2_500_000, 4_999_999])("brings row %d into sight", (row) => {
    const top = scrollTopFor(LONG, 0, row);
    const { first, stop } = visibleRows(LONG, top);
    expect(first).toBeLessThanOrEqual(row);
    expect(stop).toBeGreaterThan(row);
  });
});

test("the first row in sight is found again, also in lists taller than an element can be", () => {
  for (const rows of [100, 3_000_000]) {
    const view = { rows, rowHeight: 22, viewHeight: 400 };
    for (const row of [0, 7, Math.floor(rows / 2)]) expect(firstInSight(view, scrollTopOf(view, row))).toBe(row);
  }
});
