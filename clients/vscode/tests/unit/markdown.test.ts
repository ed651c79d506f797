import assert from "node:assert/strict";
import { test } from "node:test";
import { type Block, type Inline, Streamed, parseBlocks, parseInline } from "../../webview/markdown.ts";

function blocks(text: string): Block[] {
  return parseBlocks(text.split("\n")).map(({ block }) => block);
}

/** A tree in one line, to be compared by eye. */
function inline(nodes: readonly Inline[]): string {
  return nodes
    .map((node) => {
      switch (node.kind) {
        case "text":
          return node.text;
        case "code":
          return `<code ${node.text}>`;
        case "break":
          return "<br>";
        case "link":
          return `<a ${node.url} ${inline(node.children)}>`;
        case "strong":
        case "em":
        case "del":
          return `<${node.kind} ${inline(node.children)}>`;
      }
    })
    .join("");
}

test("inline marks", () => {
  const cases: [string, string][] = [
    ["a **b** c", "a <strong b> c"],
    ["*a* _b_ ~~c~~", "<em a> <em b> <del c>"],
    ["snake_case_name and 2 * 3 * 4", "snake_case_name and 2 * 3 * 4"],
    ["`a * b` ``c ` d``", "<code a * b> <code c ` d>"],
    ["[x](https://example.org/a_b) [no]", "<a https://example.org/a_b x> [no]"],
    ["see https://example.org/x_y.", "see <a https://example.org/x_y https://example.org/x_y>."],
    ["**open and `open", "**open and `open"],
    ["\\*not\\*", "*not*"],
    ["<b>text</b> & more", "<b>text</b> & more"],
    ["one\ntwo", "one<br>two"],
  ];
  for (const [text, expected] of cases) {
    assert.equal(inline(parseInline(text)), expected, text);
  }
});

test("blocks", () => {
  const text = "# Title\n\nText\nmore\n\n- one\n- [x] two\n  - inner\n\n3. three\n\n> quoted\n\n---\n\n| a | b |\n|---|:-:|\n| 1 | 2 |\n\n```ts\nconst a = `1`;\n```\n";
  assert.deepEqual(blocks(text).map(({ kind }) => kind), ["heading", "paragraph", "list", "list", "quote", "rule", "table", "code"]);
  const [, , list, ordered, , , table, code] = blocks(text);
  assert.ok(list?.kind === "list" && ordered?.kind === "list" && table?.kind === "table" && code?.kind === "code");
  assert.deepEqual(list.items.map(({ checked }) => checked), [undefined, true]);
  assert.equal(list.items[1]?.children[0]?.kind, "list");
  assert.deepEqual([ordered.ordered, ordered.start], [true, 3]);
  assert.deepEqual([table.head.length, table.rows.length], [2, 1]);
  assert.deepEqual(code, { kind: "code", language: "ts", text: "const a = `1`;", closed: true });
});

test("a code block that is not closed yet holds all that came", () => {
  assert.deepEqual(blocks("```\na\n\n# b"), [{ kind: "code", language: "", text: "a\n\n# b", closed: false }]);
});

test("what arrives in pieces reads as what arrives whole, wherever it is cut", () => {
  const text = "Intro *here*\n\n1. a\n2. b\n\n```js\nlet a;\n\nlet b;\n```\n\n| a |\n|---|\n| 1 |\n\n> q\n\nEnd";
  const whole = JSON.stringify(blocks(text));
  for (let size = 1; size < 12; size++) {
    const streamed = new Streamed();
    const done: Block[] = [];
    let open: Block[] = [];
    for (let from = 0; from < text.length; from += size) {
      const next = streamed.append(text.slice(from, from + size));
      done.push(...next.done);
      open = next.open;
    }
    assert.equal(JSON.stringify([...done, ...open]), whole, `pieces of ${size}`);
  }
});

test("any text is read, and in a time that grows with its length", () => {
  const evil = ["*".repeat(20_000), "_a".repeat(10_000), "[".repeat(20_000), "`".repeat(20_000), "> ".repeat(5000), "- ".repeat(5000), "**a ".repeat(5000), `${"  ".repeat(200)}- x\n`.repeat(50), "|".repeat(5000)];
  const begun = performance.now();
  for (const text of evil) {
    assert.ok(Array.isArray(blocks(text)));
  }
  let seed = 1;
  for (let round = 0; round < 3000; round++) {
    let text = "";
    for (let n = 0; n < 40; n++) {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      text += "*_`[]()#>-| \n1.~\\ab<h"[seed % 22] ?? "";
    }
    assert.ok(Array.isArray(blocks(text)), text);
  }
  // Not a measurement: quadratic behaviour would take minutes.
  assert.ok(performance.now() - begun < 60_000);
});
