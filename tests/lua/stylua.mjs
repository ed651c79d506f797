// Formats Lua files with StyLua, as `stylua` itself would.
//
//     node stylua.mjs PACKAGE [--check] CONFIG FILE...
//
// PACKAGE is the folder of the npm package `@johnnymorganz/stylua`, CONFIG a `stylua.toml`. Without `--check` the
// files are written; with it, those that differ are named and the exit code is 1.

import { readFileSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { resolve } from "node:path";

const [folder, ...rest] = process.argv.slice(2);
const check = rest[0] === "--check";
const [configFile, ...files] = check ? rest.slice(1) : rest;
const stylua = createRequire(import.meta.url)(resolve(folder));

const KINDS = {
  indent_type: stylua.IndentType,
  quote_style: stylua.QuoteStyle,
  call_parentheses: stylua.CallParenType,
};

function configuration() {
  const config = stylua.Config.new();
  config.syntax = stylua.LuaVersion.LuaJIT;
  for (const line of readFileSync(configFile, "utf8").split("\n")) {
    const [, key, text] = line.match(/^(\w+) *= *(.*)$/) ?? [];
    if (!key) continue;
    const kind = KINDS[key];
    const value = kind ? kind[JSON.parse(text)] : Number(text);
    if (value === undefined || Number.isNaN(value)) throw new Error(`${configFile}: ${line}`);
    config[key] = value;
  }
  return config;
}

let differing = 0;
for (const file of files) {
  const before = readFileSync(file, "utf8");
  const after = stylua.formatCode(before, configuration(), undefined, stylua.OutputVerification.Full);
  if (after === before) continue;
  differing += 1;
  if (check) console.log(`${file} is not formatted`);
  else writeFileSync(file, after);
}
process.exitCode = check && differing > 0 ? 1 : 0;
