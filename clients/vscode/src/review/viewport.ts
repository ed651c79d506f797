/**
 * Which lines of which editors are drawn near: lenses and hints are made for these alone, since each of them costs
 * layout, and a thousand of them on screen cost a frame.
 */

import * as vscode from "vscode";

/** Lines above and below what is visible: what appears there is out of sight and moves nothing. */
const MARGIN = 80;
const SETTLE_MS = 80;

export interface Span {
  readonly first: number;
  readonly last: number;
}

function spanOf(editor: vscode.TextEditor): Span {
  const lines = editor.visibleRanges.flatMap((range) => [range.start.line, range.end.line]);
  const [first, last] = [Math.min(...lines), Math.max(...lines)];
  return lines.length === 0
    ? { first: 0, last: 2 * MARGIN }
    : { first: Math.max(0, first - MARGIN), last: last + MARGIN + 1 };
}

export class Viewport implements vscode.Disposable {
  readonly #spans = new WeakMap<vscode.TextEditor, Span>();
  readonly #moved = new vscode.EventEmitter<vscode.TextEditor>();
  readonly #subscription: vscode.Disposable;
  #timer: NodeJS.Timeout | undefined;
  readonly #waiting = new Set<vscode.TextEditor>();

  /** An editor shows lines that lie outside of what its span was. */
  readonly onDidMove = this.#moved.event;

  constructor() {
    this.#subscription = vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => {
      this.#waiting.add(textEditor);
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#settle();
      }, SETTLE_MS);
    });
  }

  #settle(): void {
    const editors = [...this.#waiting];
    this.#waiting.clear();
    for (const editor of editors) {
      const span = this.#spans.get(editor);
      const inside = editor.visibleRanges.every(
        (range) => span && range.start.line >= span.first && range.end.line < span.last,
      );
      if (!inside) {
        this.#spans.set(editor, spanOf(editor));
        this.#moved.fire(editor);
      }
    }
  }

  /** The lines near what an editor shows. */
  of(editor: vscode.TextEditor): Span {
    const span = this.#spans.get(editor) ?? spanOf(editor);
    this.#spans.set(editor, span);
    return span;
  }

  /** The lines near what any editor shows of a document. */
  spans(document: vscode.TextDocument): Span[] {
    return vscode.window.visibleTextEditors.filter((editor) => editor.document === document).map((editor) => this.of(editor));
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#subscription.dispose();
    this.#moved.dispose();
  }
}
