/** What changes of `redline:` texts lead to: rejections, amendments, merged conflicts. */

import type { Hunk, Transaction } from "redline-protocol";
import type { Decisions } from "./decide.ts";
import type { Transactions } from "./transactions.ts";
import { Failure, failureOf, say } from "../failure.ts";
import type { Writing } from "../files/fileSystem.ts";

function same(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, index) => line === b[index]);
}

export class ReviewWriting implements Writing {
  readonly #transactions: Transactions;
  readonly #decisions: Decisions;

  constructor(transactions: Transactions, decisions: Decisions) {
    this.#transactions = transactions;
    this.#decisions = decisions;
  }

  #find(id: string): NonNullable<ReturnType<Transactions["hunk"]>> {
    const found = this.#transactions.hunk(id);
    if (!found) {
      throw new Failure("UNKNOWN_HUNK", "this hunk is not there any more");
    }
    return found;
  }

  #hunkOf(transaction: Transaction, id: string): Hunk {
    const hunk = transaction.files.flatMap((file) => file.hunks).find((each) => each.id === id);
    if (!hunk) {
      throw new Failure("UNKNOWN_HUNK", "this conflict is not there any more; look at it in the file");
    }
    return hunk;
  }

  async reject(ids: readonly string[]): Promise<void> {
    for (const id of ids) {
      const { folder, transaction, hunk } = this.#find(id);
      await this.#decisions.decide("reject", [
        { folder, transactionId: transaction.id, hunks: [{ id, revision: hunk.revision }] },
      ]);
    }
  }

  async amend(id: string, added: string[]): Promise<void> {
    const { folder, transaction, hunk } = this.#find(id);
    if (same(added, hunk.added)) {
      return;
    }
    try {
      await folder.request("redline/transaction/amend", {
        transactionId: transaction.id,
        hunk: { id, revision: hunk.revision },
        added,
      });
      say("hunk amended");
    } catch (error) {
      this.#decisions.failed(folder, failureOf(error));
      // The editor keeps what was typed as unsaved.
      throw new Failure("STALE_HUNK", "the hunk changed meanwhile; nothing was written");
    }
  }

  /** A merged conflict is proposed again on today's lines, amended to the merged ones, and accepted. */
  async merge(id: string, lines: string[], mine: readonly string[]): Promise<void> {
    const { folder, transaction } = this.#find(id);
    // Typing in a conflict makes another revision of it; what was merged is the text that stands there now.
    const now = await folder.request("redline/transaction/get", { transactionId: transaction.id });
    const ref = { id, revision: this.#hunkOf(now, id).revision };
    if (same(lines, mine)) {
      await this.#decisions.decide("withdraw", [{ folder, transactionId: transaction.id, hunks: [ref] }]);
      return;
    }
    const again = await folder.request("redline/transaction/repropose", { transactionId: transaction.id, hunk: ref });
    const pending = this.#hunkOf(again, id);
    const amended = same(lines, pending.added)
      ? again
      : await folder.request("redline/transaction/amend", {
          transactionId: transaction.id,
          hunk: { id, revision: pending.revision },
          added: lines,
        });
    await this.#decisions.decide("accept", [
      { folder, transactionId: transaction.id, hunks: [{ id, revision: this.#hunkOf(amended, id).revision }] },
    ]);
  }
}
