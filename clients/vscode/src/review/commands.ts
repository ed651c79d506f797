/** The commands of the review: one small function for each, on the hunk that is meant. */

import * as vscode from "vscode";
import type { Checkpoint, FileChange, Hunk, Transaction } from "redline-protocol";
import type { Cursor } from "./cursor.ts";
import { type Decisions, type Target, type Verb, targetsOf } from "./decide.ts";
import type { Documents } from "./documents.ts";
import type { Transactions } from "./transactions.ts";
import { Failure, attempt, failureOf, say } from "../failure.ts";
import { uriOf } from "../files/fileSystem.ts";
import { openConflict, openDiff, openTransaction } from "../files/diffs.ts";
import type { Texts } from "../files/texts.ts";
import { SCHEME, addressOf } from "../files/uris.ts";
import type { Folder } from "../folder.ts";
import { type Folders, whyNot } from "../folders.ts";
import { isOpen, isOperationOpen, totalsLine } from "../text/labels.ts";

/** A node of the review's tree: a transaction, a file of it, or a hunk of that. */
export interface ReviewNode {
  readonly folder: Folder;
  readonly transaction: Transaction;
  readonly file?: FileChange;
  readonly hunk?: Hunk;
}

export interface Tools {
  readonly folders: Folders;
  readonly documents: Documents;
  readonly transactions: Transactions;
  readonly decisions: Decisions;
  readonly cursor: Cursor;
  readonly texts: Texts;
}

/** A hunk, however it was named: by a lens or link, a node of the tree, or the cursor. */
interface Meant {
  readonly folder: Folder;
  readonly uri: vscode.Uri;
  readonly transactionId: string;
  readonly hunk: Hunk;
}

function isAddress(value: unknown): value is { uri: string; id: string } {
  return typeof value === "object" && value !== null && "uri" in value && "id" in value && typeof value.id === "string";
}

function isNode(value: unknown): value is ReviewNode {
  return typeof value === "object" && value !== null && "transaction" in value && "folder" in value;
}

/** The target of a node: what it shows, with the revisions that it shows. */
export function targetOf(node: ReviewNode): Target {
  const { folder, transaction, file, hunk } = node;
  const whole = { folder, transactionId: transaction.id };
  if (hunk) {
    return { ...whole, hunks: [{ id: hunk.id, revision: hunk.revision }] };
  }
  if (file) {
    return { ...whole, files: [{ path: file.path, revision: transaction.revision }] };
  }
  return { ...whole, revision: transaction.revision };
}

/** Of several nodes, those that lie under none of the others. */
function outermost(nodes: readonly ReviewNode[]): ReviewNode[] {
  const has = (id: string, path?: string): boolean =>
    nodes.some((node) => !node.hunk && node.transaction.id === id && (node.file ? node.file.path === path : path !== undefined));
  return nodes.filter((node) => {
    const whole = nodes.some((other) => other !== node && !other.file && other.transaction.id === node.transaction.id);
    return !(node.file && whole) && !(node.hunk && node.file && has(node.transaction.id, node.file.path));
  });
}

export class ReviewCommands {
  readonly #tools: Tools;

  constructor(tools: Tools) {
    this.#tools = tools;
  }

  #meant(argument: unknown): Meant {
    const { documents, transactions, cursor } = this.#tools;
    if (isNode(argument) && argument.file && argument.hunk) {
      const { folder, transaction, file, hunk } = argument;
      return { folder, uri: vscode.Uri.parse(file.uri), transactionId: transaction.id, hunk };
    }
    if (isAddress(argument)) {
      const uri = vscode.Uri.parse(argument.uri);
      const review = documents.get(uri);
      const placed = review?.byId(argument.id);
      if (review && placed) {
        return { folder: review.folder, uri, transactionId: placed.shown.transactionId, hunk: placed.shown.hunk };
      }
      const found = transactions.hunk(argument.id);
      if (found) {
        return { folder: found.folder, uri, transactionId: found.transaction.id, hunk: found.hunk };
      }
      throw new Failure("UNKNOWN_HUNK", "this hunk is not there any more");
    }
    const here = cursor.here();
    const review = here && documents.get(here.editor.document.uri);
    if (!review) {
      const editor = vscode.window.activeTextEditor;
      const why = editor && whyNot(editor.document, this.#tools.folders);
      throw new Failure("NO_HUNK", why ?? "no hunk stands at the cursor", why === undefined ? "Go to the next one with Alt+J" : "");
    }
    return {
      folder: review.folder,
      uri: here.editor.document.uri,
      transactionId: here.placed.shown.transactionId,
      hunk: here.placed.shown.hunk,
    };
  }

  #targets(argument: unknown, selected: unknown): Target[] {
    const nodes = (Array.isArray(selected) && selected.length > 0 ? selected : [argument]).filter(isNode);
    if (nodes.length > 0) {
      return outermost(nodes).map(targetOf);
    }
    const { folder, transactionId, hunk } = this.#meant(argument);
    return [{ folder, transactionId, hunks: [{ id: hunk.id, revision: hunk.revision }] }];
  }

  async hunk(verb: Verb, argument: unknown, selected: unknown): Promise<void> {
    const direction = this.#tools.cursor.here();
    await this.#tools.decisions.decide(verb, this.#targets(argument, selected));
    // With the keys one goes from hunk to hunk.
    if (argument === undefined && direction) {
      this.#tools.cursor.move(1);
    }
  }

  /** The document that the active editor is about: of a proposed text, the file. */
  #activeFile(): vscode.Uri {
    const uri = vscode.window.activeTextEditor?.document.uri;
    const address = uri?.scheme === SCHEME ? addressOf(uri.query) : undefined;
    const file = address ? vscode.Uri.parse(address.file) : uri;
    if (!file) {
      throw new Failure("NO_EDITOR", "no editor is active");
    }
    return file;
  }

  async file(verb: Verb, argument: unknown): Promise<void> {
    const { documents, transactions, folders, decisions } = this.#tools;
    const uri = argument instanceof vscode.Uri && argument.scheme === "file" ? argument : this.#activeFile();
    const review = documents.get(uri);
    const folder = review?.folder ?? folders.of(uri);
    const targets = review ? targetsOf(review.folder, review.open()) : [];
    // A file that is created, deleted or renamed has an operation of its own, and one that is not open no places.
    for (const transaction of folder && targets.length === 0 ? transactions.all(folder) : []) {
      const file = transaction.files.find((each) => vscode.Uri.parse(each.uri).toString() === uri.toString());
      if (folder && file && (isOperationOpen(file) || file.hunks.some(isOpen))) {
        targets.push(targetOf({ folder, transaction, file }));
      }
    }
    if (targets.length === 0) {
      throw new Failure("NO_HUNK", "nothing is pending in this file");
    }
    await decisions.decide(verb, targets);
  }

  /** The transaction that is meant: of a node, of the hunk at the cursor, the only one of the file, the only one. */
  #transaction(argument: unknown): ReviewNode {
    const { transactions, cursor, documents, folders } = this.#tools;
    if (isNode(argument)) {
      return argument;
    }
    const here = cursor.here();
    const editor = vscode.window.activeTextEditor;
    const review = editor && documents.get(editor.document.uri);
    const inFile = new Set((review?.open() ?? []).map(({ shown }) => shown.transactionId));
    const folder = folders.expect();
    const open = transactions.all(folder).filter((each) => each.files.some((file) => isOperationOpen(file) || file.hunks.some(isOpen)));
    const ids = here ? [here.placed.shown.transactionId] : inFile.size > 0 ? [...inFile] : open.map((each) => each.id);
    const [id, ...more] = ids;
    const found = id === undefined ? undefined : transactions.find(id);
    if (!found) {
      throw new Failure("NOTHING_PENDING", "no transaction is pending");
    }
    if (more.length > 0) {
      throw new Failure("AMBIGUOUS", "several transactions are pending here", "Put the cursor on a hunk of the one you mean");
    }
    return found;
  }

  async transaction(verb: Verb, argument: unknown): Promise<void> {
    await this.#tools.decisions.decide(verb, [targetOf(this.#transaction(argument))]);
  }

  async all(verb: Verb): Promise<void> {
    const { folders, transactions, decisions } = this.#tools;
    const targets = folders.all().flatMap((folder) =>
      transactions
        .all(folder)
        .filter((transaction) => ["pending", "conflicted"].includes(transaction.state))
        .map((transaction) => targetOf({ folder, transaction })),
    );
    await decisions.decide(verb, targets);
  }

  async selection(verb: Verb): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const review = editor && this.#tools.documents.get(editor.document.uri);
    const targets = review ? this.#tools.decisions.lineTargets(editor.document, review, editor.selection) : [];
    if (targets.length === 0) {
      throw new Failure("NO_HUNK", "no hunk lies in the selected lines");
    }
    await this.#tools.decisions.decide(verb, targets);
  }

  async #onHunk(
    method: "redline/transaction/split" | "redline/transaction/repropose",
    argument: unknown,
    done: string,
  ): Promise<void> {
    const { folder, transactionId, hunk } = this.#meant(argument);
    try {
      await folder.request(method, { transactionId, hunk: { id: hunk.id, revision: hunk.revision } });
      say(done);
    } catch (error) {
      this.#tools.decisions.failed(folder, failureOf(error));
    }
  }

  async amend(argument: unknown): Promise<void> {
    const { uri, hunk } = this.#meant(argument);
    const document = await vscode.workspace.openTextDocument(uriOf({ kind: "amend", file: uri.toString(), id: hunk.id }));
    await vscode.window.showTextDocument(document, { viewColumn: vscode.ViewColumn.Beside, preview: true });
    say("change the proposed lines, then save");
  }

  async resolve(argument: unknown): Promise<void> {
    const { uri, hunk, transactionId } = this.#meant(argument);
    const by = this.#tools.transactions.byId(transactionId)?.proposedBy ?? "";
    await openConflict(uri, hunk.id, by, this.#tools.texts);
  }

  /** Settles the conflict with what its merge made of it. The tab is the user's to close. */
  async completeMerge(): Promise<void> {
    const merges = vscode.workspace.textDocuments.filter(
      ({ uri }) => uri.scheme === SCHEME && addressOf(uri.query)?.kind === "mergeResult",
    );
    const active = merges.find((document) => document === vscode.window.activeTextEditor?.document);
    const document = active ?? merges.find((each) => each.isDirty) ?? merges[0];
    if (!document) {
      throw new Failure("NO_MERGE", "no merge is open", "Open the conflict with Merge");
    }
    const text = document.getText();
    if (!(document.isDirty && (await document.save()))) {
      await vscode.workspace.fs.writeFile(document.uri, new TextEncoder().encode(text));
    }
  }

  async openDiff(argument: unknown): Promise<void> {
    const { texts, cursor } = this.#tools;
    if (isNode(argument) && argument.file) {
      await openDiff(vscode.Uri.parse(argument.file.uri), texts, argument.hunk && Math.max(0, argument.hunk.startLine - 1));
    } else if (isAddress(argument)) {
      const { uri, hunk } = this.#meant(argument);
      await openDiff(uri, texts, Math.max(0, hunk.startLine - 1));
    } else {
      await openDiff(this.#activeFile(), texts, cursor.here()?.placed.rows.first);
    }
  }

  /** Shows a hunk in its file. */
  async show(argument: unknown): Promise<void> {
    const { uri, hunk } = this.#meant(argument);
    const editor = await vscode.window.showTextDocument(uri, { preview: true });
    const placed = this.#tools.documents.get(uri)?.byId(hunk.id);
    const first = Math.max(0, hunk.startLine - 1);
    const lines = { first, last: first + hunk.removed.length };
    this.#tools.cursor.show(editor, placed ?? { shown: { hunk } as never, rows: lines });
  }

  /** Goes to the next hunk; from the last one of a file to the next file that has some. */
  async move(direction: 1 | -1): Promise<void> {
    const { cursor, folders, transactions } = this.#tools;
    if (cursor.move(direction)) {
      return;
    }
    for (const folder of folders.all()) {
      for (const transaction of transactions.all(folder)) {
        for (const file of transaction.files) {
          const hunk = file.hunks.find(isOpen);
          if (hunk) {
            await this.show({ folder, transaction, file, hunk } satisfies ReviewNode);
            return;
          }
        }
      }
    }
    say("nothing is pending");
  }

  async restore(direction: "undo" | "redo", argument: unknown): Promise<void> {
    const node = argument as { folder: Folder; checkpoint: Checkpoint } | undefined;
    const folder = node?.folder ?? this.#tools.folders.expect();
    const result = await folder.request("redline/checkpoint/restore", { direction, id: node?.checkpoint.id ?? null });
    say(`${direction === "undo" ? "undone" : "redone"}: ${result.paths.join(", ") || "nothing to change"}`);
  }

  async proposeAgainOr(argument: unknown): Promise<void> {
    await this.#onHunk("redline/transaction/repropose", argument, "proposed again");
  }

  async keepMine(argument: unknown): Promise<void> {
    const { folder, transactionId, hunk } = this.#meant(argument);
    await this.#tools.decisions.decide("withdraw", [
      { folder, transactionId, hunks: [{ id: hunk.id, revision: hunk.revision }] },
    ]);
  }

  register(): vscode.Disposable {
    const on = (name: string, run: (argument: unknown, selected: unknown) => unknown): vscode.Disposable =>
      vscode.commands.registerCommand(`redline.${name}`, (argument: unknown, selected: unknown) =>
        attempt(() => run(argument, selected)),
      );
    return vscode.Disposable.from(
      on("accept", (argument, selected) => this.hunk("accept", argument, selected)),
      on("reject", (argument, selected) => this.hunk("reject", argument, selected)),
      on("acceptFile", (argument) => this.file("accept", argument)),
      on("rejectFile", (argument) => this.file("reject", argument)),
      on("acceptTransaction", (argument) => this.transaction("accept", argument)),
      on("rejectTransaction", (argument) => this.transaction("reject", argument)),
      on("acceptAll", () => this.all("accept")),
      on("rejectAll", () => this.all("reject")),
      on("acceptSelection", () => this.selection("accept")),
      on("rejectSelection", () => this.selection("reject")),
      on("split", (argument) => this.#onHunk("redline/transaction/split", argument, "hunk split")),
      on("amend", (argument) => this.amend(argument)),
      on("repropose", (argument) => this.proposeAgainOr(argument)),
      on("keepMine", (argument) => this.keepMine(argument)),
      on("resolveConflict", (argument) => this.resolve(argument)),
      on("completeMerge", () => this.completeMerge()),
      on("openDiff", (argument) => this.openDiff(argument)),
      on("openTransaction", async (argument) => {
        const { transaction } = this.#transaction(argument);
        await openTransaction(transaction);
        say(totalsLine(transaction));
      }),
      on("showHunk", (argument) => this.show(argument)),
      on("next", () => this.move(1)),
      on("previous", () => this.move(-1)),
      on("undo", (argument) => this.restore("undo", argument)),
      on("redo", (argument) => this.restore("redo", argument)),
    );
  }
}
