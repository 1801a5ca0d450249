import { expect, test } from "vitest";
import { byRun, type Finding, type RunSummary } from "../../src/findings/documents";

const finding = (run: string, rule: string): Finding => ({
  rule,
  title: rule,
  saving_share: 0.1,
  cost_share: 0.1,
  step: null,
  try: [],
  evidence: [{ lens: "views", run, name: "torch", key: "", hash: "" }],
  advice: "",
  certainty: "derived",
});

const summary = (run: string): RunSummary => ({
  run,
  sentence: "",
  first: "",
  saving_share: null,
  kinds: [],
  costs: [],
  difference: "",
});

test("findings are grouped by run in the order of the summaries, those of unknown runs last", () => {
  const groups = byRun(
    [summary("worst"), summary("empty"), summary("better")],
    [finding("better", "a"), finding("lost", "b"), finding("worst", "c"), finding("worst", "d")],
  );
  expect(groups.map(({ run, findings }) => [run, findings.map(({ rule }) => rule)])).toEqual([
    ["worst", ["c", "d"]],
    ["better", ["a"]],
    ["lost", ["b"]],
  ]);
});
