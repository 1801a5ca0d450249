import { expect, test } from "vitest";
import { stepTime } from "../../src/overview/breakdown";

const total_ps = { kernel: 3e9, other: 1e9 };

test("the mean step is of the complete ones, as the total is", () => {
  const steps = [1, 2, 3].map((id) => ({ id, complete: id < 3 }));
  expect(stepTime({ steps, total_ps })).toBe("Step 2.000 ms");
});

test("a profile without steps has no step's time", () => {
  expect(stepTime({ steps: [{ id: null, complete: true }], total_ps })).toBe("Whole profile 4.000 ms");
  expect(stepTime({ steps: [{ id: 1, complete: false }], total_ps: {} })).toBe("");
});
