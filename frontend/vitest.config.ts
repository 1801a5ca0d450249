import { readFileSync } from "node:fs";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [
    {
      name: "css-as-text", // As the bundler imports stylesheets.
      enforce: "pre",
      load: (id: string) =>
        id.endsWith(".css") ? { code: `export default ${JSON.stringify(readFileSync(id, "utf8"))}`, map: null } : null,
    },
  ],
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  test: { include: ["tests/**/*.test.{ts,tsx}"] },
});
