/** The review as a person does it: propose, see, accept one, reject one, undo, the tree, the diff, a conflict. */

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { Editor, propose, read, redline, textOf, until, write } from "./editor.ts";

const PRICING = `import { readFile } from "node:fs/promises";
import { Money, add, multiply } from "./money";

export interface Line {
  sku: string;
  quantity: number;
  unit: Money;
}

export interface Order {
  id: string;
  customer: string;
  lines: Line[];
  coupon?: string;
}

const TAX = 0.19;

// loads one order from disk
export async function load(path: string): Promise<Order> {
  const text = await readFile(path, "utf8");
  return JSON.parse(text) as Order;
}

export function subtotal(order: Order): Money {
  let sum: Money = { amount: 0, currency: "EUR" };
  for (const line of order.lines) {
    sum = add(sum, multiply(line.unit, line.quantity));
  }
  return sum;
}

export function discount(order: Order): number {
  if (order.coupon === "WELCOME10") {
    return 0.1;
  }
  console.log("no coupon for", order.id);
  console.log("customer", order.customer);
  return 0;
}
`;

const CHECKED = `  const raw: unknown = JSON.parse(text);
  if (!isOrder(raw)) throw new TypeError(\`not an order: \${path}\`);
  return raw;
`;

let editor: Editor;

interface Status {
  transactions: { id: string; files: { path: string; hunks: { id: string; state: string; added: string[] }[] }[] }[];
}

function states(path: string): string[] {
  const { transactions } = JSON.parse(redline(["status", "--json"])) as Status;
  return transactions.flatMap(({ files }) => files.filter((file) => file.path === path).flatMap((file) => file.hunks.map((hunk) => hunk.state)));
}

before(async () => {
  write("src/pricing.ts", PRICING);
  write("src/money.ts", "export const zero = 0;\n");
  editor = await Editor.open({ file: "src/pricing.ts", width: 1400, height: 1000 });
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

step("a proposal is shown in the editor, and nothing takes the focus", async () => {
  await editor.waitStatus("0 pending");
  await editor.clickLine("readFile(path");
  await editor.page.keyboard.press("End");
  propose("A table of coupons, and orders are checked when they are read", [
    { path: "src/pricing.ts", search: "  return JSON.parse(text) as Order;\n", replace: CHECKED },
    {
      path: "src/pricing.ts",
      search: "const TAX = 0.19;\n\n",
      replace: "const TAX = 0.19;\n\nconst COUPONS: Record<string, number> = {\n  WELCOME10: 0.1,\n  SUMMER15: 0.15,\n};\n\n",
    },
    {
      path: "src/pricing.ts",
      search: '  console.log("no coupon for", order.id);\n  console.log("customer", order.customer);\n',
      replace: "",
    },
    { path: "src/money.ts", search: "zero = 0", replace: "zero = 0n" },
  ]);
  await editor.waitStatus("4 pending");
  await editor.lenses("Accept").nth(2).waitFor();
  assert.equal(await editor.lenses("Accept").count(), 3);
  await editor.lenses("2/4 +3 −1").waitFor();
  // The keys go where they went before.
  await editor.page.keyboard.type("!");
  await until("the text has the key", async () => (await editor.text()).includes('readFile(path, "utf8");!'));
  await editor.page.keyboard.press("Backspace");
});

step("the hunk at the cursor is shown in full, as text", async () => {
  await editor.clickLine("as Order");
  const thread = editor.page.locator(".review-widget");
  await thread.waitFor();
  const body = await thread.innerText();
  assert.ok(body.includes("if (!isOrder(raw)) throw new TypeError(`not an order: ${path}`);"), body);
  assert.ok(body.includes("−"), body);
  await editor.sideBar();
  await editor.page.locator(".monaco-list-row", { hasText: "22: +3 −1" }).waitFor();
  await editor.shot("review-dark");
});

step("a whole file is accepted by its key, and one native undo takes all of it back", async () => {
  await editor.clickLine("const TAX");
  await editor.page.keyboard.press("Shift+Alt+y");
  await editor.waitStatus("1 pending");
  assert.ok((await editor.text()).includes("COUPONS") && !(await editor.text()).includes("no coupon for"));
  assert.equal(read("src/pricing.ts"), PRICING, "nothing is saved unasked");
  await editor.page.keyboard.press("Control+z");
  await editor.waitStatus("4 pending");
  await until("the text is as before", async () => (await editor.text()).includes("no coupon for") && !(await editor.text()).includes("COUPONS"));
});

step("Alt+J and Alt+K go from hunk to hunk, Alt+Y accepts", async () => {
  await editor.clickLine("import { readFile");
  await editor.page.keyboard.press("Alt+j");
  await until("on the first hunk", async () => (await editor.page.locator(".review-widget").innerText()).includes("1/4"));
  await editor.page.keyboard.press("Alt+j");
  await until("on the second hunk", async () => (await editor.page.locator(".review-widget").innerText()).includes("2/4"));
  await editor.page.keyboard.press("Alt+y");
  await until("the text has it", async () => (await editor.text()).includes("if (!isOrder(raw))"));
  await editor.waitStatus("3 pending");
  assert.ok(read("src/pricing.ts").includes("as Order"), "accepted in the editor, not saved");
});

step("Alt+N rejects: the text stays as it was", async () => {
  await editor.clickLine("no coupon for");
  await until("on the hunk", async () => (await editor.page.locator(".review-widget").innerText()).includes("+0 −2"));
  await editor.page.keyboard.press("Alt+n");
  await editor.waitStatus("2 pending");
  assert.ok((await editor.text()).includes("no coupon for"));
});

step("the disk and the receipt have what was accepted once it is saved", async () => {
  await editor.page.keyboard.press("Control+s");
  await until("saved", () => read("src/pricing.ts") === PRICING.replace("  return JSON.parse(text) as Order;\n", CHECKED));
  assert.deepEqual(states("src/pricing.ts").sort(), ["accepted", "pending", "rejected"]);
});

step("one native undo takes the acceptance back, and the hunk waits again", async () => {
  await editor.clickLine("isOrder(raw)");
  await editor.page.keyboard.press("Control+z");
  await until("the text is as before", async () => (await editor.text()).includes("as Order"));
  await editor.waitStatus("3 pending");
  await editor.lenses("+3 −1").waitFor();
});

step("the diff shows the file beside what it would be, and its arrow rejects", async () => {
  await editor.lenses("Diff").first().click();
  const diff = editor.page.locator(".monaco-diff-editor");
  await diff.waitFor();
  await until("the proposed side is there", async () => (await diff.locator(".modified .view-lines").innerText()).includes("COUPONS"));
  await editor.shot("diff-dark");
  await diff.locator(".modified .view-line", { hasText: "COUPONS" }).first().hover();
  const arrow = diff.locator(".gutter .codicon-arrow-right").first();
  await arrow.waitFor();
  await arrow.click();
  await editor.waitStatus("2 pending");
  await until("it is gone from the proposed side", async () => !(await diff.locator(".modified .view-lines").innerText()).includes("COUPONS"));
  await editor.page.keyboard.press("Control+F4");
});

step("the tree decides what is checked", async () => {
  const row = editor.page.locator(".monaco-list-row", { hasText: "money.ts" });
  const box = row.locator(".monaco-custom-toggle").first();
  const accept = editor.page.locator("[aria-label^='Accept What Is Checked'], [title^='Accept What Is Checked']").first();
  // A row that is drawn anew just then swallows the click.
  await until("it is checked", async () => {
    if ((await box.getAttribute("aria-checked")) !== "true") {
      await box.click();
    }
    await editor.page.locator(".pane-header", { hasText: "Pending Changes" }).hover();
    return accept.waitFor({ timeout: 3000 }).then(
      () => true,
      () => false,
    );
  });
  await accept.click();
  await until("money.ts is written", () => read("src/money.ts") === "export const zero = 0n;\n");
  await editor.waitStatus("1 pending");
});

step("a change of the user's own makes a conflict, and the merge settles it", async () => {
  await editor.openFile("pricing.ts");
  await editor.clickLine("as Order");
  await editor.page.keyboard.press("End");
  await editor.page.keyboard.type(" // mine");
  await editor.waitStatus("1 conflict");
  await editor.lenses("Merge").waitFor();
  await editor.shot("conflict-inline");
  await editor.lenses("Merge").click();
  const merge = editor.page.locator(".merge-editor");
  await merge.waitFor();
  await until("the sides are there", async () => (await textOf(merge)).includes("Accept Proposed") && (await textOf(merge)).includes("// mine"));
  await editor.shot("conflict-merge");
  await merge.locator(".merge-editor-conflict-actions a", { hasText: "Accept Proposed" }).first().click();
  await until("the result has it", async () => (await textOf(merge.locator(".result .view-lines"))).includes("isOrder(raw)"));
  await editor.page.locator(".editor-actions [aria-label^='Complete Merge']").first().click();
  await until("nothing is pending", async () => (await editor.page.locator(".statusbar").innerText()).includes("0 pending"));
  await editor.openFile("pricing.ts");
  await until("the file has it", async () => (await editor.text()).includes("if (!isOrder(raw))"));
  assert.ok(!(await editor.text()).includes("// mine"));
});
