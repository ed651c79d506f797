/** What a file holds now, and what it would hold: for documents that are open, and for files that are not. */

import * as vscode from "vscode";
import type { Conflict, FileChange, Hunk } from "redline-protocol";
import type { Documents } from "../review/documents.ts";
import type { Transactions } from "../review/transactions.ts";
import type { Folders } from "../folders.ts";
import type { Rows } from "../text/anchors.ts";
import { type Composition, type PlacedHunk, compose } from "../text/compose.ts";

export interface Composed extends Composition {
  /** Revision of each hunk that is in it. */
  readonly revisions: ReadonlyMap<string, number>;
}

function placed(hunk: Hunk, first: number): PlacedHunk {
  return {
    id: hunk.id,
    rows: { first, last: first + hunk.removed.length },
    added: hunk.added,
    removed: hunk.removed,
    noNewlineAtEnd: hunk.noNewlineAtEnd,
  };
}

export class Texts {
  readonly #documents: Documents;
  readonly #transactions: Transactions;
  readonly #folders: Folders;

  constructor(documents: Documents, transactions: Transactions, folders: Folders) {
    this.#documents = documents;
    this.#transactions = transactions;
    this.#folders = folders;
  }

  open(uri: vscode.Uri): vscode.TextDocument | undefined {
    return vscode.workspace.textDocuments.find((document) => document.uri.toString() === uri.toString());
  }

  /** The text of a file as the user sees it; empty for one that is not there. */
  async present(uri: vscode.Uri): Promise<string> {
    const document = this.open(uri);
    if (document) {
      return document.getText();
    }
    try {
      return new TextDecoder().decode(await vscode.workspace.fs.readFile(uri));
    } catch (error) {
      if (error instanceof vscode.FileSystemError && error.code === "FileNotFound") {
        return "";
      }
      throw error;
    }
  }

  /** Changes of a file by unsettled transactions; of one of them alone where `transaction` names it. */
  changes(uri: vscode.Uri, transaction?: string): FileChange[] {
    const key = uri.toString();
    const folder = this.#folders.of(uri);
    const all = folder ? this.#transactions.all(folder) : [];
    return all
      .filter((each) => transaction === undefined || each.id === transaction)
      .flatMap((each) => each.files)
      .filter((file) => vscode.Uri.parse(file.uri).toString() === key);
  }

  /** Pending hunks of a file, where they stand now. */
  #hunks(uri: vscode.Uri, transaction?: string): { hunks: PlacedHunk[]; revisions: Map<string, number> } {
    const review = this.open(uri) && this.#documents.get(uri);
    const revisions = new Map<string, number>();
    const hunks: PlacedHunk[] = [];
    const take = (hunk: Hunk, first: number): void => {
      if (hunk.state === "pending") {
        revisions.set(hunk.id, hunk.revision);
        hunks.push(placed(hunk, first));
      }
    };
    if (review && review.anchors.items.length > 0) {
      for (const { shown, rows } of review.open()) {
        if (transaction === undefined || shown.transactionId === transaction) {
          take(shown.hunk, rows.first);
        }
      }
    } else {
      for (const hunk of this.changes(uri, transaction).flatMap((file) => file.hunks)) {
        take(hunk, hunk.startLine - 1);
      }
    }
    return { hunks, revisions };
  }

  /** The text that a file would have. */
  async proposed(uri: vscode.Uri, transaction?: string): Promise<Composed> {
    const deleted = this.changes(uri, transaction).some((file) => file.operation === "delete" && file.state === "pending");
    if (deleted) {
      return { text: "", lines: [], places: [], revisions: new Map() };
    }
    const { hunks, revisions } = this.#hunks(uri, transaction);
    return { ...compose(await this.present(uri), hunks), revisions };
  }

  /** A conflict of a file: its sides, and where its lines stand now. */
  conflict(uri: vscode.Uri, id: string): { conflict: Conflict; rows: Rows } | undefined {
    const shown = this.open(uri) && this.#documents.get(uri)?.byId(id);
    const hunk = shown?.shown.hunk ?? this.#transactions.hunk(id)?.hunk;
    if (!hunk?.conflict) {
      return undefined;
    }
    const first = hunk.startLine - 1;
    // What is typed since is in the text, and not in what the sidecar said of it.
    return { conflict: hunk.conflict, rows: shown?.rows ?? { first, last: first + hunk.conflict.current.length } };
  }
}
