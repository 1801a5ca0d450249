import { expect, test } from "vitest";
import { wordWidth } from "../../src/ui/width";

test("a column of words has room for the longest, for its head, and for no more than it may", () => {
  const kind = (word: string) => wordWidth("kind", [word], 200);
  expect(kind("communication")).toBeGreaterThan(kind("memcpy"));
  expect(kind("")).toBe(kind("set"));
  expect(kind("a".repeat(1000))).toBe(220);
});
