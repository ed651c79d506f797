/** Programs that agents run: which there are, their live output in a channel of its own, and stopping them. */

import * as vscode from "vscode";
import type { Job, JobChangedNotification } from "redline-protocol";
import { attempt, say } from "../failure.ts";
import type { Folder } from "../folder.ts";
import type { Folders } from "../folders.ts";
import { command, short } from "../text/escape.ts";
import { jobState } from "../text/labels.ts";

const NAME_MAX = 40;
const encoder = new TextEncoder();

interface Shown {
  readonly channel: vscode.OutputChannel;
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
      shown.channel.appendLine(`\n■ ${jobState(job, now())}`);
    }
  }

  /** Adds output once, whatever overlaps or is missing between two pieces. Offsets count bytes. */
  #append(shown: Shown, output: string, offset: number): void {
    const bytes = encoder.encode(output);
    const skip = (shown.next ?? 0) - offset;
    if (skip < 0) {
      shown.channel.appendLine(`\n… ${-skip} bytes were left out`);
    }
    const fresh = skip <= 0 ? output : new TextDecoder().decode(bytes.subarray(skip));
    if (skip < bytes.length) {
      shown.channel.append(fresh);
      shown.next = offset + bytes.length;
    }
  }

  /** Shows the output of a job, which goes on to arrive. */
  async open(folder: Folder, id: string): Promise<void> {
    const present = this.#shown.get(id);
    if (present) {
      present.channel.show(true);
      return;
    }
    const { job, text, errors, offset, nextOffset } = await folder.request("redline/job/output", { jobId: id });
    const channel = vscode.window.createOutputChannel(`Redline: ${short(command(job.command), NAME_MAX)}`);
    const shown: Shown = { channel, next: undefined };
    this.#shown.set(id, shown);
    channel.appendLine(`${command(job.command)}\n${jobState(job, now())} · in ${job.cwd || "."} · sandbox: ${job.sandbox}\n`);
    if (offset > 0) {
      channel.appendLine(`… ${offset} bytes before this`);
    }
    channel.append(text);
    if (errors !== "") {
      channel.append(`\nstandard error:\n${errors}`);
    }
    shown.next = nextOffset;
    channel.show(true);
  }

  async cancel(folder: Folder, id: string): Promise<void> {
    const job = await folder.request("redline/job/cancel", { jobId: id });
    this.#take(folder, { job });
    say(`${jobState(job, now())}: ${short(command(job.command), NAME_MAX)}`);
  }

  dispose(): void {
    this.#subscription.dispose();
    this.#changed.dispose();
    for (const { channel } of this.#shown.values()) {
      channel.dispose();
    }
  }
}
