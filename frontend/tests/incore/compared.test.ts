import { expect, test } from "vitest";
import { comparedName, setupOf } from "../../src/incore";
import { comparedKey } from "../../src/incore/document";
import type { ComparedRow } from "../../src/lib/documents";

function row(a: Record<string, string> | null, b: Record<string, string> | null): ComparedRow {
  return { key: "pair 0/total", a, b, delta: null, state: "both" };
}

test("rows of pairs are named by pair, variant and phase; phases as in the picture above them", () => {
  expect(comparedName("pair 3/merged/total")).toBe("pair 3 · merged · total");
  expect(comparedName("pair 3/merged-split")).toBe("pair 3 · merged − split");
  expect(comparedName("run 0/gap")).toBe("run 0 · gap");
  expect(comparedName("store_begin-load_done")).toBe("load_done → store_begin");
  expect(comparedName("R-E")).toBe("R-E");
  expect(comparedName("arrival_skew")).toBe("arrival skew");
});

test("a setup is said once where both runs share it, and with an arrow from the baseline where they differ", () => {
  expect(setupOf(row({ variant: "merged", device: "npu:0" }, { variant: "merged", device: "npu:0" }))).toBe("npu:0");
  expect(setupOf(row({ variant: "merged" }, { variant: "split" }))).toBe("split → merged");
  expect(setupOf(row({ device: "b", inputs: "4k" }, { device: "a", inputs: "4k" }))).toBe("a → b · 4k");
  expect(setupOf(row({ device: "b" }, null))).toBe("b");
  expect(setupOf(row({}, {}))).toBe("");
});

test("a phase of the picture is the row of the table", () => {
  expect(comparedKey("load_done → store_begin")).toBe("store_begin-load_done");
  expect(comparedKey("R-E")).toBe("R-E");
});
