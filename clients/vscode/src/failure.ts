/** What went wrong, as the sidecar says it: a code, what happened, what to do. */

import * as vscode from "vscode";
import { ResponseError } from "vscode-languageclient/node";

export class Failure extends Error {
  readonly code: string;
  readonly hint: string;

  constructor(code: string, message: string, hint = "") {
    super(message);
    this.code = code;
    this.hint = hint;
  }
}

interface ErrorData {
  readonly code?: unknown;
  readonly hint?: unknown;
}

export function failureOf(error: unknown): Failure {
  if (error instanceof Failure) {
    return error;
  }
  if (error instanceof ResponseError) {
    const data = (typeof error.data === "object" && error.data !== null ? error.data : {}) as ErrorData;
    const code = typeof data.code === "string" ? data.code : String(error.code);
    return new Failure(code, error.message, typeof data.hint === "string" ? data.hint : "");
  }
  return new Failure("INTERNAL", error instanceof Error ? error.message : String(error));
}

/** Whether what was decided on is not what stands there now: it is drawn anew, and looked at again. */
export function isStale(failure: Failure): boolean {
  return ["STALE_HUNK", "ALREADY_SETTLED", "UNKNOWN_HUNK"].includes(failure.code);
}

/** Tells the user; never takes the focus. */
export function report(error: unknown): void {
  const failure = failureOf(error);
  const hint = failure.hint === "" ? "" : ` ${failure.hint}.`;
  void vscode.window.showErrorMessage(`Redline: ${failure.code}: ${failure.message}.${hint}`.replace(/\.\.+/g, "."));
}

/** A short word in the status bar, where nothing has to be done. */
export function say(text: string): void {
  vscode.window.setStatusBarMessage(`Redline: ${text}`, 4000);
}

/** Runs a command of the user's and reports what goes wrong. */
export async function attempt(run: () => unknown): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (!(error instanceof vscode.CancellationError)) {
      report(error);
    }
  }
}
