import { expect, test } from "vitest";
import type { JobDocument } from "../../src/throughput/document";
import { jobSentence, together } from "../../src/throughput/jobs";
import { significanceSentence, sure } from "../../src/throughput/significance";

const JOB: JobDocument = {
  job: "job7",
  name: "train",
  unit: "tokens",
  ranks: [0, 1],
  per_sec: { whole_time: 30 },
  slowest_rank: 1,
  slowest_run: "job/rank_1",
  slowest_p50_ns: 2e6,
  time_ns: ["1", "2"],
  step: [1, 2],
  total: [30, 60],
  local_samples_per_sec: [30, 31],
  avg_samples_per_sec: [30, 30.5],
};

test("ranks that share a clock are a series together", () => {
  const [sum] = together(JOB);
  expect(sum).toMatchObject({ run: "job7 · all 2 ranks", unit: "tokens", step: [1, 2], total: [30, 60] });
  expect(sum?.statistics.whole_time.per_sec).toBe(30);
  expect(sum?.statistics.samples_to_date).toBe(60);
});

test("ranks whose clocks have no common origin are none", () => {
  expect(together({ ...JOB, time_ns: [] })).toEqual([]);
});

test("the slowest rank is named", () => {
  expect(jobSentence(JOB)).toContain("the slowest is rank 1 (job/rank_1)");
  expect(jobSentence({ ...JOB, slowest_rank: null })).not.toContain("slowest");
});

const FOUND = {
  series: "train",
  verdict: "different",
  difference: -20,
  standard_error: 2,
  a_effective_blocks: 12.4,
  b_effective_blocks: 16,
} as const;

test("a difference is told with how sure it is, and on how many independent stretches it rests", () => {
  const sentence = significanceSentence(FOUND, "b", "a", "samples");
  expect(sentence).toMatch(/^b trains 20\.?0* ± 2\.?0* samples\/s slower than a: more than chance/);
  expect(sentence).toContain("(10 standard errors, worth 12 and 16 independent stretches of the runs)");
  expect(sure(FOUND)).toBe("real");
});

test("what may be chance is told so", () => {
  const found = { ...FOUND, verdict: "indistinguishable", difference: 1 } as const;
  expect(significanceSentence(found, "b", "a", "samples")).toContain("faster than a: no more than rates vary anyway");
  expect(sure(found)).toBe("within noise");
});

test("of too short a run nothing is said, and nothing of one that was not compared", () => {
  const found = { series: "train", verdict: "too_short" } as const;
  expect(significanceSentence(found, "b", "a", "samples")).toContain("too short to say");
  expect(sure(found)).toBe("too short");
  expect(sure(undefined)).toBeNull();
});
