/** One expanded comment thread, for the hunk at the cursor: the only stable way to show added lines in the editor. */

import * as vscode from "vscode";
import type { Cursor } from "./cursor.ts";
import type { PlacedHunk } from "./documents.ts";
import { settings } from "../settings.ts";
import { oneLine, short } from "../text/escape.ts";
import { LINKED_COMMANDS, hunkBody } from "../text/hunkBody.ts";
import type { Transactions } from "./transactions.ts";

const LABEL_MAX = 160;

export class FocusedHunk implements vscode.Disposable {
  readonly #cursor: Cursor;
  readonly #transactions: Transactions;
  readonly #controller = vscode.comments.createCommentController("redline", "Redline");
  readonly #subscriptions: vscode.Disposable[];
  #thread: vscode.CommentThread | undefined;
  /** What the thread shows: an equal one is left alone, also where the user folded it. */
  #shows = "";

  constructor(cursor: Cursor, transactions: Transactions) {
    this.#cursor = cursor;
    this.#transactions = transactions;
    this.#subscriptions = [
      this.#controller,
      cursor.onDidMove(() => {
        this.#update();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("redline.inline")) {
          this.#update();
        }
      }),
    ];
  }

  #update(): void {
    const here = this.#cursor.here();
    if (!here || settings(here.editor.document).focusedHunk === "off") {
      this.#clear();
      return;
    }
    const { editor, placed } = here;
    const { hunk } = placed.shown;
    const shows = [editor.document.uri.toString(), hunk.id, hunk.revision, hunk.state, hunk.index, placed.shown.total].join(" ");
    if (shows === this.#shows && this.#thread) {
      return;
    }
    this.#clear();
    this.#shows = shows;
    this.#thread = this.#make(editor, placed);
  }

  #make(editor: vscode.TextEditor, placed: PlacedHunk): vscode.CommentThread {
    const { shown, rows } = placed;
    const { uri, lineCount } = editor.document;
    const body = new vscode.MarkdownString(hunkBody(shown, { uri: uri.toString(), id: shown.hunk.id }));
    body.supportHtml = true;
    body.isTrusted = { enabledCommands: LINKED_COMMANDS };
    const transaction = this.#transactions.byId(shown.transactionId);
    // One empty position: a range would be highlighted, over the tint.
    const line = Math.min(Math.max(0, rows.last - 1), lineCount - 1);
    const at = new vscode.Position(line, 0);
    const thread = this.#controller.createCommentThread(uri, new vscode.Range(at, at), [
      {
        author: { name: oneLine(transaction?.proposedBy ?? "Redline") },
        body,
        mode: vscode.CommentMode.Preview,
      },
    ]);
    thread.canReply = false;
    thread.contextValue = shown.hunk.state;
    const why = oneLine(shown.hunk.rationale ?? transaction?.title ?? "");
    thread.label = short(`${shown.hunk.index}/${shown.total}${why === "" ? "" : ` · ${why}`}`, LABEL_MAX);
    thread.collapsibleState = vscode.CommentThreadCollapsibleState.Expanded;
    return thread;
  }

  #clear(): void {
    this.#thread?.dispose();
    this.#thread = undefined;
    this.#shows = "";
  }

  dispose(): void {
    this.#clear();
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}
