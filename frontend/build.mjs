// Bundles the panel into the files that the plugin serves. The output is committed, so it holds no path, no date and no source map.
import { writeFile } from "node:fs/promises";
import { basename } from "node:path";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

/** What opening the tab may load. */
const BUDGET_GZIP_BYTES = 60 * 1024;
/** A report is one file, with all lenses in it. */
const REPORT_GZIP_BYTES = 100 * 1024;
const ROOT = fileURLToPath(new URL(".", import.meta.url));
const OUTPUT = fileURLToPath(new URL("../tb_plugin/stepscope/plugin/static", import.meta.url));

/** Stylesheets are imported as their minified text: the panel adds them itself, so that it is one file. */
const cssAsText = {
  name: "css-as-text",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { outputFiles } = await build({ entryPoints: [path], bundle: true, minify: true, write: false });
      return { contents: outputFiles[0].text.trim(), loader: "text" };
    }),
};

/** Bundles an entry, in one file or with what is loaded later in files of its own, and says how large it is. */
async function bundle(entry, name, { splitting, budget }) {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { [name]: entry },
    bundle: true,
    splitting,
    format: "esm",
    target: "es2022",
    minify: true,
    charset: "utf8",
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    plugins: [cssAsText],
    outdir: OUTPUT,
    chunkNames: "[name]",
    metafile: true,
    write: false,
  });
  const sizes = new Map();
  for (const { path, contents } of outputFiles) {
    sizes.set(basename(path), gzipSync(contents, { level: 9 }).length);
    await writeFile(path, contents);
  }
  const first = atOnce(metafile, `${name}.js`).reduce((sum, file) => sum + sizes.get(file), 0);
  if (first > budget) throw new Error(`${name}.js and what it needs at once: ${first} bytes; the budget is ${budget}.`);
  console.log(`${name}.js: ${first} bytes gzipped at once;`, Object.fromEntries(sizes));
}

/** The files that are loaded before a file can run. */
function atOnce({ outputs }, name) {
  const files = Object.entries(outputs).map(([path, { imports }]) => [basename(path), imports]);
  const { [name]: own } = Object.fromEntries(files);
  return [name, ...own.filter(({ kind }) => kind === "import-statement").map(({ path }) => basename(path))];
}

await bundle("src/main.tsx", "index", { splitting: true, budget: BUDGET_GZIP_BYTES });
await bundle("src/report/main.ts", "report", { splitting: false, budget: REPORT_GZIP_BYTES });
