import { expect, test } from "vitest";
import { groupsOf } from "../../src/throughput/charts";
import type { JobDocument } from "../../src/throughput/document";
import { jobSentence, together } from "../../src/throughput/jobs";
import type { Shown } from "../../src/throughput/shown";
import { significanceSentences, sure } from "../../src/throughput/significance";

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

const SENTENCE =
  "GlobalRate: 300 against 320 samples/s, -20 (95 % interval -24 to -16 samples/s): a significant difference.";

test("each rate's difference is told with its interval, beside a verdict of the same rate", () => {
  const found = { series: "train", figures: { whole_time: { verdict: "different", sentence: SENTENCE } } } as const;
  expect(significanceSentences(found, "b", "a")).toEqual([`b against a. ${SENTENCE}`]);
  expect(sure(found)).toBe("significant");
});

test("a difference that is not significant or cannot be tested is told so", () => {
  const found = (verdict: "indistinguishable" | "too_short") =>
    ({ series: "train", figures: { whole_time: { verdict, sentence: "" } } }) as const;
  expect(sure(found("indistinguishable"))).toBe("not significant");
  expect(sure(found("too_short"))).toBe("too short");
  expect(sure(undefined)).toBeNull();
});

function drawn(label: string, unit: string, perSec: number | null): Shown {
  const statistics = { whole_time: { per_sec: perSec }, windowed: { per_sec: null } };
  return { label, colour: "", muted: false, note: "", series: { run: label, unit, statistics } } as unknown as Shown;
}

test("series of other units or scales are drawn in charts of their own", () => {
  const shown = [
    drawn("a", "samples", 300),
    drawn("b", "tokens", 300_000),
    drawn("c", "samples", 9_000),
    drawn("d", "samples", 310),
    drawn("e", "samples", null),
  ];
  const labels = groupsOf(shown).map((group) => group.map(({ label }) => label));
  expect(labels).toEqual([["a", "d", "e"], ["c"], ["b"]]);
});
