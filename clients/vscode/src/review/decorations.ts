/**
 * Tint and strike on removed lines, and a hint at the line's end of what comes.
 *
 * The tint is set when the sidecar says that hunks changed: VS Code moves it with the text. Hints are made near the
 * view alone.
 */

import * as vscode from "vscode";
import type { Documents, PlacedHunk } from "./documents.ts";
import type { Viewport } from "./viewport.ts";
import { settings } from "../settings.ts";
import { home } from "../text/anchors.ts";
import { oneLine, short, visible } from "../text/escape.ts";
import { lines } from "../text/labels.ts";

const HINT_MAX = 60;

const color = (id: string): vscode.ThemeColor => new vscode.ThemeColor(id);

/** What the hint of a hunk reads: `← +4 const text = …`. */
export function hint({ shown: { hunk } }: PlacedHunk): string | undefined {
  if (hunk.state === "conflict") {
    return `⚠ conflict: ${short(oneLine(hunk.conflict?.reason ?? "these lines changed"), HINT_MAX)}`;
  }
  if (hunk.added.length === 0) {
    return undefined;
  }
  const first = hunk.added.find((line) => line.trim() !== "") ?? "";
  const more = hunk.added.length > 1 ? " …" : "";
  return `← +${hunk.added.length} ${short(visible(first).trim(), HINT_MAX)}${more}`;
}

function wholeLines(document: vscode.TextDocument, { rows }: PlacedHunk): vscode.Range | undefined {
  if (rows.first >= rows.last || rows.first >= document.lineCount) {
    return undefined;
  }
  const last = Math.min(rows.last, document.lineCount) - 1;
  return new vscode.Range(rows.first, 0, last, document.lineAt(last).text.length);
}

/** Whether an editor is the left side of a diff, or a peek: those have colours of their own for the same. */
function isPartOfAnother(editor: vscode.TextEditor): boolean {
  return editor.viewColumn === undefined;
}

/** The text of each line, without the white space around it: a stroke through nothing says nothing. */
function textOf(document: vscode.TextDocument, range: vscode.Range): vscode.Range[] {
  const found: vscode.Range[] = [];
  for (let line = range.start.line; line <= range.end.line; line++) {
    const { text, firstNonWhitespaceCharacterIndex: first } = document.lineAt(line);
    const last = text.trimEnd().length;
    if (first < last) {
      found.push(new vscode.Range(line, first, line, last));
    }
  }
  return found;
}

export class Decorations implements vscode.Disposable {
  readonly #documents: Documents;
  readonly #viewport: Viewport;
  readonly #removed = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: color("diffEditor.removedLineBackground"),
    overviewRulerColor: color("editorOverviewRuler.deletedForeground"),
    overviewRulerLane: vscode.OverviewRulerLane.Right,
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  readonly #struck = vscode.window.createTextEditorDecorationType({
    textDecoration: "line-through",
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  readonly #conflict = vscode.window.createTextEditorDecorationType({
    isWholeLine: true,
    backgroundColor: color("merge.currentContentBackground"),
    overviewRulerColor: color("editorOverviewRuler.warningForeground"),
    overviewRulerLane: vscode.OverviewRulerLane.Right,
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  readonly #insertion = vscode.window.createTextEditorDecorationType({
    overviewRulerColor: color("editorOverviewRuler.addedForeground"),
    overviewRulerLane: vscode.OverviewRulerLane.Right,
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  readonly #hint = vscode.window.createTextEditorDecorationType({
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  readonly #subscriptions: vscode.Disposable[];

  constructor(documents: Documents, viewport: Viewport) {
    this.#documents = documents;
    this.#viewport = viewport;
    this.#subscriptions = [
      documents.onDidChange((document) => {
        for (const editor of vscode.window.visibleTextEditors) {
          if (editor.document === document) {
            this.#draw(editor);
          }
        }
      }),
      vscode.window.onDidChangeVisibleTextEditors((editors) => {
        for (const editor of editors) {
          this.#draw(editor);
        }
      }),
      viewport.onDidMove((editor) => {
        this.#drawHints(editor);
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("redline.inline")) {
          for (const editor of vscode.window.visibleTextEditors) {
            this.#drawHints(editor);
          }
        }
      }),
    ];
  }

  #draw(editor: vscode.TextEditor): void {
    const { document } = editor;
    if (isPartOfAnother(editor)) {
      return;
    }
    const removed: vscode.Range[] = [];
    const conflicts: vscode.Range[] = [];
    const insertions: vscode.Range[] = [];
    for (const placed of this.#documents.get(document.uri)?.open() ?? []) {
      const range = wholeLines(document, placed);
      if (placed.shown.hunk.state === "conflict") {
        conflicts.push(range ?? this.#lineEnd(document, placed));
      } else if (range) {
        removed.push(range);
      } else {
        insertions.push(this.#lineEnd(document, placed));
      }
    }
    editor.setDecorations(this.#removed, removed);
    editor.setDecorations(this.#struck, removed.flatMap((range) => textOf(document, range)));
    editor.setDecorations(this.#conflict, conflicts);
    editor.setDecorations(this.#insertion, insertions);
    this.#drawHints(editor);
  }

  #lineEnd(document: vscode.TextDocument, { rows }: PlacedHunk): vscode.Range {
    const line = Math.min(rows.last > rows.first ? rows.last - 1 : home(rows), document.lineCount - 1);
    const end = document.lineAt(line).range.end;
    return new vscode.Range(end, end);
  }

  #drawHints(editor: vscode.TextEditor): void {
    const { document } = editor;
    if (isPartOfAnother(editor)) {
      return;
    }
    const review = this.#documents.get(document.uri);
    const { first, last } = this.#viewport.of(editor);
    const near = review && settings(document).hints ? review.within(first, last) : [];
    const hints = near.flatMap((placed): vscode.DecorationOptions[] => {
      const contentText = hint(placed);
      const conflict = placed.shown.hunk.state === "conflict";
      return contentText === undefined
        ? []
        : [
            {
              range: this.#lineEnd(document, placed),
              hoverMessage: `Redline: ${lines(placed.shown.hunk)}`,
              renderOptions: {
                after: {
                  contentText,
                  margin: "0 0 0 2em",
                  color: color(conflict ? "editorWarning.foreground" : "descriptionForeground"),
                  backgroundColor: color(conflict ? "inputValidation.warningBackground" : "diffEditor.insertedTextBackground"),
                },
              },
            },
          ];
    });
    editor.setDecorations(this.#hint, hints);
  }

  dispose(): void {
    vscode.Disposable.from(
      ...this.#subscriptions,
      this.#removed,
      this.#struck,
      this.#conflict,
      this.#insertion,
      this.#hint,
    ).dispose();
  }
}
