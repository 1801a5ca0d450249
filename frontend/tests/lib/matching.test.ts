import { expect, test } from "vitest";
import { matcher } from "../../src/lib/matching";

test.each([
  ["CONV", "aten::conv2d", true],
  ["a.c", "abc", false],
  ["/a.c/", "xabcx", true],
  ["/ABC/", "abc", false],
  ["/ABC/i", "abc", true],
  ["/", "a/b", true],
])("%s in %s: %s", (search, text, found) => {
  expect(matcher(search)?.(text)).toBe(found);
});

test("nothing and broken regexes match nothing", () => {
  expect(matcher("")).toBeNull();
  expect(matcher("/(/")).toBeNull();
});
