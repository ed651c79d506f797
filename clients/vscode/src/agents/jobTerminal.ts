/** The output of a job in a terminal: read only, but for Ctrl+C, which stops the job. */

import * as vscode from "vscode";

const CTRL_C = "\u0003";

/** Text as a terminal takes it: lines from its left edge, and nothing that steers it. */
export function terminalText(text: string): string {
  return text.replace(/\u001b/g, "␛").replace(/\r?\n/g, "\r\n");
}

export class JobTerminal implements vscode.Pseudoterminal {
  readonly #write = new vscode.EventEmitter<string>();
  readonly #stop: () => void;
  readonly #closed: () => void;
  /** What came before the terminal was there; undefined once it is. */
  #waiting: string | undefined = "";
  readonly onDidWrite = this.#write.event;

  constructor(stop: () => void, closed: () => void) {
    this.#stop = stop;
    this.#closed = closed;
  }

  append(text: string): void {
    const shown = terminalText(text);
    if (this.#waiting === undefined) {
      this.#write.fire(shown);
    } else {
      this.#waiting += shown;
    }
  }

  open(): void {
    const waiting = this.#waiting ?? "";
    this.#waiting = undefined;
    this.#write.fire(waiting);
  }

  handleInput(data: string): void {
    if (data === CTRL_C) {
      this.#stop();
    }
  }

  close(): void {
    this.#closed();
  }
}
