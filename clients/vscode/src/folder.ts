/** One workspace folder and the sidecar behind it: starting, stopping, asking. No UI of its own. */

import * as fs from "node:fs";
import * as os from "node:os";
import * as vscode from "vscode";
import { State } from "vscode-languageclient/node";
import type { Counts, Mode, Notifications, Requests, StatusResult } from "redline-protocol";
import { find } from "./binary.ts";
import { RedlineClient, clientOptions, serverOptions } from "./client.ts";
import { sidecarEnv } from "./environment.ts";
import { Failure, failureOf } from "./failure.ts";
import { settings } from "./settings.ts";

export type FolderState =
  | { readonly kind: "stopped" }
  | { readonly kind: "starting" }
  | { readonly kind: "running" }
  | { readonly kind: "failed"; readonly failure: Failure };

type Listener<K extends keyof Notifications> = (params: Notifications[K]) => void;

export interface FolderContext {
  readonly extension: vscode.Uri;
  readonly channel: vscode.LogOutputChannel;
  /** Keys that the editor keeps, by variable. */
  keys(): Promise<Record<string, string>>;
}

const NONE: Counts = { pending: 0, conflicts: 0, files: 0, transactions: 0 };

export class Folder implements vscode.Disposable {
  readonly workspace: vscode.WorkspaceFolder;
  readonly #context: FolderContext;
  readonly #listeners = new Map<keyof Notifications, Set<(params: never) => void>>();
  readonly #changed = new vscode.EventEmitter<void>();
  readonly #restarted = new vscode.EventEmitter<void>();
  #client: RedlineClient | undefined;
  #state: FolderState = { kind: "stopped" };
  /** Starts and stops follow each other: a restart during a start waits for it. */
  #last: Promise<void> = Promise.resolve();
  #replaced = false;

  /** What the status line shows. */
  counts: Counts = NONE;
  mode: Mode = "manual";
  model = "";
  version = "";
  notices: readonly string[] = [];

  /** State, counts, mode or model are others now. */
  readonly onDidChange = this.#changed.event;
  /** All that was known is of an earlier sidecar: ask anew. */
  readonly onDidRestart = this.#restarted.event;

  constructor(workspace: vscode.WorkspaceFolder, context: FolderContext) {
    this.workspace = workspace;
    this.#context = context;
  }

  get state(): FolderState {
    return this.#state;
  }

  get key(): string {
    return this.workspace.uri.toString();
  }

  get isRunning(): boolean {
    return this.#state.kind === "running";
  }

  #become(state: FolderState): void {
    this.#state = state;
    this.#changed.fire();
  }

  /** Tells those who show counts, mode or model. */
  touch(): void {
    this.#changed.fire();
  }

  start(): Promise<void> {
    this.#last = this.#last.then(() => this.#start());
    return this.#last;
  }

  stop(): Promise<void> {
    this.#last = this.#last.then(() => this.#stop());
    return this.#last;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async #start(): Promise<void> {
    if (this.#client) {
      return;
    }
    if (this.workspace.uri.scheme !== "file") {
      const message = `${this.workspace.name} is not a local folder (${this.workspace.uri.scheme}:)`;
      this.#become({ kind: "failed", failure: new Failure("NOT_LOCAL", message, "Redline works where the files are") });
      return;
    }
    this.#become({ kind: "starting" });
    try {
      const binary = this.binary();
      const env = sidecarEnv(process.env, await this.#context.keys());
      const client = new RedlineClient(
        "redline",
        "Redline",
        serverOptions(binary, this.workspace, env, settings(this.workspace.uri).inProcess),
        clientOptions(this.workspace, this.#context.channel),
      );
      this.#client = client;
      this.#listen(client);
      await client.start();
      this.#become({ kind: "running" });
      await this.#ask();
      if (this.#replaced) {
        this.#restarted.fire();
      }
      this.#replaced = true;
    } catch (error) {
      const client = this.#client;
      this.#client = undefined;
      await client?.dispose().catch(() => undefined);
      this.#become({ kind: "failed", failure: failureOf(error) });
    }
  }

  /** Where the program lies; fails when it is nowhere. */
  binary(): string {
    const around = {
      setting: settings(this.workspace.uri).path,
      path: process.env.PATH ?? "",
      home: os.homedir(),
      extension: this.#context.extension.fsPath,
      platform: process.platform,
    };
    const binary = find(around, (path) => {
      try {
        fs.accessSync(path, fs.constants.X_OK);
        return fs.statSync(path).isFile();
      } catch {
        return false;
      }
    });
    if (binary === undefined) {
      const message = around.setting === "" ? "the `redline` binary was not found" : `${around.setting} is not a program`;
      throw new Failure("BINARY_MISSING", message, "Install it, or say where it is in the setting `redline.path`");
    }
    return binary;
  }

  #listen(client: RedlineClient): void {
    client.onDidChangeState(({ newState }) => {
      if (client !== this.#client) {
        return;
      }
      if (newState === State.Running && this.#state.kind === "failed") {
        // The client library started the server again after a crash.
        this.#become({ kind: "running" });
        void this.#ask().then(() => {
          this.#restarted.fire();
        });
      } else if (newState === State.Stopped && this.#state.kind === "running") {
        const failure = new Failure("SERVER_GONE", "`redline lsp` ended", "See the log, or restart it");
        this.#become({ kind: "failed", failure });
      }
    });
    for (const method of [
      "redline/session/update",
      "redline/approval/changed",
      "redline/plan/changed",
      "redline/job/changed",
      "redline/transaction/changed",
    ] as const) {
      client.onNotification(method, (params: unknown) => {
        this.#notify(method, params);
      });
    }
    client.onNotification("redline/sidecar/replaced", () => {
      void this.#ask().then(() => {
        this.#restarted.fire();
      });
    });
    this.on("redline/transaction/changed", ({ counts }) => {
      this.counts = counts;
      this.#changed.fire();
    });
  }

  #notify(method: keyof Notifications, params: unknown): void {
    for (const listener of this.#listeners.get(method) ?? []) {
      listener(params as never);
    }
  }

  /** Hears a notification of the sidecar, also of one that is started later. */
  on<K extends keyof Notifications>(method: K, listener: Listener<K>): vscode.Disposable {
    const all = this.#listeners.get(method) ?? new Set();
    this.#listeners.set(method, all);
    all.add(listener);
    return new vscode.Disposable(() => all.delete(listener));
  }

  async #ask(): Promise<void> {
    const status: StatusResult = await this.request("redline/status", {});
    this.mode = status.mode as Mode;
    this.model = status.model;
    this.version = status.version;
    this.notices = [...status.recovery.map((each) => each.message), ...status.notices];
    this.#changed.fire();
  }

  /** Sends a request; what was typed before is heard before it. */
  async request<K extends keyof Requests>(method: K, params: Requests[K]["params"]): Promise<Requests[K]["result"]> {
    if (!this.#client) {
      throw this.#state.kind === "failed"
        ? this.#state.failure
        : new Failure("NOT_RUNNING", `Redline is not running in ${this.workspace.name}`, "Run `Redline: Restart`");
    }
    try {
      return await this.#client.sendRequest<Requests[K]["result"]>(method, params);
    } catch (error) {
      throw failureOf(error);
    }
  }

  /** Runs a command of the server's, as a code action asks for it. */
  async execute(command: string, args: readonly unknown[]): Promise<unknown> {
    return this.#client?.sendRequest("workspace/executeCommand", { command, arguments: args });
  }

  async #stop(): Promise<void> {
    const client = this.#client;
    this.#client = undefined;
    this.counts = NONE;
    await client?.dispose().catch(() => undefined);
    this.#become({ kind: "stopped" });
  }

  dispose(): void {
    void this.stop();
    this.#changed.dispose();
    this.#restarted.dispose();
  }
}
