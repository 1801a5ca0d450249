/** The documents of a report, found by the address that the server would be asked. */

import type { Snapshot } from "../lib/api";
import type { ErrorDocument } from "../lib/documents";
import { KeptTree, type KeptView, type Question } from "./kept_tree";

export interface KeptDocument {
  readonly route: string;
  /** What it answers: run, name, compare, view. Absent ones are the panel's empty choice. */
  readonly questions: readonly Readonly<Record<string, string>>[];
  readonly document?: unknown;
  /** What the server would say instead of a document. */
  readonly error?: ErrorDocument["error"];
}

/** What an answer depends on; all else says how much of it is wanted, or is worked out here. */
const CHOICES = ["run", "name", "record_step", "compare", "view", "task", "invocation"];
/** Windows over what the report holds whole. */
const WINDOW = [
  ...["shape", "depth", "toggled", "offset", "limit", "sort", "search", "match", "root", "id", "metric"],
  ...["width_px", "max_depth", "points", "detail", "disturbances"],
];
/** Which occurrences of collectives are wanted. */
const OCCURRENCE = ["host", "core", "program", "rendezvous"];

export class KeptDocuments implements Snapshot {
  private readonly trees = new Map<unknown, KeptTree>();

  constructor(private readonly kept: readonly KeptDocument[]) {}

  answer(url: string): ReturnType<Snapshot["answer"]> {
    const [route = "", query = ""] = url.split("?", 2);
    const question: Question = new Map(new URLSearchParams(query));
    const listed = question.get("detail") === "occurrences" ? OCCURRENCE : [];
    const unknown = [...question.keys()].filter((name) => ![...CHOICES, ...WINDOW, ...listed].includes(name));
    const found = unknown.length > 0 ? undefined : this.find(route, question);
    if (found === undefined) return missing(url, unknown);
    if (found.error !== undefined) return { error: found.error };
    if (route === "dcn") return { document: chosenOccurrences(found.document as Occurrences, question) };
    if (route !== "views" || question.has("compare")) return { document: found.document };
    const window = this.window(found.document, question);
    return window === null ? missing(url, []) : { document: window };
  }

  private find(route: string, question: Question): KeptDocument | undefined {
    const memory = question.get("shape") === "memory";
    const same = (asked: Readonly<Record<string, string>>) =>
      (asked.shape === "memory") === memory &&
      CHOICES.every((name) => (asked[name] ?? "") === (question.get(name) ?? "") || (memory && name === "view"));
    return this.kept.find((one) => one.route === route && one.questions.some(same));
  }

  private window(document: unknown, question: Question): unknown {
    const shape = question.get("shape") ?? "rows";
    if (shape === "memory") return document;
    if (!["rows", "icicle", "node"].includes(shape)) return null;
    const tree = this.trees.get(document) ?? new KeptTree(document as KeptView);
    this.trees.set(document, tree);
    if (shape === "icicle") return tree.icicle(question);
    return shape === "node" ? tree.node(question) : tree.rows(question);
  }
}

interface Occurrences {
  readonly occurrences?: readonly Readonly<Record<string, unknown>>[];
}

/** A document of collectives with those of its occurrences that are asked for. */
function chosenOccurrences(document: Occurrences, question: Question): Occurrences {
  const wanted = OCCURRENCE.filter((name) => question.get(name));
  if (wanted.length === 0 || document.occurrences === undefined) return document;
  const found = document.occurrences.filter((one) => wanted.every((name) => String(one[name]) === question.get(name)));
  return { ...document, occurrences: found };
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
