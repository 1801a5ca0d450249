/** The documents of a report, found by the address that the server would be asked. */

import type { Snapshot } from "../lib/api";
import type { ErrorDocument } from "../lib/documents";
import { type Question, SnapshotTree, type SnapshotView } from "./snapshot_tree";

export interface SnapshotEntry {
  readonly route: string;
  /** What it answers: run, name, compare, view. Absent ones are the panel's empty choice. */
  readonly questions: readonly Readonly<Record<string, string>>[];
  readonly document?: unknown;
  /** What the server would say instead of a document. */
  readonly error?: ErrorDocument["error"];
}

/** What an answer depends on; all else says how much of it is wanted, or is worked out here. */
const CHOICES = ["run", "name", "record_step", "compare", "view", "task", "invocation"];
/** Which kind of collectives is wanted. */
const KINDS = ["transfer_type", "program"];
/** Windows over what the report holds whole. */
const WINDOW = [
  ...["shape", "depth", "toggled", "below", "offset", "limit", "sort", "search", "match", "root", "id", "metric"],
  ...["width_px", "levels", "points", "detail", "disturbances", "by", "device", "start_ps", "end_ps"],
];
/** Which occurrences of collectives are wanted. */
const OCCURRENCE = ["host", "core", "program", "rendezvous"];
/** What is asked of a view's tree. */
const TREE = ["", "rows", "icicle", "node", "callers"];
/** What questions to single executions depend on, beside the record. */
const OF_SHAPE: Readonly<Record<string, readonly string[]>> = {
  kernels: ["by"],
  memory: ["device"],
  event: ["id"],
};

export class SnapshotDocuments implements Snapshot {
  private readonly trees = new Map<unknown, SnapshotTree>();

  constructor(private readonly kept: readonly SnapshotEntry[]) {}

  answer(url: string): ReturnType<Snapshot["answer"]> {
    const [route = "", query = ""] = url.split("?", 2);
    const question: Question = new Map(new URLSearchParams(query));
    const more = route === "dcn" ? [...KINDS, ...OCCURRENCE] : [];
    const unknown = [...question.keys()].filter((name) => ![...CHOICES, ...WINDOW, ...more].includes(name));
    if (unknown.length > 0) return missing(url, `no answer with ${unknown.join(", ")}`);
    const shape = route === "views" ? (question.get("shape") ?? "") : "";
    const found = TREE.includes(shape) ? this.find(route, question) : this.executions(shape, question);
    if (found === undefined) return missing(url, leftOut(question));
    if (found.error !== undefined) return { error: found.error };
    if (route === "dcn") return { document: chosenOccurrences(found.document as Occurrences, question) };
    if (route !== "views" || question.has("compare") || !TREE.includes(shape)) return { document: found.document };
    const window = this.window(found.document, shape, question);
    return window === null ? missing(url, leftOut(question)) : { document: window };
  }

  /** The document of a lens. Occurrences are those of all kinds, chosen from here. */
  private find(route: string, question: Question): SnapshotEntry | undefined {
    const choices = route === "dcn" && question.get("detail") !== "occurrences" ? [...CHOICES, ...KINDS] : CHOICES;
    return this.kept.find(
      (one) =>
        one.route === route &&
        one.questions.some((asked) => asked.shape === undefined && alike(asked, question, choices)) &&
        (choices !== CHOICES || one.questions.every((asked) => KINDS.every((name) => asked[name] === undefined))),
    );
  }

  /** The document of a profile's single executions. */
  private executions(shape: string, question: Question): SnapshotEntry | undefined {
    const choices = ["run", "name", "record_step", "shape", ...(OF_SHAPE[shape] ?? [])];
    const found = this.kept.filter(
      ({ route, questions }) => route === "views" && questions.some((asked) => alike(asked, question, choices)),
    );
    return shape === "timeline" ? covering(found, question) : found[0];
  }

  private window(document: unknown, shape: string, question: Question): unknown {
    const tree = this.trees.get(document) ?? new SnapshotTree(document as SnapshotView);
    this.trees.set(document, tree);
    if (shape === "icicle") return tree.icicle(question);
    if (shape === "callers") return tree.callers(question);
    return shape === "node" ? tree.node(question) : tree.rows(question);
  }
}

const LEFT_OUT: Readonly<Record<string, string>> = {
  callers: "no callers of that row by that figure: it holds those of the costliest rows, by time",
  event: "no details of that execution: it holds those of the longest",
};

function leftOut(question: Question): string {
  if (question.has("compare")) return "no comparison of these two: it holds a number of pairs, set by --comparisons";
  return LEFT_OUT[question.get("shape") ?? ""] ?? "no answer for that choice";
}

function alike(asked: Readonly<Record<string, string>>, question: Question, choices: readonly string[]): boolean {
  return choices.every((name) => (asked[name] ?? "") === (question.get(name) ?? ""));
}

/** The narrowest window of a trace that holds the one that is asked for; else the whole. */
function covering(found: readonly SnapshotEntry[], question: Question): SnapshotEntry | undefined {
  const windows = found.map((one) => {
    const asked = one.questions[0] ?? {};
    return { one, from: Number(asked.start_ps ?? Number.NEGATIVE_INFINITY), to: Number(asked.end_ps ?? Infinity) };
  });
  const from = Number(question.get("start_ps") ?? Number.NEGATIVE_INFINITY);
  const to = Number(question.get("end_ps") ?? Infinity);
  return windows
    .filter((window) => window.from <= from && window.to >= to)
    .reduce<(typeof windows)[number] | undefined>(
      (best, window) => (best !== undefined && best.to - best.from <= window.to - window.from ? best : window),
      undefined,
    )?.one;
}

interface Occurrences {
  readonly all_hosts?: { readonly all_cores: readonly Readonly<Record<string, unknown>>[] };
  readonly occurrences?: readonly Readonly<Record<string, unknown>>[];
}

/** A document of collectives with those of its occurrences that are asked for. */
function chosenOccurrences(document: Occurrences, question: Question): Occurrences {
  const wanted = OCCURRENCE.filter((name) => question.get(name));
  const type = question.get("transfer_type");
  if (document.occurrences === undefined || (wanted.length === 0 && !type)) return document;
  const rows = document.all_hosts?.all_cores ?? [];
  const ofType = new Set(rows.flatMap((row) => (row.transfer_type === type ? [nameOf(row)] : [])));
  const found = document.occurrences.filter(
    (one) => wanted.every((name) => String(one[name]) === question.get(name)) && (!type || ofType.has(nameOf(one))),
  );
  return { ...document, occurrences: found };
}

function nameOf(row: Readonly<Record<string, unknown>>): string {
  return `${row.program} ${row.rendezvous}`;
}

function missing(url: string, what: string): ReturnType<Snapshot["answer"]> {
  return {
    error: {
      found: `The report holds ${what}`,
      where: url,
      remedy: "Open the source itself with TensorBoard or the stepscope command",
    },
  };
}
