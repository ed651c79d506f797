// model: vscode.json
/** The conversation as a person has it: a prompt, an approval in place, what was proposed, stopping, going on later. */

import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { after, before, test } from "node:test";
import type { Frame } from "playwright-core";
import { Editor, ROOT, read, textOf, until, write } from "./editor.ts";

let editor: Editor;
let page: Frame;

before(async () => {
  write("greeting.txt", "hello\n");
  editor = await Editor.open({ file: "greeting.txt", width: 1400, height: 1000 });
  await editor.waitStatus("0 pending");
  await editor.command("Redline: Open the Conversation");
  page = await editor.conversation();
});

after(async () => {
  await editor.close();
});

/** A failure leaves a picture of what a user would have seen. */
function step(name: string, run: () => Promise<void>): void {
  test(name, async () => {
    try {
      await run();
    } catch (error) {
      await editor.shot(`failed-${name.replace(/\W+/g, "-")}`);
      throw error;
    }
  });
}

async function said(text: string): Promise<void> {
  await until(`the conversation says ${text}`, async () => (await page.locator("#log").innerText()).includes(text));
}

async function ask(text: string): Promise<void> {
  await page.locator("#prompt").fill(text);
  await page.locator("#prompt").press("Enter");
}

step("a staged command waits in place, shown exactly, and runs once it is approved", async () => {
  await ask("copy the greeting");
  const card = page.locator(".card.waits");
  await card.waitFor();
  const facts = await card.innerText();
  assert.ok(facts.includes("cp greeting.txt 'the copy.txt'"), facts);
  assert.ok(facts.includes("waits for your approval"), facts);
  await editor.waitStatus("1 waits for you");
  assert.ok(!fs.existsSync(path.join(ROOT, "the copy.txt")), "nothing runs unasked");
  await editor.shot("conversation-approval");
  await card.getByRole("button", { name: "Approve once" }).click();
  await until("it ran", () => fs.existsSync(path.join(ROOT, "the copy.txt")));
  await said("■ done");
});

step("the answer is markdown, and HTML in it is text", async () => {
  const log = page.locator("#log");
  assert.equal(await log.locator("strong", { hasText: "changed" }).count(), 1);
  assert.equal(await log.locator("table td", { hasText: "greeting.txt" }).count(), 1);
  assert.equal(await log.locator(".code pre").innerText(), 'export const greeting = "<b>good day</b>";');
  assert.equal(await log.locator("img").count(), 0);
  await said('<img src=x onerror="document.title=\'owned\'"> is only text.');
});

step("the page loads and runs nothing but its own", async () => {
  const policy = await page.locator("meta[http-equiv='Content-Security-Policy']").getAttribute("content");
  assert.match(policy ?? "", /^default-src 'none'; script-src 'nonce-[^']+'; style-src [^;]+; base-uri 'none'; form-action 'none'$/);
  const ran = await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.ranUnasked = true";
    document.body.append(script);
    script.remove();
    return "ranUnasked" in window;
  });
  assert.equal(ran, false);
});

step("what was proposed is in the editor, and a link of the conversation leads there", async () => {
  await editor.waitStatus("1 pending");
  await page.locator("details.call", { hasText: "pending" }).first().locator("summary").click();
  await page.locator("button.link", { hasText: "greeting.txt:1" }).first().click();
  await editor.lenses("Accept").first().waitFor();
  await editor.shot("conversation-dark");
  await editor.lenses("Accept").first().click();
  await editor.waitStatus("0 pending");
  await said("accepted");
  await editor.page.keyboard.press("Control+s");
  await until("it is saved", () => read("greeting.txt") === "good day\n");
});

step("a denial reaches the model with its reason", async () => {
  await editor.command("Redline: New Conversation");
  await until("the page is empty", async () => (await page.locator(".entry").count()) === 0);
  await ask("remove everything");
  const card = page.locator(".card.waits");
  await card.waitFor();
  await card.getByRole("button", { name: "Deny, say why" }).click();
  const input = editor.page.locator(".quick-input-widget input.input");
  await input.waitFor();
  await input.fill("not this");
  await input.press("Enter");
  await said("Then I leave it.");
  await said("denied by vscode: not this");
  assert.equal(read("greeting.txt"), "good day\n");
});

step("what a program wrote is a click away", async () => {
  const pane = editor.page.locator(".pane", { has: editor.page.locator(".pane-header", { hasText: "Jobs" }) });
  await pane.locator(".pane-header").click();
  await pane.locator(".monaco-list-row", { hasText: "cp greeting.txt" }).first().click();
  await until("the output is shown", async () => (await textOf(editor.page.locator(".part.panel .xterm-rows").first())).includes("exit code 0"));
  await editor.command("View: Hide Panel");
  await pane.locator(".pane-header").click();
});

step("the doctor's report stays on the screen", async () => {
  await editor.command("Redline: Check the Set-Up (Doctor)");
  await until("the report is shown", async () => (await textOf(editor.page.locator(".part.panel"))).includes("gpt-4o"));
  await editor.command("View: Hide Panel");
});

step("an approval is told where no conversation shows it, and the toast decides", async () => {
  await editor.command("Redline: New Conversation");
  await until("the page is empty", async () => (await page.locator(".entry").count()) === 0);
  await editor.command("View: Show Explorer");
  await editor.command("Redline: Ask for a Change…");
  const input = editor.page.locator(".quick-input-widget input.input");
  await until("the question is there", async () => (await input.getAttribute("placeholder")) !== "Type the name of a command to run.");
  await input.fill("remove everything");
  await input.press("Enter");
  const toast = editor.page.locator(".notification-toast", { hasText: "waits for your approval" });
  await toast.waitFor();
  assert.ok((await toast.innerText()).includes("runs rm -r ."), await toast.innerText());
  await toast.locator(".monaco-button", { hasText: "Deny" }).click();
  await editor.command("Redline: Open the Conversation");
  page = await editor.conversation();
  await said("Then I leave it.");
  assert.equal(read("greeting.txt"), "good day\n");
});

step("a turn is stopped by its button", async () => {
  await editor.command("Redline: New Conversation");
  await until("the page is empty", async () => (await page.locator(".entry").count()) === 0);
  await ask("take your time");
  await said("A slow");
  await page.getByRole("button", { name: "Stop" }).click();
  await said("stopped by you");
});

step("the mode is chosen in the conversation and shown in the status bar", async () => {
  await page.locator("#mode").selectOption("plan");
  await editor.waitStatus("plan · gpt-4o");
});

step("a conversation can be left, and gone on with from the list", async () => {
  await editor.command("Redline: New Conversation");
  await until("the page is empty", async () => (await page.locator(".entry").count()) === 0);
  await editor.command("Redline: Go On with a Conversation…");
  await editor.page.locator(".quick-input-list .monaco-list-row", { hasText: "copy the greeting" }).first().click();
  await said("Copied, and changed.");
  assert.equal(await page.locator(".user-entry").count(), 1);
});

step("ten thousand entries leave the page small, and typing goes on while they arrive", async () => {
  const { longest, shown } = await page.evaluate(async () => {
    const frame = (): Promise<number> => new Promise((resolve) => requestAnimationFrame(resolve));
    const say = (data: unknown): void => {
      window.dispatchEvent(new MessageEvent("message", { data }));
    };
    let longest = 0;
    let last = await frame();
    for (let batch = 0; batch < 100; batch++) {
      const puts = Array.from({ length: 100 }, (_, index) => {
        const key = `many:${batch}:${index}`;
        return index % 10 === 0
          ? { kind: "answer", key, text: `Answer **${batch}**\n\n\`\`\`ts\nconst a = ${index};\n\`\`\`` }
          : { kind: "call", key, title: `read ${index}`, state: "done", tone: "quiet", hunks: [], facts: [], details: ["text"] };
      });
      say({ type: "patch", puts, appends: [] });
      const now = await frame();
      longest = Math.max(longest, now - last);
      last = now;
    }
    return { longest, shown: document.querySelectorAll(".entry").length };
  });
  console.log(`measured: the longest frame while 10,000 entries arrived took ${longest.toFixed(0)} ms`);
  assert.ok(shown <= 900, `${shown} entries are in the page`);
  await page.locator("#prompt").fill("");
  await page.locator("#prompt").pressSequentially("typed meanwhile");
  assert.equal(await page.locator("#prompt").inputValue(), "typed meanwhile");
  // Who scrolls up finds what came before.
  await page.locator("#log").evaluate((log) => {
    log.scrollTop = 0;
  });
  await until("older entries come back", async () => (await page.locator(".entry").count()) > shown);
  await page.getByRole("button", { name: "Go to the latest" }).click();
});

step("everything has a name for a screen reader, and the keyboard reaches it", async () => {
  const nameless = await page.evaluate(() =>
    Array.from(document.querySelectorAll("button, select, textarea"))
      .filter((each) => (each.getAttribute("aria-label") ?? each.textContent).trim() === "" && each.getAttribute("title") === null)
      .map((each) => each.outerHTML),
  );
  assert.deepEqual(nameless, []);
  assert.equal(await page.locator("#log").getAttribute("role"), "log");
  assert.equal(await page.locator("#status").getAttribute("aria-live"), "polite");
  await page.locator("#prompt").focus();
  await editor.page.keyboard.press("Tab");
  assert.equal(await page.evaluate(() => document.activeElement?.id), "attach-selection");
});
