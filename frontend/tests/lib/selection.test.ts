import { describe, expect, test } from "vitest";
import type { IndexDocument, RecordInfo } from "../../src/lib/documents";
import { choose, claims, recordsOf } from "../../src/lib/selection";

const record = (kind: string, name: string, step: number, written: string): RecordInfo => ({
  kind,
  name,
  tag: `stepscope/${kind}/${name}`,
  first_step: step,
  last_step: step,
  closed: true,
  rows: 1,
  written_wall_ns: written,
  producer: "",
});
// Stamps beyond 2^53 that differ in their last digit.
const INDEX: IndexDocument = {
  runs: [
    { name: "b", records: [record("profile", "p", 10, "1795985530002716127"), record("throughput", "train", 0, "1")] },
    { name: "a", records: [record("profile", "p", 10, "1795985530002716126"), record("profile", "p", 20, "5")] },
  ],
  problems: [],
};
const PROFILES = recordsOf(INDEX, "views");
const NOTHING = { run: "", name: "", step: "" };

describe("choosing a record", () => {
  test("takes the newest, to the nanosecond", () => {
    expect(choose(PROFILES, NOTHING).chosen).toMatchObject({ run: "b", first_step: 10 });
  });

  test("offers runs, names and steps in order", () => {
    expect(choose(PROFILES, { ...NOTHING, run: "a" })).toMatchObject({
      runs: ["a", "b"],
      names: ["p"],
      steps: [10, 20],
    });
  });

  test("takes the step that is named", () => {
    expect(choose(PROFILES, { run: "a", name: "p", step: "20" }).chosen?.first_step).toBe(20);
  });

  test("says when the named record is not there", () => {
    expect(choose(PROFILES, { ...NOTHING, run: "gone" })).toMatchObject({ chosen: null, missing: true });
    expect(choose([], NOTHING)).toMatchObject({ chosen: null, missing: false });
  });
});

test("findings stand on all records", () => {
  expect(recordsOf(INDEX, "findings")).toHaveLength(4);
});

test("collectives of cores that exchanged nothing are a record, but no claim", () => {
  const index = (rows: number): IndexDocument => ({
    runs: [{ name: "a", records: [{ ...record("collectives", "xplane", 0, "1"), rows }] }],
    problems: [],
  });
  expect([claims(index(0), "dcn"), claims(index(4), "dcn"), claims(index(4), "views")]).toEqual([false, true, false]);
  expect(recordsOf(index(0), "dcn")).toHaveLength(1);
});
