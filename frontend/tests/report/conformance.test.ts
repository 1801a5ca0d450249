import { readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import type { IcicleDocument, RowsDocument } from "../../src/lib/documents";
import { SnapshotDocuments } from "../../src/report/snapshot_documents";
import type { SnapshotView } from "../../src/report/snapshot_tree";

/** Written by tests/panel/test_panel_conformance.py from the server's answers. */
interface Suite {
  readonly view: string;
  readonly tree: SnapshotView;
  readonly questions: readonly {
    readonly query: Readonly<Record<string, string>>;
    readonly answer: RowsDocument | IcicleDocument;
  }[];
}

const SUITES: readonly Suite[] = JSON.parse(readFileSync(new URL("conformance.json", import.meta.url), "utf8"));

describe.each(SUITES)("a report answers as the server does: $view", ({ view, tree, questions }) => {
  const documents = new SnapshotDocuments([
    { route: "views", questions: [{ run: "r", name: "p", view }], document: tree },
  ]);
  test.each(questions)("$query", ({ query, answer }) => {
    const found = documents.answer(`views?${new URLSearchParams({ run: "r", name: "p", view, ...query })}`);
    if (!("document" in found)) throw new Error(found.error.found);
    if ("rects" in answer) expect(drawn(found.document as IcicleDocument)).toEqual(drawn(answer));
    else expect(shown(found.document as RowsDocument)).toEqual(shown(answer));
  });
});

/** What is drawn, from the left, whatever the order of drawing. */
function drawn({ metric, total, depths, rects, names, colors }: IcicleDocument) {
  const boxes = rects.map(([id, depth, x0, x1, name, color, folded]) => ({
    id,
    depth,
    x0: x0.toFixed(4),
    x1: x1.toFixed(4),
    name: names[name] ?? "",
    color: colors[color] ?? "",
    folded,
  }));
  const order = (p: (typeof boxes)[number], q: (typeof boxes)[number]) =>
    p.depth - q.depth || Number(p.x0) - Number(q.x0) || p.id - q.id;
  return { metric, total, depths, boxes: boxes.sort(order) };
}

function shown({ total_rows, visible_rows, offset, rows, root, matches }: RowsDocument) {
  return { total_rows, visible_rows, offset, rows, root, matches };
}
