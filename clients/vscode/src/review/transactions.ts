/** The transactions of each folder, as the sidecar has them. No UI. */

import * as vscode from "vscode";
import type { FileChange, Hunk, Transaction } from "redline-protocol";
import { attempt } from "../failure.ts";
import type { Folder } from "../folder.ts";
import type { Folders } from "../folders.ts";
import { totals } from "../text/labels.ts";

/** A turn changes its transaction many times a second: it is asked for once a while. */
const SETTLE_MS = 60;

export interface Found {
  readonly folder: Folder;
  readonly transaction: Transaction;
}

export class Transactions implements vscode.Disposable {
  readonly #folders: Folders;
  readonly #known = new Map<Folder, Map<string, Transaction>>();
  readonly #stale = new Map<Folder, Set<string>>();
  readonly #changed = new vscode.EventEmitter<Folder>();
  readonly #subscription: vscode.Disposable;
  #timer: NodeJS.Timeout | undefined;
  /** Folders that are asked right now. */
  readonly #asking = new Set<Folder>();

  readonly onDidChange = this.#changed.event;

  constructor(folders: Folders) {
    this.#folders = folders;
    const added = folders.onDidAdd((folder) => {
      folder.on("redline/transaction/changed", ({ transactionIds }) => {
        const stale = this.#stale.get(folder) ?? new Set();
        this.#stale.set(folder, stale);
        for (const id of transactionIds) {
          stale.add(id);
        }
        this.#schedule();
      });
    });
    this.#subscription = vscode.Disposable.from(
      added,
      folders.onDidRenew((folder) => void attempt(() => this.reload(folder))),
    );
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      for (const folder of this.#stale.keys()) {
        void this.#refresh(folder);
      }
    }, SETTLE_MS);
  }

  async #refresh(folder: Folder): Promise<void> {
    const stale = this.#stale.get(folder);
    if (!stale || this.#asking.has(folder)) {
      return;
    }
    this.#stale.delete(folder);
    this.#asking.add(folder);
    try {
      for (const transactionId of stale) {
        const transaction = await folder.request("redline/transaction/get", { transactionId });
        this.#of(folder).set(transaction.id, transaction);
      }
      this.#changed.fire(folder);
    } catch {
      // The sidecar is gone: what it had is asked for when another one is there.
    } finally {
      this.#asking.delete(folder);
      if (this.#stale.has(folder)) {
        this.#schedule();
      }
    }
  }

  #of(folder: Folder): Map<string, Transaction> {
    const known = this.#known.get(folder) ?? new Map<string, Transaction>();
    this.#known.set(folder, known);
    return known;
  }

  /** Asks for all that is unsettled; what was settled while the editor was open stays in the list. */
  async reload(folder: Folder): Promise<void> {
    if (!folder.isRunning) {
      this.#known.delete(folder);
      this.#changed.fire(folder);
      return;
    }
    const { transactions } = await folder.request("redline/transaction/list", { settled: false });
    this.#known.set(folder, new Map(transactions.map((transaction) => [transaction.id, transaction])));
    this.#changed.fire(folder);
  }

  /** Those of a folder, oldest first. */
  all(folder: Folder): Transaction[] {
    return [...(this.#known.get(folder)?.values() ?? [])].sort((a, b) => a.createdAt - b.createdAt || (a.id < b.id ? -1 : 1));
  }

  byId(id: string): Transaction | undefined {
    return this.find(id)?.transaction;
  }

  find(id: string): Found | undefined {
    for (const folder of this.#folders.all()) {
      const transaction = this.#known.get(folder)?.get(id);
      if (transaction) {
        return { folder, transaction };
      }
    }
    return undefined;
  }

  /** A hunk by its id, wherever it is. */
  hunk(id: string): (Found & { file: FileChange; hunk: Hunk }) | undefined {
    for (const folder of this.#folders.all()) {
      for (const transaction of this.all(folder)) {
        for (const file of transaction.files) {
          const hunk = file.hunks.find((each) => each.id === id);
          if (hunk) {
            return { folder, transaction, file, hunk };
          }
        }
      }
    }
    return undefined;
  }

  /** What waits in a folder's whole-file operations, which the counts of hunks leave out. */
  open(folder: Folder): number {
    return this.all(folder).reduce((sum, transaction) => sum + totals(transaction.files).open, 0);
  }

  dispose(): void {
    clearTimeout(this.#timer);
    this.#subscription.dispose();
    this.#changed.dispose();
  }
}
