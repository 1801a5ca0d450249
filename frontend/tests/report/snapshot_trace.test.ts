import { describe, expect, test } from "vitest";
import type { RowsDocument } from "../../src/lib/documents";
import { SnapshotDocuments, type SnapshotEntry } from "../../src/report/snapshot_documents";
import type { SnapshotView } from "../../src/report/snapshot_tree";

const OF = { run: "r", name: "p" };
const VIEW: SnapshotView = {
  ...{ view: "scope", nested: false, columns: [], steps: [], problems: [], figures: {}, details: {} },
  names: ["root", "a", "a1", "a2", "b", "b1"],
  paths: ["root", "a", "a/a1", "a/a2", "b", "b/b1"],
  colors: [],
  shares: [],
  addends: {},
  kinds: ["", "", "", "", "", ""],
  parents: [-1, 0, 1, 1, 0, 4],
  callers: { 2: { metric: "time", rows: [{ name: "a1" }] } },
  panes: ["trace", "kernels"],
};
const TABLES = {
  all_hosts: {
    all_cores: [
      { program: "p", rendezvous: "x", transfer_type: "ALL_REDUCE" },
      { program: "q", rendezvous: "y", transfer_type: "ALL_GATHER" },
    ],
  },
};
const OCCURRENCES = [
  { program: "p", rendezvous: "x", host: "h", core: 0 },
  { program: "q", rendezvous: "y", host: "h", core: 1 },
];

function views(question: Record<string, string>, document: unknown): SnapshotEntry {
  return { route: "views", questions: [{ ...OF, ...question }], document };
}

const KEPT: readonly SnapshotEntry[] = [
  views({ view: "scope" }, VIEW),
  views({ shape: "timeline" }, "whole"),
  views({ shape: "timeline", start_ps: "0", end_ps: "100" }, "early"),
  views({ shape: "timeline", start_ps: "50", end_ps: "150" }, "middle"),
  views({ shape: "kernels" }, "by kernel"),
  views({ shape: "kernels", by: "launch" }, "by launch"),
  views({ shape: "memory" }, "memory"),
  views({ shape: "memory", device: "gpu 1" }, "memory of 1"),
  views({ shape: "event", id: "7" }, "seventh"),
  { route: "dcn", questions: [{ run: "r" }], document: { ...TABLES, occurrences: OCCURRENCES } },
  { route: "dcn", questions: [{ run: "r", transfer_type: "ALL_REDUCE" }], document: "reduced" },
];

function ask<T>(route: string, query: Record<string, string>): T {
  const answer = new SnapshotDocuments(KEPT).answer(`${route}?${new URLSearchParams(query)}`);
  if (!("document" in answer)) throw new Error(answer.error.found);
  return answer.document as T;
}

const shape = (name: string, more: Record<string, string> = {}) => ask("views", { ...OF, shape: name, ...more });

describe("a trace", () => {
  test("is answered by the narrowest window that holds what is asked for", () => {
    expect(shape("timeline", { width_px: "1600" })).toBe("whole");
    expect(shape("timeline", { start_ps: "10", end_ps: "40" })).toBe("early");
    expect(shape("timeline", { start_ps: "60", end_ps: "120" })).toBe("middle");
    expect(shape("timeline", { start_ps: "10", end_ps: "120" })).toBe("whole");
  });

  test("has the details of its longest executions, and says which it has where another is asked for", () => {
    expect(shape("event", { id: "7" })).toBe("seventh");
    expect(() => shape("event", { id: "8" })).toThrow("those of the longest");
  });
});

test("tables and memory are found by what they are asked with", () => {
  expect(shape("kernels", { by: "launch" })).toBe("by launch");
  expect(shape("kernels")).toBe("by kernel");
  expect(shape("memory", { device: "gpu 1", width_px: "9", start_ps: "1", end_ps: "2" })).toBe("memory of 1");
  expect(shape("memory")).toBe("memory");
  expect(() => shape("ranks")).toThrow("no answer for that choice");
});

test("a view offers the panes that are there, and the callers of its costliest rows", () => {
  const tree = { ...OF, view: "scope" };
  expect(ask<RowsDocument>("views", tree).panes).toEqual(["trace", "kernels"]);
  expect(ask("views", { ...tree, shape: "callers", id: "2", metric: "time" })).toMatchObject({
    rows: [{ name: "a1" }],
  });
  expect(() => ask("views", { ...tree, shape: "callers", id: "2", metric: "bytes" })).toThrow("by that figure");
  expect(() => ask("views", { ...tree, shape: "callers", id: "3" })).toThrow("costliest rows");
});

test("all below a row is opened and closed, as the server does", () => {
  const open = (below: string, toggled = "") => {
    const rows = ask<RowsDocument>("views", { ...OF, view: "scope", depth: "1", below, toggled }).rows;
    return rows.map(({ name }) => name).join(" ");
  };
  expect(open("")).toBe("root a b");
  expect(open("1")).toBe("root a a1 a2 b");
  expect(open("1,-1")).toBe("root a b");
  expect(open("4", "4")).toBe("root a b");
  expect(ask<RowsDocument>("views", { ...OF, view: "scope", depth: "9" }).rows.map(({ end }) => end)).toEqual([
    6, 4, 3, 4, 6, 6,
  ]);
});

test("collectives of one type are a document of their own, their occurrences a choice of all", () => {
  expect(ask("dcn", { run: "r", transfer_type: "ALL_REDUCE", detail: "full" })).toBe("reduced");
  const found = (more: Record<string, string>) =>
    ask<{ occurrences: unknown[] }>("dcn", { run: "r", detail: "occurrences", ...more }).occurrences;
  expect(found({})).toEqual(OCCURRENCES);
  expect(found({ transfer_type: "ALL_REDUCE" })).toEqual([OCCURRENCES[0]]);
  expect(found({ core: "1" })).toEqual([OCCURRENCES[1]]);
  expect(() => ask("dcn", { run: "r", transfer_type: "SEND", detail: "full" })).toThrow("holds no answer");
});
