/** Hunks of each open document, with their places in the text as it is typed. No UI. */

import * as vscode from "vscode";
import type { DocumentHunk, DocumentHunks } from "redline-protocol";
import type { Folder } from "../folder.ts";
import type { Folders } from "../folders.ts";
import { Anchors, type Rows, home, lineChange } from "../text/anchors.ts";
import { isOpen } from "../text/labels.ts";

export interface PlacedHunk {
  readonly shown: DocumentHunk;
  readonly rows: Rows;
}

export class DocumentReview {
  readonly folder: Folder;
  readonly anchors = new Anchors<DocumentHunk>();

  constructor(folder: Folder) {
    this.folder = folder;
  }

  /** Hunks that wait for the user, by place. */
  open(): PlacedHunk[] {
    return this.within(0, Number.MAX_SAFE_INTEGER);
  }

  get openCount(): number {
    return this.anchors.items.filter((shown) => isOpen(shown.hunk)).length;
  }

  within(first: number, last: number): PlacedHunk[] {
    const found: PlacedHunk[] = [];
    for (const { item, rows } of this.anchors.within(first, last)) {
      if (isOpen(item.hunk)) {
        found.push({ shown: item, rows });
      }
    }
    return found;
  }

  /** The hunk that a line shows: it holds the line, or its added lines hang below it. */
  at(line: number): PlacedHunk | undefined {
    const touching = this.within(line, line + 1);
    return (
      touching.find(({ rows }) => rows.first <= line && line < rows.last) ??
      touching.find(({ rows }) => rows.first === rows.last && home(rows) === line)
    );
  }

  byId(id: string): PlacedHunk | undefined {
    return this.open().find(({ shown }) => shown.hunk.id === id);
  }
}

export class Documents implements vscode.Disposable {
  readonly #folders: Folders;
  readonly #reviews = new Map<string, DocumentReview>();
  readonly #changed = new vscode.EventEmitter<vscode.TextDocument>();
  readonly #subscriptions: vscode.Disposable[];

  /** The hunks of a document are others now; not fired when they merely move. */
  readonly onDidChange = this.#changed.event;

  constructor(folders: Folders) {
    this.#folders = folders;
    this.#subscriptions = [
      this.#changed,
      folders.onDidAdd((folder) => {
        folder.on("redline/transaction/changed", ({ documents }) => {
          for (const each of documents) {
            this.#take(folder, each);
          }
        });
      }),
      folders.onDidRenew((folder) => {
        if (!folder.isRunning) {
          this.#forget(folder);
        }
      }),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        const review = contentChanges.length > 0 ? this.#reviewOf(document) : undefined;
        for (const change of review ? contentChanges : []) {
          review?.anchors.push(lineChange(change, document.version));
        }
      }),
      vscode.workspace.onDidCloseTextDocument((document) => this.#reviews.delete(document.uri.toString())),
    ];
  }

  #reviewOf(document: vscode.TextDocument): DocumentReview | undefined {
    const key = document.uri.toString();
    const present = this.#reviews.get(key);
    if (present) {
      return present;
    }
    const folder = this.#folders.of(document.uri);
    if (!folder) {
      return undefined;
    }
    const review = new DocumentReview(folder);
    this.#reviews.set(key, review);
    return review;
  }

  #take(folder: Folder, hunks: DocumentHunks): void {
    const key = vscode.Uri.parse(hunks.uri, true).toString();
    const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === key);
    if (!document || this.#folders.of(document.uri) !== folder) {
      return;
    }
    const rows = hunks.hunks.map(({ range }) => ({ first: range.start.line, last: range.end.line }));
    this.#reviewOf(document)?.anchors.set(hunks.hunks, rows, hunks.version);
    this.#changed.fire(document);
  }

  #forget(folder: Folder): void {
    for (const document of vscode.workspace.textDocuments) {
      const review = this.#reviews.get(document.uri.toString());
      if (review?.folder === folder && review.anchors.items.length > 0) {
        review.anchors.set([], [], document.version);
        this.#changed.fire(document);
      }
    }
  }

  get(uri: vscode.Uri): DocumentReview | undefined {
    return this.#reviews.get(uri.toString());
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}
