/** The tree of what is under review: transactions, their files, their hunks, with states in words and check boxes. */

import * as path from "node:path";
import * as vscode from "vscode";
import type { Folder } from "../folder.ts";
import type { Folders } from "../folders.ts";
import { Failure, attempt } from "../failure.ts";
import type { ReviewNode } from "../review/commands.ts";
import type { Decisions, Verb } from "../review/decide.ts";
import type { Transactions } from "../review/transactions.ts";
import { oneLine } from "../text/escape.ts";
import { count, fileLine, hunkState, isOpen, isOperationOpen, lines, totals, totalsLine, transactionState } from "../text/labels.ts";

type Node = { readonly folder: Folder; readonly transaction?: undefined } | ReviewNode;

/** Files with more hunks are not unfolded by themselves. */
const UNFOLDED_MAX = 12;

const ICONS: Readonly<Record<string, [string, string?]>> = {
  pending: ["circle-outline"],
  conflict: ["warning", "list.warningForeground"],
  accepted: ["check", "testing.iconPassed"],
  rejected: ["close"],
  withdrawn: ["circle-slash"],
};

const TRANSACTION_ICONS: Readonly<Record<string, [string, string?]>> = {
  pending: ["git-pull-request"],
  conflicted: ["warning", "list.warningForeground"],
  failed: ["error", "list.errorForeground"],
  committed: ["check-all", "testing.iconPassed"],
  rejected: ["close-all"],
  undone: ["discard"],
};

function icon([id, color]: [string, string?]): vscode.ThemeIcon {
  return new vscode.ThemeIcon(id, color === undefined ? undefined : new vscode.ThemeColor(color));
}

function keyOf({ folder, transaction, file, hunk }: ReviewNode): string {
  return [folder.key, transaction.id, file?.path ?? "", hunk?.id ?? ""].join("\0");
}

/** Whether anything of a node waits for the user. */
function waits({ transaction, file, hunk }: ReviewNode): boolean {
  if (hunk) {
    return isOpen(hunk);
  }
  return totals(file ? [file] : transaction.files).open > 0;
}

export class ReviewTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  readonly #folders: Folders;
  readonly #transactions: Transactions;
  readonly #decisions: Decisions;
  readonly #changed = new vscode.EventEmitter<Node | undefined>();
  readonly #checked = new Map<string, ReviewNode>();
  readonly #view: vscode.TreeView<Node>;
  readonly #subscriptions: vscode.Disposable[];
  readonly onDidChangeTreeData = this.#changed.event;

  constructor(folders: Folders, transactions: Transactions, decisions: Decisions) {
    this.#folders = folders;
    this.#transactions = transactions;
    this.#decisions = decisions;
    this.#view = vscode.window.createTreeView("redline.review", {
      treeDataProvider: this,
      canSelectMany: true,
      showCollapseAll: true,
      manageCheckboxStateManually: true,
    });
    const command = (name: string, verb: Verb): vscode.Disposable =>
      vscode.commands.registerCommand(`redline.${name}`, () => attempt(() => this.#decideChecked(verb)));
    this.#subscriptions = [
      this.#view,
      this.#changed,
      transactions.onDidChange(() => {
        this.#refresh();
      }),
      folders.onDidChange(() => {
        this.#badge();
      }),
      this.#view.onDidChangeCheckboxState(({ items }) => {
        for (const [node, state] of items) {
          if (node.transaction) {
            this.#check(node, state === vscode.TreeItemCheckboxState.Checked);
          }
        }
        this.#changed.fire(undefined);
      }),
      command("acceptChecked", "accept"),
      command("rejectChecked", "reject"),
    ];
  }

  /** A box stands for all that lies under it. */
  #check(node: ReviewNode, checked: boolean): void {
    const all = [node, ...this.#under(node)].filter(waits);
    for (const each of all) {
      if (checked) {
        this.#checked.set(keyOf(each), each);
      } else {
        this.#checked.delete(keyOf(each));
      }
    }
    if (!checked) {
      const { folder, transaction, file } = node;
      this.#checked.delete(keyOf({ folder, transaction }));
      if (file) {
        this.#checked.delete(keyOf({ folder, transaction, file }));
      }
    }
    this.#context();
  }

  #under({ folder, transaction, file, hunk }: ReviewNode): ReviewNode[] {
    if (hunk) {
      return [];
    }
    const files = file ? [file] : transaction.files;
    return files.flatMap((each) => [
      ...(file ? [] : [{ folder, transaction, file: each }]),
      ...each.hunks.map((one) => ({ folder, transaction, file: each, hunk: one })),
    ]);
  }

  #context(): void {
    void vscode.commands.executeCommand("setContext", "redline.checked", this.#checked.size > 0);
  }

  /** Decides what is checked: hunks by the revisions that the tree shows, files without hunks as such. */
  async #decideChecked(verb: Verb): Promise<void> {
    const leaves = [...this.#checked.values()].filter((node) => node.hunk ?? (node.file && isOperationOpen(node.file)));
    if (leaves.length === 0) {
      throw new Failure("NOTHING_CHECKED", "nothing that waits is checked");
    }
    const targets = new Map<string, { node: ReviewNode; hunks: { id: string; revision: number }[]; files: { path: string; revision: number }[] }>();
    for (const node of leaves) {
      const entry = targets.get(node.transaction.id) ?? { node, hunks: [], files: [] };
      targets.set(node.transaction.id, entry);
      if (node.hunk) {
        entry.hunks.push({ id: node.hunk.id, revision: node.hunk.revision });
      } else if (node.file) {
        entry.files.push({ path: node.file.path, revision: node.transaction.revision });
      }
    }
    this.#checked.clear();
    this.#context();
    await this.#decisions.decide(
      verb,
      [...targets.values()].map(({ node, hunks, files }) => ({
        folder: node.folder,
        transactionId: node.transaction.id,
        hunks,
        files,
      })),
    );
  }

  #refresh(): void {
    // What is checked is what is shown: boxes of what settled or changed go.
    for (const [key, node] of this.#checked) {
      const now = this.#today(node);
      if (now && waits(now)) {
        this.#checked.set(key, now);
      } else {
        this.#checked.delete(key);
      }
    }
    this.#context();
    this.#changed.fire(undefined);
    this.#badge();
  }

  #today({ folder, transaction, file, hunk }: ReviewNode): ReviewNode | undefined {
    const now = this.#transactions.all(folder).find((each) => each.id === transaction.id);
    const nowFile = file && now?.files.find((each) => each.path === file.path);
    const nowHunk = hunk && nowFile?.hunks.find((each) => each.id === hunk.id);
    if (!now || (file && !nowFile) || (hunk && nowHunk?.revision !== hunk.revision)) {
      return undefined;
    }
    return { folder, transaction: now, ...(nowFile ? { file: nowFile } : {}), ...(nowHunk ? { hunk: nowHunk } : {}) };
  }

  #badge(): void {
    const pending = this.#folders.all().reduce((sum, folder) => sum + this.#transactions.open(folder), 0);
    this.#view.badge = pending === 0 ? undefined : { value: pending, tooltip: `${count(pending, "change")} pending` };
    this.#view.message = this.#message(pending);
    void vscode.commands.executeCommand("setContext", "redline.pending", pending > 0);
  }

  #message(pending: number): string {
    const failed = this.#folders.all().find((folder) => folder.state.kind === "failed");
    if (failed?.state.kind === "failed") {
      return `${failed.workspace.name}: ${failed.state.failure.message}. ${failed.state.failure.hint}.`;
    }
    const empty = pending === 0 && this.#folders.all().every((folder) => this.#transactions.all(folder).length === 0);
    return empty && this.#folders.all().some((folder) => folder.isRunning) ? "Nothing is pending." : "";
  }

  getChildren(node?: Node): Node[] {
    if (!node) {
      const folders = this.#folders.all();
      return folders.length > 1 ? folders.map((folder) => ({ folder })) : folders.flatMap((folder) => this.getChildren({ folder }));
    }
    const { folder, transaction } = node;
    if (!transaction) {
      return this.#transactions.all(folder).reverse().map((each) => ({ folder, transaction: each }));
    }
    if (!node.file) {
      return transaction.files.map((file) => ({ folder, transaction, file }));
    }
    const { file } = node;
    return node.hunk ? [] : file.hunks.map((hunk) => ({ folder, transaction, file, hunk }));
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if (!node.transaction) {
      const item = new vscode.TreeItem(node.folder.workspace.name, vscode.TreeItemCollapsibleState.Expanded);
      item.iconPath = vscode.ThemeIcon.Folder;
      item.id = node.folder.key;
      item.description = node.folder.isRunning ? `${node.folder.counts.pending} pending` : node.folder.state.kind;
      return item;
    }
    const item = node.hunk ? this.#hunkItem(node) : node.file ? this.#fileItem(node) : this.#transactionItem(node);
    item.id = keyOf(node);
    if (waits(node)) {
      const checked = this.#checked.has(keyOf(node)) || (!node.hunk && this.#under(node).some(waits) && this.#under(node).filter((each) => waits(each) && (each.hunk ?? (each.file && isOperationOpen(each.file)))).every((each) => this.#checked.has(keyOf(each))));
      item.checkboxState = checked ? vscode.TreeItemCheckboxState.Checked : vscode.TreeItemCheckboxState.Unchecked;
    }
    return item;
  }

  #transactionItem(node: ReviewNode): vscode.TreeItem {
    const { transaction } = node;
    const sums = totals(transaction.files);
    const open = waits(node);
    const item = new vscode.TreeItem(
      oneLine(transaction.title),
      open ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed,
    );
    const state = sums.conflicts > 0 && open ? count(sums.conflicts, "conflict") : transactionState(transaction.state);
    item.description = `${open ? `${sums.open} pending` : state} · ${totalsLine(transaction)} · ${oneLine(transaction.proposedBy)}`;
    item.iconPath = icon((sums.conflicts > 0 && open ? TRANSACTION_ICONS.conflicted : TRANSACTION_ICONS[transaction.state]) ?? ["circle"]);
    item.contextValue = open ? "transaction.open" : "transaction";
    item.tooltip = [transaction.title, `${transaction.id}, ${state}, proposed by ${transaction.proposedBy}`, transaction.rationale]
      .filter((line) => line != null && line !== "")
      .join("\n");
    item.accessibilityInformation = { label: `Transaction ${oneLine(transaction.title)}, ${item.description}` };
    return item;
  }

  #fileItem(node: ReviewNode): vscode.TreeItem {
    const { file } = node;
    if (!file) {
      throw new Error("a node of a file has a file");
    }
    const open = waits(node);
    const few = file.hunks.length <= UNFOLDED_MAX;
    const item = new vscode.TreeItem(
      path.posix.basename(file.path),
      file.hunks.length === 0
        ? vscode.TreeItemCollapsibleState.None
        : open && few
          ? vscode.TreeItemCollapsibleState.Expanded
          : vscode.TreeItemCollapsibleState.Collapsed,
    );
    const folder = path.posix.dirname(file.path);
    item.resourceUri = vscode.Uri.parse(file.uri);
    item.description = `${folder === "." ? "" : `${folder} · `}${fileLine(file)}`;
    item.iconPath = totals([file]).conflicts > 0 ? icon(["warning", "list.warningForeground"]) : vscode.ThemeIcon.File;
    item.contextValue = open ? "file.open" : "file";
    item.tooltip = [file.path, ...file.flags].join("\n");
    item.command = { command: "redline.openDiff", title: "Open the diff", arguments: [node] };
    item.accessibilityInformation = { label: `${file.path}, ${fileLine(file)}` };
    return item;
  }

  #hunkItem(node: ReviewNode): vscode.TreeItem {
    const { hunk } = node;
    if (!hunk) {
      throw new Error("a node of a hunk has a hunk");
    }
    const why = oneLine(hunk.rationale ?? "") || oneLine(hunk.added[0] ?? hunk.removed[0] ?? "");
    const item = new vscode.TreeItem(`${hunk.startLine}: ${lines(hunk)} · ${hunkState(hunk)}`);
    item.description = why;
    item.iconPath = icon(ICONS[hunk.state] ?? ["circle-outline"]);
    item.contextValue = hunk.state === "conflict" ? "hunk.conflict" : isOpen(hunk) ? "hunk.open" : "hunk";
    const removed = hunk.removed.slice(0, 20).map((line) => `- ${line}`);
    const added = hunk.added.slice(0, 20).map((line) => `+ ${line}`);
    item.tooltip = new vscode.MarkdownString().appendText(`${why} (${hunkState(hunk)})\n`).appendCodeblock([...removed, ...added].join("\n"), "diff");
    item.command = { command: "redline.showHunk", title: "Show the hunk", arguments: [node] };
    item.accessibilityInformation = { label: `Hunk at line ${hunk.startLine}, ${lines(hunk)}, ${hunkState(hunk)}, ${why}` };
    return item;
  }

  getParent(node: Node): Node | undefined {
    if (!node.transaction) {
      return undefined;
    }
    const { folder, transaction, file, hunk } = node;
    if (hunk && file) {
      return { folder, transaction, file };
    }
    return file ? { folder, transaction } : this.#folders.all().length > 1 ? { folder } : undefined;
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}
