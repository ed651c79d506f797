/** Programs that agents run: which there are, their live output in a terminal of its own, and stopping them. */

import * as vscode from "vscode";
import type { Job, JobChangedNotification } from "redline-protocol";
import { JobTerminal } from "./jobTerminal.ts";
import { attempt, say } from "../failure.ts";
import type { Folder } from "../folder.ts";
import type { Folders } from "../folders.ts";
import { command, short } from "../text/escape.ts";
import { jobState } from "../text/labels.ts";

const NAME_MAX = 40;
const encoder = new TextEncoder();

interface Shown {
  readonly terminal: vscode.Terminal;
  readonly output: JobTerminal;
  /** Of the first byte that is not shown; undefined until the tail has arrived. */
  next: number | undefined;
}

export function now(): number {
  return Math.floor(Date.now() / 1000);
}

export class Jobs implements vscode.Disposable {
  readonly #known = new Map<Folder, Map<string, Job>>();
  readonly #shown = new Map<string, Shown>();
  readonly #changed = new vscode.EventEmitter<Folder>();
  readonly #subscription: vscode.Disposable;
  readonly onDidChange = this.#changed.event;

  constructor(folders: Folders) {
    const added = folders.onDidAdd((folder) => {
      folder.on("redline/job/changed", (params) => {
        this.#take(folder, params);
      });
    });
    this.#subscription = vscode.Disposable.from(
      added,
      folders.onDidRenew((folder) => void attempt(() => this.reload(folder))),
    );
  }

  #of(folder: Folder): Map<string, Job> {
    const known = this.#known.get(folder) ?? new Map<string, Job>();
    this.#known.set(folder, known);
    return known;
  }

  async reload(folder: Folder): Promise<void> {
    this.#known.delete(folder);
    if (folder.isRunning) {
      const { jobs } = await folder.request("redline/job/list", { ended: true });
      for (const job of jobs) {
        this.#of(folder).set(job.id, job);
      }
    }
    this.#changed.fire(folder);
  }

  /** Newest first. */
  all(folder: Folder): Job[] {
    return [...(this.#known.get(folder)?.values() ?? [])].sort((a, b) => b.startedAt - a.startedAt || (a.id < b.id ? 1 : -1));
  }

  get(folder: Folder, id: string): Job | undefined {
    return this.#known.get(folder)?.get(id);
  }

  ofCall(folder: Folder, toolCallId: string): Job | undefined {
    return this.all(folder).find((job) => job.toolCallId === toolCallId);
  }

  #take(folder: Folder, { job, output, offset }: JobChangedNotification): void {
    const before = this.#of(folder).get(job.id);
    this.#of(folder).set(job.id, job);
    if (before?.state !== job.state) {
      this.#changed.fire(folder);
    }
    const shown = this.#shown.get(job.id);
    if (!shown) {
      return;
    }
    if (output != null && shown.next !== undefined) {
      this.#append(shown, output, offset ?? shown.next);
    }
    if (before?.state === "running" && job.state !== "running") {
      shown.output.append(`\n■ ${jobState(job, now())}\n`);
    }
  }

  /** Adds output once, whatever overlaps or is missing between two pieces. Offsets count bytes. */
  #append(shown: Shown, output: string, offset: number): void {
    const bytes = encoder.encode(output);
    const skip = (shown.next ?? 0) - offset;
    if (skip < 0) {
      shown.output.append(`\n… ${-skip} bytes were left out\n`);
    }
    const fresh = skip <= 0 ? output : new TextDecoder().decode(bytes.subarray(skip));
    if (skip < bytes.length) {
      shown.output.append(fresh);
      shown.next = offset + bytes.length;
    }
  }

  /** Shows the output of a job, which goes on to arrive. */
  async open(folder: Folder, id: string): Promise<void> {
    const present = this.#shown.get(id);
    if (present) {
      present.terminal.show(true);
      return;
    }
    const { job, text, errors, offset, nextOffset } = await folder.request("redline/job/output", { jobId: id });
    const output = new JobTerminal(
      () => void attempt(() => this.cancel(folder, id)),
      () => this.#shown.delete(id),
    );
    const title = command(job.command);
    const terminal = vscode.window.createTerminal({
      name: `Redline: ${short(title, NAME_MAX)}`,
      pty: output,
      iconPath: new vscode.ThemeIcon("output"),
    });
    const shown: Shown = { terminal, output, next: undefined };
    this.#shown.set(id, shown);
    output.append(`${title}\n${jobState(job, now())} · in ${job.cwd || "."} · sandbox: ${job.sandbox}\n\n`);
    if (offset > 0) {
      output.append(`… ${offset} bytes before this\n`);
    }
    output.append(text);
    if (errors !== "") {
      output.append(`\nstandard error:\n${errors}`);
    }
    shown.next = nextOffset;
    terminal.show(true);
  }

  async cancel(folder: Folder, id: string): Promise<void> {
    const job = await folder.request("redline/job/cancel", { jobId: id });
    this.#take(folder, { job });
    say(`${jobState(job, now())}: ${short(command(job.command), NAME_MAX)}`);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
    for (const { terminal } of this.#shown.values()) {
      terminal.dispose();
    }
  }
}
