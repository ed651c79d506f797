/** Decisions. Each names the revisions that were shown; what turns out stale is shown anew, never applied. */

import * as vscode from "vscode";
import type { DecideParams, DecideResult, HunkRef } from "redline-protocol";
import type { DocumentReview, PlacedHunk } from "./documents.ts";
import type { Transactions } from "./transactions.ts";
import { type Failure, failureOf, isStale, say } from "../failure.ts";
import type { Folder } from "../folder.ts";
import { settings } from "../settings.ts";
import { home } from "../text/anchors.ts";
import { count } from "../text/labels.ts";

export type Verb = "accept" | "reject" | "withdraw";

/** Part of one transaction. */
export interface Target {
  readonly folder: Folder;
  readonly transactionId: string;
  /** Of the transaction, when the whole is meant. */
  readonly revision?: number;
  readonly hunks?: HunkRef[];
  readonly files?: DecideParams["files"];
  readonly lines?: DecideParams["lines"];
}

const PAST: Readonly<Record<Verb, string>> = { accept: "accepted", reject: "rejected", withdraw: "withdrawn" };

/** Groups hunks of a document into one target for each transaction. */
export function targetsOf(folder: Folder, hunks: readonly PlacedHunk[]): Target[] {
  const byTransaction = new Map<string, HunkRef[]>();
  for (const { shown } of hunks) {
    const refs = byTransaction.get(shown.transactionId) ?? [];
    byTransaction.set(shown.transactionId, refs);
    refs.push({ id: shown.hunk.id, revision: shown.hunk.revision });
  }
  return [...byTransaction].map(([transactionId, refs]) => ({ folder, transactionId, hunks: refs }));
}

export class Decisions {
  readonly #transactions: Transactions;

  constructor(transactions: Transactions) {
    this.#transactions = transactions;
  }

  /** Carries out a decision and says what it did. */
  async decide(verb: Verb, targets: readonly Target[], reason?: string): Promise<void> {
    const dirty = new Set(
      vscode.workspace.textDocuments.filter((document) => document.isDirty).map((document) => document.uri.toString()),
    );
    let decided = 0;
    let left = 0;
    for (const target of targets) {
      const result = await this.#send(verb, target, reason);
      if (!result) {
        return;
      }
      decided += result.receipt?.hunks.length ?? 0;
      left += result.left;
      if (verb === "accept") {
        await this.#save(target.folder, result, dirty);
      }
    }
    if (targets.length > 0) {
      say(`${count(decided, "hunk")} ${PAST[verb]} · ${left === 0 ? "none" : left} left`);
    }
  }

  async #send(verb: Verb, target: Target, reason?: string): Promise<DecideResult | undefined> {
    const params: DecideParams = {
      transactionId: target.transactionId,
      revision: target.revision ?? null,
      hunks: target.hunks ?? [],
      files: target.files ?? [],
      lines: target.lines ?? [],
      reason: reason ?? null,
      withdraw: verb === "withdraw",
      allFiles: false,
    };
    const method = verb === "accept" ? "redline/transaction/accept" : "redline/transaction/reject";
    try {
      return await target.folder.request(method, params);
    } catch (error) {
      this.failed(target.folder, failureOf(error));
      return undefined;
    }
  }

  /** Shows a stale view anew and says so; throws anything else. */
  failed(folder: Folder, failure: Failure): void {
    if (!isStale(failure)) {
      throw failure;
    }
    void this.#transactions.reload(folder);
    void vscode.window.showWarningMessage(
      `Redline: ${failure.message}. It is shown as it is now: look again, then decide.`,
    );
  }

  /** Saves what was accepted in open documents, where the user wants that. */
  async #save(folder: Folder, { receipt }: DecideResult, dirtyBefore: ReadonlySet<string>): Promise<void> {
    for (const path of receipt?.unsaved ?? []) {
      const uri = vscode.Uri.joinPath(folder.workspace.uri, path);
      const wanted = settings(uri).saveAfterAccept;
      const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
      const wasDirty = dirtyBefore.has(uri.toString());
      if (document?.isDirty === true && (wanted === "always" || (wanted === "ifClean" && !wasDirty))) {
        await document.save();
      }
    }
  }

  /** Decides by lines: hunks that lie inside wholly, and of others the part that does. */
  lineTargets(document: vscode.TextDocument, review: DocumentReview, selection: vscode.Selection): Target[] {
    const first = selection.start.line;
    const endsBefore = selection.end.character === 0 && selection.end.line > first;
    const last = endsBefore ? selection.end.line : selection.end.line + 1;
    const whole: PlacedHunk[] = [];
    const parts: PlacedHunk[] = [];
    for (const placed of review.within(first, last)) {
      const { rows } = placed;
      if (rows.first === rows.last) {
        if (home(rows) >= first && home(rows) < last) {
          whole.push(placed);
        }
      } else if (rows.first >= first && rows.last <= last) {
        whole.push(placed);
      } else {
        parts.push(placed);
      }
    }
    const path = vscode.workspace.asRelativePath(document.uri, false);
    const targets = targetsOf(review.folder, whole);
    for (const { shown, rows } of parts) {
      const revision = this.#transactions.byId(shown.transactionId)?.revision;
      targets.push({
        folder: review.folder,
        transactionId: shown.transactionId,
        ...(revision === undefined ? {} : { revision }),
        lines: [{ path, start: Math.max(first, rows.first) + 1, end: Math.min(last, rows.last) }],
      });
    }
    return targets;
  }
}
