import { expect, test } from "vitest";
import { numberColumn } from "../../src/ui/columns";

const ROWS = [1500, 500];
const BASE = { key: "time", title: "time", help: "", quantity: "ns" as const, value: (row: number) => row };

test("shares of a sum are said and drawn", () => {
  const { cell } = numberColumn(ROWS, { ...BASE, whole: 2000 });
  expect(cell(1500)).toMatchObject({ title: "1,500 ns · 75.0% of all", share: 0.75 });
});

test("a bar beside the largest figure is no share of all", () => {
  const { cell } = numberColumn(ROWS, { ...BASE, fullBar: 1500 });
  expect(cell(500)).toMatchObject({ title: "500 ns", share: 1 / 3 });
});
