/** CodeLenses above hunks near the view: accept, reject, and the hunk's own line. */

import * as vscode from "vscode";
import type { Documents, PlacedHunk } from "./documents.ts";
import type { Viewport } from "./viewport.ts";
import { settings } from "../settings.ts";
import { hunkLine } from "../text/labels.ts";

/** A document with fewer hunks shows all lenses: then scrolling asks for nothing. */
const ALL_MAX = 40;

export class Lenses implements vscode.CodeLensProvider, vscode.Disposable {
  readonly #documents: Documents;
  readonly #viewport: Viewport;
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #subscriptions: vscode.Disposable[];
  readonly onDidChangeCodeLenses = this.#changed.event;

  constructor(documents: Documents, viewport: Viewport) {
    this.#documents = documents;
    this.#viewport = viewport;
    this.#subscriptions = [
      this.#changed,
      vscode.languages.registerCodeLensProvider({ scheme: "file" }, this),
      documents.onDidChange(() => {
        this.#changed.fire();
      }),
      viewport.onDidMove((editor) => {
        if ((documents.get(editor.document.uri)?.openCount ?? 0) > ALL_MAX) {
          this.#changed.fire();
        }
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("redline.inline")) {
          this.#changed.fire();
        }
      }),
    ];
  }

  provideCodeLenses(document: vscode.TextDocument): vscode.CodeLens[] {
    const review = this.#documents.get(document.uri);
    if (!review || !settings(document).lenses) {
      return [];
    }
    const near =
      review.openCount <= ALL_MAX
        ? review.open()
        : this.#viewport.spans(document).flatMap(({ first, last }) => review.within(first, last));
    return near.flatMap((placed) => this.#lensesOf(document, placed));
  }

  #lensesOf(document: vscode.TextDocument, { shown, rows }: PlacedHunk): vscode.CodeLens[] {
    const line = Math.min(rows.first, document.lineCount - 1);
    const range = new vscode.Range(line, 0, line, 0);
    const address = { uri: document.uri.toString(), id: shown.hunk.id };
    const lens = (title: string, command: string, tooltip: string): vscode.CodeLens =>
      new vscode.CodeLens(range, { title, command, tooltip, arguments: [address] });
    const label = lens(hunkLine(shown.hunk, shown.total), "redline.showHunk", "Show this hunk");
    if (shown.hunk.state === "conflict") {
      return [
        lens("$(git-merge) Merge", "redline.resolveConflict", "Open the three sides"),
        lens("$(refresh) Propose again", "redline.repropose", "Write it against the lines that stand here now"),
        lens("$(close) Keep mine", "redline.keepMine", "Drop the proposal"),
        label,
      ];
    }
    return [
      lens("$(check) Accept", "redline.accept", "Accept this hunk"),
      lens("$(close) Reject", "redline.reject", "Reject this hunk"),
      lens("$(diff) Diff", "redline.openDiff", "Show the file beside what it would be"),
      label,
    ];
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}
