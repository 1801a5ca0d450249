import { readdirSync, readFileSync } from "node:fs";
import { dirname, join, normalize, relative } from "node:path";
import { expect, test } from "vitest";

const SOURCE = join(import.meta.dirname, "../src");
const LENSES = ["overview", "views", "throughput", "incore", "dcn", "findings"];
/** What each folder may import from; main may import from all. */
const ALLOWED: Readonly<Record<string, readonly string[]>> = {
  lib: ["lib"],
  ui: ["lib", "ui"],
  report: ["lib", "report", "main"],
  ...Object.fromEntries(LENSES.map((lens) => [lens, ["lib", "ui", lens]])),
};

function imports(file: string): string[] {
  const text = readFileSync(file, "utf8");
  const paths = [...text.matchAll(/(?:from|import)\s+"(\.[^"]+)"/g)].map(([, path]) => path ?? "");
  return paths.map((path) => relative(SOURCE, normalize(join(dirname(file), path))));
}

const files = readdirSync(SOURCE, { recursive: true, encoding: "utf8" }).filter((file) => /\.tsx?$/.test(file));

test.each(files.filter((file) => file.includes("/")))("%s imports downwards only", (file) => {
  const allowed = ALLOWED[file.split("/")[0] ?? ""] ?? [];
  const wrong = imports(join(SOURCE, file)).filter((path) => !allowed.includes(path.split("/")[0] ?? ""));
  expect(wrong).toEqual([]);
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
