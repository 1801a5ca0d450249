import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { expect, test } from "vitest";

const SOURCE = join(import.meta.dirname, "../src");
const LENSES = ["overview", "views", "trace", "throughput", "incore", "dcn", "findings"];
/** What each folder may import from; main may import from all. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  lib: ["lib"],
  ui: ["lib", "ui"],
  report: ["lib", "report", "main.tsx"],
  ...Object.fromEntries(LENSES.map((lens) => [lens, ["lib", "ui", lens]])),
};

const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));

/** What a file imports, as types or later too, by paths within the sources. */
function imports(file: string): string[] {
  const text = readFileSync(join(SOURCE, file), "utf8");
  const paths = [...text.matchAll(/(?:from\s+|import\s+|import\()"(\.[^"]+)"/g)].map(([, path]) => path ?? "");
  return paths.map((path) => resolved(relative(SOURCE, normalize(join(SOURCE, dirname(file), path)))));
}

function resolved(path: string): string {
  const ends = ["", ".ts", ".tsx", "/index.ts", "/index.tsx"];
  return ends.map((end) => path + end).find((file) => files.includes(file)) ?? path;
}

/** A circle among the imports, from a file to itself; empty where there is none. */
function circle(importsOf: (file: string) => readonly string[], all: readonly string[]): readonly string[] {
  const done = new Set<string>();
  const search = (file: string, path: readonly string[]): readonly string[] => {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (done.has(file)) return [];
    for (const next of importsOf(file)) {
      const found = search(next, [...path, file]);
      if (found.length > 0) return found;
    }
    done.add(file);
    return [];
  };
  return all.map((file) => search(file, [])).find((found) => found.length > 0) ?? [];
}

test.each(files.filter((file) => file.includes("/")))("%s imports downwards only", (file) => {
  const allowed = ALLOWED[file.split("/")[0] ?? ""] ?? [];
  const wrong = imports(file).filter((path) => !allowed.includes(path.split("/")[0] ?? ""));
  expect(wrong).toEqual([]);
});

test("no file imports itself by way of others", () => {
  expect(circle((file) => imports(file).filter((path) => files.includes(path)), files)).toEqual([]);
});

test("a circle is found, and two ways to one file are none", () => {
  const circular: Record<string, string[]> = { a: ["b"], b: ["c", "d"], c: ["d"], d: ["b"] };
  expect(circle((file) => circular[file] ?? [], Object.keys(circular))).toEqual(["b", "c", "d", "b"]);
  const twoWays: Record<string, string[]> = { a: ["b", "c"], b: ["d"], c: ["d"], d: [] };
  expect(circle((file) => twoWays[file] ?? [], Object.keys(twoWays))).toEqual([]);
});

test("lib draws nothing", () => {
  const drawing = files.filter(
    (file) => file.startsWith("lib/") && /from "@?preact/.test(readFileSync(join(SOURCE, file), "utf8")),
  );
  expect(drawing).toEqual([]);
});

test("nothing writes markup, so that no name in a record is ever markup", () => {
  const writing = files.filter((file) =>
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/.test(
      readFileSync(join(SOURCE, file), "utf8"),
    ),
  );
  expect(writing).toEqual([]);
});
