/** Runs the tests of `tests/host` inside the extension host of a real VS Code, as extensions are tested. */

import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import { test } from "node:test";
import { Editor } from "./editor.ts";

const CLIENT = path.join(import.meta.dirname, "../..");

test("the extension in its host", async () => {
  const results = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "rlres")), "results");
  fs.writeFileSync(results, "");
  process.env.REDLINE_TEST_RESULTS = results;
  const editor = await Editor.open({
    driver: true,
    extension: "development",
    payload: [
      ["extensionDevelopmentPath", CLIENT],
      ["extensionTestsPath", path.join(CLIENT, "out/tests/index.js")],
    ],
  });
  const code = await editor.exitCode().finally(() => editor.shot("host"));
  await editor.close();
  const told = fs.readFileSync(results, "utf8");
  process.stdout.write(told);
  assert.ok(!/^not ok/m.test(told) && code === 0, told);
  assert.ok(told.split("\n").filter((line) => line.startsWith("ok ")).length >= 14, told);
});
