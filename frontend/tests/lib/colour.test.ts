import { describe, expect, test } from "vitest";
import { BLOCK_TEXT, blockRgb, contrast, hashText, lineRgb, lineSlots } from "../../src/lib/colour";

const NAMES = Array.from({ length: 500 }, (_, k) => `aten::op_${k}`);
const BACKGROUND = { light: [255, 255, 255], dark: [31, 33, 36] } as const;

describe.each(["light", "dark"] as const)("%s theme", (theme) => {
  test("text on any block has the contrast of WCAG AA", () => {
    const least = Math.min(...NAMES.map((name) => contrast(blockRgb(name, theme), BLOCK_TEXT[theme])));
    expect(least).toBeGreaterThanOrEqual(4.5);
  });

  test("lines have the contrast of graphics against the background", () => {
    const slots = Array.from({ length: 10 }, (_, slot) => contrast(lineRgb(slot, theme), BACKGROUND[theme]));
    expect(Math.min(...slots)).toBeGreaterThanOrEqual(3);
  });
});

test("a name has the same colour each time, and names spread over the hues", () => {
  expect(hashText("aten::mm")).toBe(hashText("aten::mm"));
  expect(new Set(NAMES.map((name) => blockRgb(name, "light").join())).size).toBeGreaterThan(60);
});

test("runs have a colour each as long as there are colours", () => {
  const names = NAMES.slice(0, 10);
  expect(new Set(lineSlots(names).values()).size).toBe(10);
  expect(lineSlots([...names].reverse())).toEqual(lineSlots(names));
});
