import assert from "node:assert/strict";
import { test } from "node:test";
import type { DocumentHunk, Hunk } from "redline-protocol";
import { command, html, markdown, oneLine, short, visible } from "../../src/text/escape.ts";
import { hunkBody } from "../../src/text/hunkBody.ts";
import { hunkLine, jobState, span, tokens } from "../../src/text/labels.ts";
import { compare } from "../../src/text/words.ts";

const HUNK: Hunk = {
  id: "h_1",
  revision: 1,
  state: "pending",
  index: 3,
  startLine: 7,
  removed: ["const a = 1;"],
  added: ["const a = 2;", "<img src=x onerror=alert(1)>"],
  noNewlineAtEnd: false,
  rationale: "Because\n  it is   so",
  match: "exact",
  amended: false,
  unsaved: false,
  incomplete: false,
};

const SHOWN: DocumentHunk = {
  transactionId: "tx_1",
  total: 4,
  range: { start: { line: 6, character: 0 }, end: { line: 7, character: 0 } },
  hunk: HUNK,
};

test("foreign text cannot become markup", () => {
  assert.equal(html(`<b a="1">&'`), "&lt;b a=&quot;1&quot;&gt;&amp;&#39;");
  assert.equal(markdown("[x](command:evil) $(gear) <b>"), "\\[x\\]\\(command\\:evil\\) \\$\\(gear\\) &lt;b&gt;");
});

test("what cannot be seen is shown", () => {
  assert.equal(visible("a\u202eb\u200bc\u0007"), "a·b·c·");
  assert.equal(oneLine(" a\n\tb\u2066 "), "a b·");
  assert.equal(command(["rm", "-r", "the copy.txt", "it's"]), "rm -r 'the copy.txt' 'it'\\''s'");
  assert.equal(short("日本語のテキスト", 4), "日本語…");
});

test("a hunk's line has its number, its counts, its state in words and why", () => {
  assert.equal(hunkLine(HUNK, 4), "3/4 +2 −1 · Because it is so");
  assert.equal(hunkLine({ ...HUNK, state: "conflict", rationale: null }, 4), "3/4 +2 −1 · conflict");
  assert.equal(hunkLine({ ...HUNK, amended: true }, 4), "3/4 +2 −1 · pending, amended · Because it is so");
});

test("the body of a comment holds the lines as text, in spans that VS Code lets through", () => {
  const body = hunkBody(SHOWN, { uri: "file:///a", id: "h_1" });
  assert.ok(body.includes("&lt;img src=x onerror=alert(1)&gt;"), body);
  assert.ok(!body.includes("<img"));
  assert.ok(!body.slice(0, body.indexOf("</pre>")).includes("\n\n"), "a blank line would end the block");
  for (const [, style] of body.matchAll(/style="([^"]*)"/g)) {
    assert.match(style!, /^background-color:var\(--vscode(-[a-zA-Z0-9]+)+\);$/);
  }
  const [, argument] = /command:redline\.accept\?([^"]*)"/.exec(body)!;
  assert.deepEqual(JSON.parse(decodeURIComponent(argument!)), [{ uri: "file:///a", id: "h_1" }]);
});

test("a long hunk is cut and says so", () => {
  const added = Array.from({ length: 100 }, (_, index) => `line ${index}`);
  const body = hunkBody({ ...SHOWN, hunk: { ...HUNK, added } }, { uri: "file:///a", id: "h_1" });
  assert.ok(body.includes("… 60 more"), body.slice(-300));
  assert.ok(!body.includes("line 40<"));
});

test("the words that differ are marked, and not where nearly all does", () => {
  assert.deepEqual(compare(["const a = 1;"], ["const a = 2;"]).added, [
    [
      { text: "const a = ", changed: false },
      { text: "2", changed: true },
      { text: ";", changed: false },
    ],
  ]);
  assert.deepEqual(compare(["a"], ["entirely different"]).added, [[{ text: "entirely different", changed: false }]]);
  assert.deepEqual(compare([], ["a", ""]).added, [[{ text: "a", changed: false }], [{ text: "", changed: false }]]);
});

test("spans of time, tokens and jobs are put in words", () => {
  assert.deepEqual([span(3), span(120), span(7200), span(400_000)], ["3 s", "2 min", "2 h", "5 days"]);
  assert.deepEqual([tokens(950), tokens(12_300), tokens(1_200_000)], ["950", "12.3k", "1.2M"]);
  const job = { id: "job_1", command: ["ls"], cwd: "", state: "exited", startedAt: 10, endedAt: 13, exitCode: 2, outputBytes: 0, sandbox: "none" } as const;
  assert.equal(jobState({ ...job, command: ["ls"] }, 20), "exit code 2 after 3 s");
});
