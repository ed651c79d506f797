// Bundles the extension, its webview, and the tests of the extension host (which no package holds).
import { copyFileSync } from "node:fs";
import { build } from "esbuild";

// A package holds the licences that the whole project is under.
for (const name of ["LICENSE-APACHE", "LICENSE-MIT"]) {
  copyFileSync(new URL(`../../${name}`, import.meta.url), new URL(name, import.meta.url));
}

const shared = { bundle: true, minify: true, logLevel: "warning", legalComments: "none" };

await Promise.all([
  build({
    ...shared,
    entryPoints: ["src/main.ts"],
    outfile: "out/main.js",
    platform: "node",
    format: "cjs",
    target: "node20",
    external: ["vscode"],
  }),
  build({
    ...shared,
    entryPoints: { webview: "webview/main.ts" },
    outdir: "out",
    platform: "browser",
    format: "iife",
    target: "es2022",
  }),
  build({ ...shared, entryPoints: { webview: "webview/style.css" }, outdir: "out" }),
  build({
    ...shared,
    entryPoints: ["tests/host/index.ts"],
    outfile: "out/tests/index.js",
    platform: "node",
    format: "cjs",
    target: "node20",
    external: ["vscode"],
  }),
]);
