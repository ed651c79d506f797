/** Where the cursor stands among hunks: `when` contexts of keys and menus, and moving to the next one. */

import * as vscode from "vscode";
import type { Documents, PlacedHunk } from "./documents.ts";
import { home } from "../text/anchors.ts";

/** Selections change with every key: what hangs on them waits for the end of a burst. */
const SETTLE_MS = 30;

export class Cursor implements vscode.Disposable {
  readonly #documents: Documents;
  readonly #focused = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable[];
  readonly #contexts = new Map<string, boolean>();
  #timer: NodeJS.Timeout | undefined;

  /** The hunk at the cursor may be another now. */
  readonly onDidMove = this.#focused.event;

  constructor(documents: Documents) {
    this.#documents = documents;
    const settle = (): void => {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#update();
      }, SETTLE_MS);
    };
    this.#subscriptions = [
      this.#focused,
      vscode.window.onDidChangeTextEditorSelection(settle),
      vscode.window.onDidChangeActiveTextEditor(settle),
      documents.onDidChange(settle),
    ];
    settle();
  }

  #update(): void {
    const editor = vscode.window.activeTextEditor;
    const review = editor && this.#documents.get(editor.document.uri);
    this.#context("redline.pendingHere", (review?.openCount ?? 0) > 0);
    const here = this.here();
    this.#context("redline.onHunk", here !== undefined);
    this.#context("redline.onConflict", here?.placed.shown.hunk.state === "conflict");
    this.#focused.fire();
  }

  #context(name: string, value: boolean): void {
    if (this.#contexts.get(name) !== value) {
      this.#contexts.set(name, value);
      void vscode.commands.executeCommand("setContext", name, value);
    }
  }

  /** The hunk at the cursor of the active editor. */
  here(): { editor: vscode.TextEditor; placed: PlacedHunk } | undefined {
    const editor = vscode.window.activeTextEditor;
    const placed = editor && this.#documents.get(editor.document.uri)?.at(editor.selection.active.line);
    return editor && placed && { editor, placed };
  }

  /** Moves to the next or previous hunk of the editor, around its ends; false when it has none. */
  move(direction: 1 | -1): boolean {
    const editor = vscode.window.activeTextEditor;
    const all = (editor && this.#documents.get(editor.document.uri)?.open()) ?? [];
    if (!editor || all.length === 0) {
      return false;
    }
    const line = editor.selection.active.line;
    const target =
      direction === 1
        ? (all.find(({ rows }) => home(rows) > line) ?? all[0])
        : (all.findLast(({ rows }) => home(rows) < line) ?? all.at(-1));
    if (target) {
      this.show(editor, target);
    }
    return true;
  }

  /** Puts the cursor on a hunk. */
  show(editor: vscode.TextEditor, { rows }: PlacedHunk): void {
    const line = Math.min(home(rows), editor.document.lineCount - 1);
    const at = new vscode.Position(line, editor.document.lineAt(line).firstNonWhitespaceCharacterIndex);
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(new vscode.Range(at, at), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}
