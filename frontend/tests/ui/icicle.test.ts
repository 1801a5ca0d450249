import { expect, test } from "vitest";
import { shortened } from "../../src/ui/icicle";

test("a name that is cut keeps both of its ends", () => {
  expect(shortened("aten::convolution", 40)).toBe("aten::convolution");
  expect(shortened("aten::convolution_backward", 11)).toBe("aten::…ward");
  expect(shortened("aten::convolution_backward", 11)).toHaveLength(11);
});
