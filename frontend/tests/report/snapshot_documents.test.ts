import { describe, expect, test } from "vitest";
import type { IcicleDocument, RowsDocument } from "../../src/lib/documents";
import { SnapshotDocuments, type SnapshotEntry } from "../../src/report/snapshot_documents";
import type { SnapshotView } from "../../src/report/snapshot_tree";

/** root 100: a 60 (a1 40, a2 20), b 40 (b1 1). */
const VIEW: SnapshotView = {
  view: "scope",
  nested: false,
  columns: [{ name: "total", title: "time", unit: "us", help: "", total: true }],
  steps: [],
  problems: [],
  names: ["root", "a", "a1", "a2", "b", "</script>"],
  paths: ["root", "a", "a/a1", "a/a2", "b", "b/</script>"],
  colors: [],
  shares: [],
  addends: {},
  kinds: ["", "A", "A", "A", "B", "B"],
  parents: [-1, 0, 1, 1, 0, 4],
  figures: { total: [100, 60, 40, 20, 40, 1] },
  details: { 2: { devices: ["gpu"] } },
};
const KEPT: readonly SnapshotEntry[] = [
  { route: "views", questions: [{ run: "r", name: "p", view: "scope" }], document: VIEW },
  { route: "findings", questions: [{}], document: [{ rule: "x" }] },
  { route: "views", questions: [{ run: "r", name: "p", view: "scope", compare: "s" }], document: { rows: [] } },
];

function ask<T>(url: string): T {
  const answer = new SnapshotDocuments(KEPT).answer(url);
  if (!("document" in answer)) throw new Error(answer.error.found);
  return answer.document as T;
}

const names = (query: string) =>
  ask<RowsDocument>(`views?run=r&name=p&view=scope&shape=rows&${query}`).rows.map(({ name }) => name);

describe("rows", () => {
  test("are those in sight, in order", () => {
    expect(names("depth=1")).toEqual(["root", "a", "b"]);
    expect(names("depth=1&toggled=4")).toEqual(["root", "a", "b", "</script>"]);
    expect(names("depth=9&offset=1&limit=2")).toEqual(["a", "a1"]);
    expect(names("depth=9&root=4")).toEqual(["b", "</script>"]);
  });

  test("are sorted among their siblings", () => {
    expect(names("depth=9&sort=total")).toEqual(["root", "b", "</script>", "a", "a2", "a1"]);
    expect(names("depth=1&sort=-name")).toEqual(["root", "b", "a"]);
  });

  test("with a match are opened and counted once", () => {
    const found = ask<RowsDocument>("views?run=r&name=p&view=scope&depth=1&search=A2");
    expect(found.rows.map(({ name }) => name)).toEqual(["root", "a", "a1", "a2", "b"]);
    expect(found.matches).toEqual({ count: 1, index: 0, row_offset: 3, id: 3, share: { total: 0.2 } });
    expect(ask<RowsDocument>("views?run=r&name=p&view=scope&search=/^a/").matches?.share).toEqual({ total: 0.6 });
  });
});

test("an icicle lays children side by side, the widest first, and folds the narrow", () => {
  const { rects, names: words } = ask<IcicleDocument>(
    "views?run=r&name=p&view=scope&shape=icicle&metric=total&width_px=50",
  );
  const drawn = rects.map(([row, depth, from, to, name, , folded]) => [row, depth, from, to, words[name], folded]);
  expect(drawn.toSorted((p, q) => Number(p[0]) - Number(q[0]))).toEqual([
    [-1, 2, 0.6, 0.61, undefined, 1],
    [0, 0, 0, 1, "root", 0],
    [1, 1, 0, 0.6, "a", 0],
    [2, 2, 0, 0.4, "a1", 0],
    [3, 2, 0.4, 0.6000000000000001, "a2", 0],
    [4, 1, 0.6, 1, "b", 0],
  ]);
});

test("a row's details stand beside its figures", () => {
  const node = ask<Record<string, unknown>>("views?run=r&name=p&view=scope&shape=node&id=2");
  expect(node).toMatchObject({ id: 2, name: "a1", path: "a/a1", total: 40, devices: ["gpu"] });
});

test("documents are found by what they answer, and what is not held is said", () => {
  expect(ask("findings")).toEqual([{ rule: "x" }]);
  expect(ask("views?run=r&name=p&view=scope&compare=s")).toEqual({ rows: [] });
  expect(() => ask("views?run=other&name=p&view=scope")).toThrow("holds no answer");
  expect(() => ask("views?run=r&name=p&view=scope&min_micros=5")).toThrow("min_micros");
  expect(() => ask("views?run=r&name=p&view=scope&shape=callers&id=1")).toThrow("holds no callers");
});

test("occurrences are chosen among those that the report holds", () => {
  const occurrences = [
    { host: "h0", core: 0, rendezvous: "a" },
    { host: "h0", core: 1, rendezvous: "a" },
    { host: "h1", core: 0, rendezvous: "b" },
  ];
  const kept = new SnapshotDocuments([{ route: "dcn", questions: [{ run: "r" }], document: { occurrences } }]);
  const found = (query: string) => {
    const answer = kept.answer(`dcn?run=r&detail=occurrences&limit=5${query}`);
    return "document" in answer ? (answer.document as { occurrences: unknown[] }).occurrences : [];
  };
  expect(found("")).toEqual(occurrences);
  expect(found("&host=h0&core=1")).toEqual([occurrences[1]]);
  expect(found("&rendezvous=b")).toEqual([occurrences[2]]);
  expect(kept.answer("dcn?run=r&detail=full&program=p")).toHaveProperty("error");
});

test("an answer that is an error stays one", () => {
  const error = { found: "a damaged record", where: "file", remedy: "Write it again" };
  const kept = new SnapshotDocuments([{ route: "incore", questions: [{ run: "r" }], error }]);
  expect(kept.answer("incore?run=r&detail=tasks")).toEqual({ error });
});
