import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vitest/config";

/** Imports a stylesheet as its text, as the bundler does. */
const cssAsText: Plugin = {
  name: "css-as-text",
  enforce: "pre",
  load: (id) =>
    id.endsWith(".css") ? { code: `export default ${JSON.stringify(readFileSync(id, "utf8"))}`, map: null } : null,
};

export default defineConfig({
  plugins: [cssAsText],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  test: { environment: "happy-dom", include: ["tests/**/*.test.{ts,tsx}"] },
});
