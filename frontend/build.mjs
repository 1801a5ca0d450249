// Bundles the panel into the files that the plugin serves. The output is committed, so it holds no path, no date and no source map.
import { writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { build } from "esbuild";

const BUDGET_GZIP_BYTES = 60 * 1024;
const OUTPUT = new URL("../tb_plugin/stepscope/plugin/static/", import.meta.url);

/** Stylesheets are imported as their minified text: the panel adds them itself, so that it is one file. */
const cssAsText = {
  name: "css-as-text",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { outputFiles } = await build({ entryPoints: [path], bundle: true, minify: true, write: false });
      return { contents: outputFiles[0].text.trim(), loader: "text" };
    }),
};

/** Bundles one entry into one file of the plugin's, and says how large it is. */
async function bundle(entry, output) {
  const result = await build({
    absWorkingDir: new URL(".", import.meta.url).pathname,
    entryPoints: [entry],
    bundle: true,
    format: "esm",
    target: "es2022",
    minify: true,
    charset: "utf8",
    legalComments: "none",
    jsx: "automatic",
    jsxImportSource: "preact",
    plugins: [cssAsText],
    outfile: new URL(output, OUTPUT).pathname,
    write: false,
  });
  const [file] = result.outputFiles;
  const size = gzipSync(file.contents, { level: 9 }).length;
  if (size > BUDGET_GZIP_BYTES) {
    throw new Error(`${output} is ${size} bytes gzipped; the budget is ${BUDGET_GZIP_BYTES}.`);
  }
  await writeFile(new URL(output, OUTPUT), file.contents);
  console.log(`${output} ${file.contents.length} bytes, ${size} gzipped`);
}

await bundle("src/main.tsx", "index.js");
await bundle("src/report/main.ts", "report.js");
