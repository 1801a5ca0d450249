// Bundles the panel into the files that the plugin serves. The output is committed, so it holds no path, no date and no source map.
import { readFile, writeFile } from "node:fs/promises";
import { gzipSync } from "node:zlib";
import { build, transform } from "esbuild";

const BUDGET_GZIP_BYTES = 60 * 1024;
const OUTPUT = new URL("../tb_plugin/stepscope/plugin/static/index.js", import.meta.url);

/** Stylesheets are imported as their minified text: the panel adds them itself, so that it is one file. */
const cssAsText = {
  name: "css-as-text",
  setup: ({ onLoad }) =>
    onLoad({ filter: /\.css$/ }, async ({ path }) => {
      const { code } = await transform(await readFile(path, "utf8"), { loader: "css", minify: true });
      return { contents: code.trim(), loader: "text" };
    }),
};

const result = await build({
  absWorkingDir: new URL(".", import.meta.url).pathname,
  entryPoints: ["src/main.tsx"],
  bundle: true,
  format: "esm",
  target: "es2022",
  minify: true,
  charset: "utf8",
  legalComments: "none",
  jsx: "automatic",
  jsxImportSource: "preact",
  plugins: [cssAsText],
  outfile: OUTPUT.pathname,
  write: false,
});

const [bundle] = result.outputFiles;
const size = gzipSync(bundle.contents, { level: 9 }).length;
if (size > BUDGET_GZIP_BYTES) {
  throw new Error(`The bundle is ${size} bytes gzipped; the budget is ${BUDGET_GZIP_BYTES}.`);
}
await writeFile(OUTPUT, bundle.contents);
console.log(`index.js ${bundle.contents.length} bytes, ${size} gzipped`);
