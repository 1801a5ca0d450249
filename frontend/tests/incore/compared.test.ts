import { expect, test } from "vitest";
import { comparedName, setupOf } from "../../src/incore";
import type { ComparedRow } from "../../src/lib/documents";

function row(a: Record<string, string> | null, b: Record<string, string> | null): ComparedRow {
  return { key: "pair 0/total", a, b, delta: null, state: "both" };
}

test("rows of pairs are named by pair, variant and phase; phases keep their names", () => {
  expect(comparedName("pair 3/merged/total")).toBe("pair 3 · merged · total");
  expect(comparedName("pair 3/merged-split")).toBe("pair 3 · merged − split");
  expect(comparedName("run 0/gap")).toBe("run 0 · gap");
  expect(comparedName("io/load_done-store_begin")).toBe("io/load done-store begin");
});

test("a setup is said once where both runs share it, and with an arrow from the baseline where they differ", () => {
  expect(setupOf(row({ variant: "merged", device: "npu:0" }, { variant: "merged", device: "npu:0" }))).toBe("npu:0");
  expect(setupOf(row({ variant: "merged" }, { variant: "split" }))).toBe("split → merged");
  expect(setupOf(row({ device: "b", inputs: "4k" }, { device: "a", inputs: "4k" }))).toBe("a → b · 4k");
  expect(setupOf(row({ device: "b" }, null))).toBe("b");
  expect(setupOf(row({}, {}))).toBe("");
});
