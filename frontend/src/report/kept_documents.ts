/** The documents of a report, found by the address that the server would be asked. */

import type { Snapshot } from "../lib/api";
import { KeptTree, type KeptView, type Question } from "./kept_tree";

export interface KeptDocument {
  readonly route: string;
  /** What it answers: run, name, compare, view. Absent ones are the panel's empty choice. */
  readonly question: Readonly<Record<string, string>>;
  readonly document: unknown;
}

/** What an answer depends on; all else says how much of it is wanted, or is worked out here. */
const CHOICES = ["run", "name", "record_step", "compare", "view", "task", "invocation"];
/** Windows over what the report holds whole. */
const WINDOW = [
  ...["shape", "depth", "toggled", "offset", "limit", "sort", "search", "match", "root", "id", "metric"],
  ...["width_px", "max_depth", "points", "detail", "disturbances"],
];

export class KeptDocuments implements Snapshot {
  private readonly trees = new Map<unknown, KeptTree>();

  constructor(private readonly kept: readonly KeptDocument[]) {}

  answer(url: string): ReturnType<Snapshot["answer"]> {
    const [route = "", query = ""] = url.split("?", 2);
    const question: Question = new Map(new URLSearchParams(query));
    const unknown = [...question.keys()].filter((name) => !CHOICES.includes(name) && !WINDOW.includes(name));
    const found = unknown.length > 0 ? undefined : this.find(route, question);
    if (found === undefined) return missing(url, unknown);
    if (route !== "views" || question.has("compare")) return { document: found.document };
    const window = this.window(found.document, question);
    return window === null ? missing(url, []) : { document: window };
  }

  private find(route: string, question: Question): KeptDocument | undefined {
    const memory = question.get("shape") === "memory" ? "memory" : "";
    return this.kept.find(
      (one) =>
        one.route === route &&
        (one.question.shape ?? "") === memory &&
        CHOICES.every(
          (name) => (one.question[name] ?? "") === (question.get(name) ?? "") || (memory && name === "view"),
        ),
    );
  }

  private window(document: unknown, question: Question): unknown {
    const shape = question.get("shape") ?? "rows";
    if (shape === "memory") return document;
    const tree = this.trees.get(document) ?? new KeptTree(document as KeptView);
    this.trees.set(document, tree);
    if (shape === "icicle") return tree.icicle(question);
    return shape === "node" ? tree.node(question) : tree.rows(question);
  }
}

function missing(url: string, unknown: readonly string[]): ReturnType<Snapshot["answer"]> {
  const what = unknown.length > 0 ? `with ${unknown.join(", ")}` : "for that choice";
  return {
    error: {
      found: `The report holds no answer ${what}`,
      where: url,
      remedy: "Open the source itself with TensorBoard or the stepscope command",
    },
  };
}
