/** Where Redline works and where it says that it does not: no trust, several folders, documents that are no files. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";
import { Editor, ROOT, propose, until, write } from "./editor.ts";

async function within(editor: Editor, name: string, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    await editor.shot(`failed-${name}`);
    throw error;
  } finally {
    await editor.close();
  }
}

test("nothing is started in a workspace that is not trusted, and the status bar says why", async () => {
  write("a.txt", "one\n");
  const editor = await Editor.open({ trust: true, file: "a.txt", settings: { "security.workspace.trust.startupPrompt": "never" } });
  await within(editor, "untrusted", async () => {
    await editor.waitStatus("Redline: not trusted");
    await editor.command("Redline: Restart");
    await until("it says that it is not trusted", async () => (await editor.page.locator(".notifications-toasts").innerText()).includes("UNTRUSTED"));
    assert.deepEqual(editor.children("redline"), [], "no sidecar, no bridge");
  });
});

test("two folders have a sidecar's bridge each, and the tree has both", async () => {
  const [one, two] = [path.join(ROOT, "one"), path.join(ROOT, "two")];
  for (const folder of [one, two]) {
    fs.mkdirSync(path.join(folder, ".git"), { recursive: true });
    fs.writeFileSync(path.join(folder, "a.txt"), "hello\n");
  }
  const file = path.join(ROOT, "both.code-workspace");
  fs.writeFileSync(file, JSON.stringify({ folders: [{ path: "one" }, { path: "two" }] }));
  const editor = await Editor.open({ workspace: file, file: "one/a.txt", width: 1400 });
  await within(editor, "folders", async () => {
    await editor.waitStatus("0 pending");
    propose("For the first", [{ path: "a.txt", search: "hello\n", replace: "good day\n" }], one);
    propose("For the second", [{ path: "a.txt", search: "hello\n", replace: "good evening\n" }], two);
    await editor.lenses("For the first").waitFor();
    await editor.sideBar();
    for (const name of ["one", "two", "For the first", "For the second"]) {
      await editor.page.locator(".monaco-list-row", { hasText: name }).first().waitFor();
    }
    await editor.shot("folders");
    await editor.lenses("Accept").first().click();
    await until("the first is accepted", async () => (await editor.text()).includes("good day"));
    assert.equal(fs.readFileSync(path.join(two, "a.txt"), "utf8"), "hello\n");
    // A document that is no file says so in words.
    await editor.command("File: New Untitled Text File");
    await editor.waitStatus("not here");
  });
});
