/** The conversation's webview: what it is told, and what it asks for. Its page loads nothing from anywhere. */

import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { Mode } from "redline-protocol";
import * as attach from "./attach.ts";
import type { Conversation, Conversations, Happened } from "./conversations.ts";
import { entryView } from "./entryView.ts";
import type { Bar, EntryView, FromView, ToView } from "./messages.ts";
import { type Changes, type Context, noChanges } from "./transcript.ts";
import { type Jobs, now } from "../agents/jobs.ts";
import type { Waiting } from "../agents/waiting.ts";
import { attempt } from "../failure.ts";
import type { Folder } from "../folder.ts";
import type { Folders } from "../folders.ts";
import type { Transactions } from "../review/transactions.ts";
import { oneLine } from "../text/escape.ts";
import { tokens } from "../text/labels.ts";

export const VIEW = "redline.conversation";

/** Pieces arrive up to sixty times a second; the page draws them at most this often. */
const FLUSH_MS = 33;

export interface Sources {
  readonly folders: Folders;
  readonly conversations: Conversations;
  readonly waiting: Waiting;
  readonly jobs: Jobs;
  readonly transactions: Transactions;
}

export class ConversationView implements vscode.WebviewViewProvider, vscode.Disposable {
  readonly #extension: vscode.Uri;
  readonly #from: Sources;
  readonly #subscriptions: vscode.Disposable[];
  #view: vscode.WebviewView | undefined;
  #folder: Folder | undefined;
  #pending = noChanges();
  #timer: NodeJS.Timeout | undefined;
  #barSent = "";

  constructor(extension: vscode.Uri, from: Sources) {
    this.#extension = extension;
    this.#from = from;
    const { conversations, waiting, jobs, transactions, folders } = from;
    waiting.isShown = (folder, sessionId) =>
      this.#view?.visible === true && this.#shown()?.folder === folder && this.#shown()?.sessionId === sessionId;
    this.#subscriptions = [
      vscode.window.registerWebviewViewProvider(VIEW, this),
      conversations.onDidHappen((happened) => {
        this.#happened(happened);
      }),
      waiting.onDidChange((folder) => {
        this.#touch(folder, (conversation, changes) => {
          conversation.transcript.touchCalls((call) => call._approvalId != null, changes);
          for (const plan of waiting.plans(folder).filter((each) => each.sessionId === conversation.sessionId)) {
            conversation.transcript.plan(plan.id, changes);
          }
          for (const entry of conversation.transcript.entries) {
            if (entry.kind === "plan") {
              changes.puts.add(entry);
            }
          }
        });
      }),
      jobs.onDidChange((folder) => {
        this.#touch(folder, ({ transcript }, changes) => {
          transcript.touchCalls((call) => call.kind === "execute" || jobs.ofCall(folder, call.toolCallId) !== undefined, changes);
        });
      }),
      transactions.onDidChange((folder) => {
        this.#touch(folder, ({ transcript }, changes) => {
          for (const { id } of transactions.all(folder)) {
            transcript.touchTransaction(id, changes);
          }
        });
      }),
      folders.onDidChange(() => {
        this.#bar();
      }),
    ];
  }

  /** The conversation that is shown: the current one of the folder that was used last. */
  #shown(): Conversation | undefined {
    const folder = this.#folder ?? this.#from.folders.current();
    return folder && this.#from.conversations.current(folder);
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.#view = view;
    const media = vscode.Uri.joinPath(this.#extension, "out");
    view.webview.options = { enableScripts: true, localResourceRoots: [media] };
    view.webview.onDidReceiveMessage((message: FromView) => void attempt(() => this.#receive(message)));
    view.onDidDispose(() => {
      this.#view = undefined;
    });
    view.webview.html = this.#page(view.webview, media);
  }

  #page(webview: vscode.Webview, media: vscode.Uri): string {
    const nonce = randomBytes(16).toString("base64");
    const at = (name: string): string => webview.asWebviewUri(vscode.Uri.joinPath(media, name)).toString();
    const policy = [
      "default-src 'none'",
      `script-src 'nonce-${nonce}'`,
      `style-src ${webview.cspSource}`,
      "base-uri 'none'",
      "form-action 'none'",
    ].join("; ");
    return `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Redline conversation</title>
<link rel="stylesheet" href="${at("webview.css")}">
</head>
<body>
<main id="log" role="log" aria-live="polite" aria-relevant="additions" aria-label="Conversation" tabindex="0"></main>
<button id="latest" type="button" hidden>Go to the latest</button>
<div id="status" role="status" aria-live="polite"></div>
<form id="form" aria-label="Prompt">
<ul id="attachments" aria-label="Attached"></ul>
<textarea id="prompt" rows="3" aria-label="Ask for a change" placeholder="Ask for a change…"></textarea>
<div id="bar">
<button id="attach-selection" type="button" title="Attach the selection">+ selection</button>
<button id="attach-file" type="button" title="Attach the file">+ file</button>
<button id="attach-problem" type="button" title="Attach a problem of the file">+ problem</button>
<span class="space"></span>
<label class="hidden" for="mode">Mode</label>
<select id="mode" title="How much agents may do by themselves"><option value="manual">manual</option><option value="plan">plan</option><option value="auto">auto</option></select>
<button id="model" type="button" title="Choose the model"></button>
<button id="stop" type="button" class="primary" hidden>Stop</button>
<button id="send" type="submit" class="primary">Send</button>
</div>
</form>
<script nonce="${nonce}" src="${at("webview.js")}"></script>
</body>
</html>`;
  }

  #post(message: ToView): void {
    void this.#view?.webview.postMessage(message);
  }

  #context(folder: Folder): Context {
    const { waiting, jobs, transactions } = this.#from;
    return {
      approval: (id) => waiting.approval(folder, id),
      plan: (id) => waiting.plan(folder, id),
      job: (id) => jobs.get(folder, id),
      jobOfCall: (id) => jobs.ofCall(folder, id),
      transaction: (id) => transactions.byId(id),
    };
  }

  #views(conversation: Conversation, entries: Iterable<Conversation["transcript"]["entries"][number]>): EntryView[] {
    const context = this.#context(conversation.folder);
    return Array.from(entries, (entry) => entryView(entry, conversation.transcript, context, now()));
  }

  #reset(): void {
    const conversation = this.#shown();
    this.#pending = noChanges();
    if (conversation) {
      const bar = this.#barOf(conversation);
      this.#barSent = JSON.stringify(bar);
      this.#post({ type: "reset", entries: this.#views(conversation, conversation.transcript.entries), bar });
    } else {
      this.#bar();
    }
  }

  #happened({ conversation, changes, reset }: Happened): void {
    if (conversation !== this.#shown()) {
      return;
    }
    if (reset) {
      this.#reset();
      return;
    }
    this.#collect(changes);
  }

  #collect(changes: Changes): void {
    for (const entry of changes.puts) {
      this.#pending.puts.add(entry);
    }
    const whole = new Set(Array.from(this.#pending.puts, (entry) => entry.key));
    this.#pending.appends.push(...changes.appends.filter(({ key }) => !whole.has(key)));
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#flush();
    }, FLUSH_MS);
  }

  #flush(): void {
    const conversation = this.#shown();
    const { puts, appends } = this.#pending;
    this.#pending = noChanges();
    if (conversation && puts.size + appends.length > 0) {
      this.#post({ type: "patch", puts: this.#views(conversation, puts), appends });
    }
    this.#bar();
  }

  #touch(folder: Folder, mark: (conversation: Conversation, changes: Changes) => void): void {
    const conversation = this.#from.conversations.present(folder);
    if (!conversation) {
      return;
    }
    const changes = noChanges();
    mark(conversation, changes);
    if (conversation === this.#shown()) {
      this.#collect(changes);
    }
  }

  #barOf(conversation: Conversation): Bar {
    const { folder, usage } = conversation;
    const model = conversation.model === "" ? folder.model : conversation.model;
    const used = usage?.used == null ? "" : `${tokens(usage.used)}${usage.size == null ? "" : ` of ${tokens(usage.size)}`} tokens`;
    const cost = usage?.cost == null ? "" : `${usage.cost.amount.toFixed(2)} ${usage.cost.currency}`;
    return {
      title: oneLine(conversation.title),
      state: conversation.state,
      activity: conversation.loading ? "loading" : oneLine(conversation.activity),
      mode: conversation.mode ?? folder.mode,
      model,
      usage: [used, cost].filter((part) => part !== "").join(" · "),
      attachments: conversation.attachments.map(({ label }) => oneLine(label)),
      unavailable: this.#unavailable(folder),
    };
  }

  #unavailable(folder: Folder): string {
    if (!vscode.workspace.isTrusted) {
      return "Redline starts when you trust this workspace.";
    }
    return folder.state.kind === "failed"
      ? `${folder.state.failure.message}. ${folder.state.failure.hint}`
      : folder.isRunning
        ? ""
        : "Redline is starting…";
  }

  #bar(): void {
    const conversation = this.#shown();
    const bar: Bar = conversation
      ? this.#barOf(conversation)
      : { title: "", state: "idle", activity: "", mode: "manual", model: "", usage: "", attachments: [], unavailable: "Open the folder of your project." };
    const text = JSON.stringify(bar);
    if (text !== this.#barSent) {
      this.#barSent = text;
      this.#post({ type: "bar", bar });
    }
    if (this.#view) {
      this.#view.title = conversation && conversation.title !== "" ? oneLine(conversation.title) : "Conversation";
    }
  }

  async #receive(message: FromView): Promise<void> {
    const conversation = this.#shown();
    if (message.type === "ready") {
      this.#reset();
      return;
    }
    if (message.type === "copy") {
      await vscode.env.clipboard.writeText(message.text);
      return;
    }
    if (!conversation) {
      return;
    }
    const { folder } = conversation;
    const { conversations, waiting, jobs } = this.#from;
    this.#folder = folder;
    switch (message.type) {
      case "send":
        // What goes wrong is in the conversation.
        await conversations.send(conversation, message.text).catch(() => undefined);
        break;
      case "stop":
        await conversations.stop(conversation);
        break;
      case "approve":
        await waiting.decideApproval(folder, message.id, "approve");
        break;
      case "deny":
        await waiting.decideApproval(folder, message.id, "deny");
        break;
      case "denyWithReason": {
        const reason = await waiting.askReason("deny");
        if (reason !== undefined) {
          await waiting.decideApproval(folder, message.id, "deny", reason);
        }
        break;
      }
      case "acceptPlan":
      case "rejectPlan":
      case "openPlan": {
        const item = waiting.plan(folder, message.id);
        await vscode.commands.executeCommand(`redline.${message.type}`, { folder, item });
        break;
      }
      case "openHunk": {
        const hunk = this.#from.transactions.hunk(message.id);
        await vscode.commands.executeCommand("redline.showHunk", hunk);
        break;
      }
      case "openTransaction":
        await vscode.commands.executeCommand("redline.openTransaction", this.#from.transactions.find(message.id));
        break;
      case "openJob":
        await jobs.open(folder, message.id);
        break;
      case "openPlace":
        await this.#openPlace(folder, message.path, message.line);
        break;
      case "openLink":
        await this.#openLink(folder, message.url);
        break;
      case "mode":
        await conversations.setMode(conversation, message.mode);
        break;
      case "pickModel":
        await vscode.commands.executeCommand("redline.setModel");
        break;
      case "attach":
        await this.attach(message.what);
        break;
      case "detach":
        conversation.attachments = conversation.attachments.filter((_, index) => index !== message.index);
        this.#bar();
        break;
    }
  }

  async #openPlace(folder: Folder, path: string, line: number): Promise<void> {
    const uri = path.startsWith("/") ? vscode.Uri.file(path) : vscode.Uri.joinPath(folder.workspace.uri, path);
    const at = new vscode.Position(Math.max(0, line - 1), 0);
    await vscode.window.showTextDocument(uri, { preview: true, selection: new vscode.Range(at, at) });
  }

  /** A link that a model wrote: files open here, pages in the browser, after the editor asked; nothing else. */
  async #openLink(folder: Folder, url: string): Promise<void> {
    if (/^https?:\/\//i.test(url)) {
      await vscode.env.openExternal(vscode.Uri.parse(url));
      return;
    }
    const [, path, line] = /^(?:file:\/\/)?([^#:]+)(?:[#:]L?(\d+))?/.exec(url) ?? [];
    if (path !== undefined && !/^[a-z][a-z0-9+.-]*:/i.test(url.replace(/^file:\/\//, ""))) {
      await this.#openPlace(folder, decodeURIComponent(path), Number(line ?? 1));
    }
  }

  async attach(what: "selection" | "file" | "problem"): Promise<void> {
    const conversation = this.#shown();
    const attachment = what === "problem" ? await attach.problem() : attach[what]();
    if (conversation && attachment) {
      conversation.attachments.push(attachment);
      this.#bar();
    }
  }

  /** Shows a conversation, of a folder or the current one, and puts text into its prompt. */
  async open(folder?: Folder, text?: string): Promise<void> {
    this.#folder = folder ?? this.#from.folders.current() ?? this.#folder;
    await vscode.commands.executeCommand(`${VIEW}.focus`);
    this.#reset();
    if (text !== undefined) {
      this.#post({ type: "prompt", text });
    }
  }

  /** The conversation that commands are about. */
  get conversation(): Conversation | undefined {
    return this.#shown();
  }

  /** For keys of the mode picker and the command palette. */
  async pickMode(): Promise<void> {
    const conversation = this.#shown();
    const modes: { label: Mode; description: string }[] = [
      { label: "manual", description: "nothing unasked" },
      { label: "plan", description: "nothing that changes something, until you accepted a plan" },
      { label: "auto", description: "all up to the configured ceiling" },
    ];
    const chosen = await vscode.window.showQuickPick(modes, { title: "Redline: how much may agents do by themselves?" });
    if (chosen && conversation) {
      await this.#from.conversations.setMode(conversation, chosen.label);
    }
  }

  async pickModel(): Promise<void> {
    const conversation = this.#shown();
    if (!conversation) {
      return;
    }
    const { models, notices } = await conversation.folder.request("redline/model/list", {});
    const items = models.map((model) => ({
      label: model.id,
      description: [
        model.name === model.id ? "" : model.name,
        model.credentials === "ready" ? "" : model.credentials,
        model.reachable === false ? "does not answer" : "",
        model.contextWindow == null ? "" : `${tokens(model.contextWindow)} context`,
        model.configured ? "configured" : "",
      ]
        .filter((part) => part !== "")
        .join(" · "),
    }));
    const chosen = await vscode.window.showQuickPick(items, {
      title: "Redline: Choose the Model",
      placeHolder: notices[0] ?? "The model from the next step on",
      matchOnDescription: true,
    });
    if (chosen) {
      await this.#from.conversations.setModel(conversation, chosen.label);
    }
  }

  dispose(): void {
    clearTimeout(this.#timer);
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}
