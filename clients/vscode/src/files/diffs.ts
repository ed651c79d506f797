/** Opening what is under review: a file beside what it would be, a whole transaction, a conflict's three sides. */

import * as path from "node:path";
import * as vscode from "vscode";
import type { FileChange, Transaction } from "redline-protocol";
import { uriOf } from "./fileSystem.ts";
import type { Texts } from "./texts.ts";
import { Failure } from "../failure.ts";
import { oneLine, short } from "../text/escape.ts";

const TITLE_MAX = 60;

/** What stands left and right for a file of a transaction. */
function sides(file: FileChange, transaction?: string): { left: vscode.Uri; right: vscode.Uri } {
  const uri = vscode.Uri.parse(file.uri);
  const id = transaction === undefined ? {} : { id: transaction };
  const right = uriOf({ kind: "proposed", file: uri.toString(), ...id });
  return file.operation === "create" ? { left: uriOf({ kind: "present", file: uri.toString() }), right } : { left: uri, right };
}

/** Shows a file beside what it would be. */
export async function openDiff(uri: vscode.Uri, texts: Texts, line?: number): Promise<void> {
  const change = texts.changes(uri)[0];
  const { left, right } = change
    ? sides(change)
    : { left: uri, right: uriOf({ kind: "proposed", file: uri.toString() }) };
  const title = `${path.posix.basename(uri.path)} (as it is ↔ as proposed)`;
  const at = line === undefined ? undefined : new vscode.Range(line, 0, line, 0);
  await vscode.commands.executeCommand("vscode.diff", left, right, title, at ? { selection: at } : {});
}

/** Shows all files of a transaction in one editor. */
export async function openTransaction(transaction: Transaction): Promise<void> {
  // VS Code adds how many files there are.
  const title = short(oneLine(transaction.title), TITLE_MAX);
  const resources = transaction.files.map((file): [vscode.Uri, vscode.Uri, vscode.Uri] => {
    const { left, right } = sides(file, transaction.id);
    return [vscode.Uri.parse(file.uri), left, right];
  });
  await vscode.commands.executeCommand("vscode.changes", title, resources);
}

/** Internal to VS Code, and not documented: where it is missing, a diff does. */
const MERGE_EDITOR = "_open.mergeEditor";

/** Opens the three sides of a conflict, and a text to merge them into. */
export async function openConflict(uri: vscode.Uri, id: string, proposedBy: string, texts: Texts): Promise<void> {
  const found = texts.conflict(uri, id);
  if (!found) {
    throw new Failure("UNKNOWN_HUNK", "this conflict is not there any more");
  }
  const side = (kind: "mergeBase" | "mergeTheirs" | "mergeMine" | "mergeResult"): vscode.Uri =>
    uriOf({ kind, file: uri.toString(), id });
  const commands = await vscode.commands.getCommands(false);
  if (commands.includes(MERGE_EDITOR)) {
    await vscode.commands.executeCommand(MERGE_EDITOR, {
      base: side("mergeBase"),
      input1: { uri: side("mergeTheirs"), title: "Proposed", description: oneLine(proposedBy), detail: "" },
      input2: { uri: side("mergeMine"), title: "Yours", description: "as it is now", detail: "" },
      output: side("mergeResult"),
    });
    return;
  }
  const name = path.posix.basename(uri.path);
  await vscode.commands.executeCommand("vscode.diff", side("mergeMine"), side("mergeTheirs"), `${name} (yours ↔ proposed)`);
  await offerWays(id, uri);
}

/** Without a merge editor the two whole answers are offered; nobody has to give one. */
async function offerWays(id: string, uri: vscode.Uri): Promise<void> {
  const ways = { "Propose again": "redline.repropose", "Keep mine": "redline.keepMine" } as const;
  const names = Object.keys(ways) as (keyof typeof ways)[];
  const chosen = await vscode.window.showInformationMessage("Redline: what shall become of this conflict?", ...names);
  if (chosen) {
    await vscode.commands.executeCommand(ways[chosen], { uri: uri.toString(), id });
  }
}
