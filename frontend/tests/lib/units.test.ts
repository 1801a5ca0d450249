import { describe, expect, test } from "vitest";
import { exact, format, formatAge, formatClock, formatIn, percent, type Quantity, scaleFor } from "../../src/lib/units";

describe("figures on their own", () => {
  test.each<[Quantity, number | null, string]>([
    ["micros", 0.25, "250.00 ns"],
    ["micros", 12.5, "12.500 µs"],
    ["micros", 1_234.5, "1.235 ms"],
    ["micros", 9_423_000, "9.423 s"],
    ["ns", 3_240, "3.240 µs"],
    ["ps", 10_333_000, "10.333 µs"],
    ["bytes", 512, "512 B"],
    ["bytes", 1536, "1.500 KiB"],
    ["bytes", 3 * 2 ** 30, "3.000 GiB"],
    ["network_bytes", 2_097_152, "2.097 MB"],
    ["count", 38_432, "38,432"],
    ["count", 0, "0"],
    ["ratio", 0.1234, "12.3%"],
    ["rate", 451.001, "451.00/s"],
    ["count", null, "—"],
    ["micros", Number.NaN, "—"],
  ])("%s %s is %s", (quantity, value, text) => {
    expect(format(quantity, value)).toBe(text);
  });

  test("infinity is shown as such", () => {
    expect(format("gbps", Number.POSITIVE_INFINITY)).toContain("∞");
  });
});

describe("a column", () => {
  test("has one unit, which fits its largest", () => {
    const scale = scaleFor("micros", 1_987_224);
    expect(scale.unit).toBe("ms");
    expect([1_987_224, 808_400, 12.5].map((value) => formatIn(scale, value))).toEqual(["1,987.2", "808.4", "<0.1"]);
  });

  test("tells nothing from absent", () => {
    const scale = scaleFor("bytes", 2048);
    expect(formatIn(scale, 0)).toBe("0");
    expect(formatIn(scale, null)).toBe("—");
  });

  test("shows negative figures with a minus sign", () => {
    expect(formatIn(scaleFor("count", 5), -3)).toBe("−3");
  });
});

test("the exact figure keeps every digit", () => {
  expect(exact("micros", 5425.817)).toBe("5,425.817 µs");
  expect(exact("ns", "9007199254740993")).toBe("9007199254740993 ns");
  expect(exact("count", null)).toBe("—");
});

test("a share of nothing is absent", () => {
  expect(percent(1, 0)).toBe("—");
  expect(percent(0, 5)).toBe("0.0%");
});

test.each([
  [3.2, "3.200 s"],
  [125, "2:05"],
  [3723, "1:02:03"],
  [-125, "−2:05"],
])("%d seconds are %s on a clock", (seconds, text) => {
  expect(formatClock(seconds)).toBe(text);
});

test.each([
  [3, "just now"],
  [61, "1 min ago"],
  [7200, "2 h ago"],
  [200_000, "2 d ago"],
])("%d seconds ago", (seconds, text) => {
  expect(formatAge(seconds)).toBe(text);
});
