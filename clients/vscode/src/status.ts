/** The status bar: what is pending, the mode, the model, and what runs; its menu leads everywhere else. */

import * as vscode from "vscode";
import type { Folder } from "./folder.ts";
import { type Folders, whyNot } from "./folders.ts";
import { markdown } from "./text/escape.ts";
import { count } from "./text/labels.ts";

export interface Activity {
  /** What the current session of a folder does: `running cargo test`, `waits for you`; empty when idle. */
  activity(folder: Folder): string;
  /** Mode and model of its current conversation, else of the workspace. */
  mode(folder: Folder): string;
  model(folder: Folder): string;
  /** Approvals and plans that wait. */
  waiting(folder: Folder): number;
  onDidChange: vscode.Event<unknown>;
}

export class Status implements vscode.Disposable {
  readonly #folders: Folders;
  readonly #activity: Activity;
  readonly #item = vscode.window.createStatusBarItem("redline.status", vscode.StatusBarAlignment.Left, 10);
  readonly #subscriptions: vscode.Disposable[];

  constructor(folders: Folders, activity: Activity) {
    this.#folders = folders;
    this.#activity = activity;
    this.#item.name = "Redline";
    this.#item.command = "redline.menu";
    const draw = (): void => {
      this.#draw();
    };
    this.#subscriptions = [
      this.#item,
      folders.onDidChange(draw),
      activity.onDidChange(draw),
      vscode.window.onDidChangeActiveTextEditor(draw),
    ];
    this.#draw();
  }

  #draw(): void {
    const { text, tooltip, warning } = this.#shown();
    this.#item.text = text;
    this.#item.tooltip = tooltip;
    this.#item.accessibilityInformation = { label: `Redline: ${text.replace(/\$\([^)]*\)/g, "").trim()}`, role: "button" };
    this.#item.backgroundColor = warning ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    this.#item.show();
  }

  #shown(): { text: string; tooltip: string | vscode.MarkdownString; warning: boolean } {
    if (!vscode.workspace.isTrusted) {
      return {
        text: "$(shield) Redline: not trusted",
        tooltip: "Redline runs programs of the project: it starts when you trust this workspace.",
        warning: true,
      };
    }
    const folder = this.#folders.current();
    if (!folder) {
      return { text: "$(git-pull-request) Redline: no folder", tooltip: "Open the folder of your project.", warning: false };
    }
    switch (folder.state.kind) {
      case "starting":
        return { text: "$(sync~spin) Redline: starting", tooltip: folder.workspace.name, warning: false };
      case "stopped":
        return { text: "$(circle-slash) Redline: stopped", tooltip: "Click to restart it.", warning: false };
      case "failed": {
        const { code, message, hint } = folder.state.failure;
        return { text: `$(error) Redline: ${code}`, tooltip: `${message}. ${hint}`, warning: true };
      }
      case "running":
        return this.#running(folder);
    }
  }

  #running(folder: Folder): { text: string; tooltip: vscode.MarkdownString; warning: boolean } {
    const { pending, conflicts, files } = folder.counts;
    const activity = this.#activity.activity(folder);
    const waiting = this.#activity.waiting(folder);
    const mode = this.#activity.mode(folder);
    const model = this.#activity.model(folder);
    const parts = [`${pending} pending`];
    if (conflicts > 0) {
      parts.push(count(conflicts, "conflict"));
    }
    if (waiting > 0) {
      parts.push(`${waiting} ${waiting === 1 ? "waits" : "wait"} for you`);
    }
    parts.push(mode, model.split("/").at(-1) ?? "");
    if (activity !== "" && waiting === 0) {
      parts.push(activity);
    }
    const editor = vscode.window.activeTextEditor;
    const why = editor && whyNot(editor.document, this.#folders);
    const facts: [string, string][] = [
      ["Workspace", folder.workspace.name],
      ["Pending", `${count(pending, "hunk")} in ${count(files, "file")}, ${count(conflicts, "conflict")}`],
      ["Mode", mode],
      ["Model", model],
      ["State", activity === "" ? "idle" : activity],
      ["Version", folder.version],
    ];
    const lines = facts.map(([name, value]) => `**${name}**: ${markdown(value)}`);
    if (why !== undefined) {
      lines.unshift(`**Not here**: ${markdown(why)}`);
      parts.unshift("not here");
    }
    lines.push(...folder.notices.map((notice) => `*${markdown(notice)}*`));
    const icon = waiting > 0 ? "$(bell-dot)" : activity === "" ? "$(git-pull-request)" : "$(sync~spin)";
    return { text: `${icon} ${parts.join(" · ")}`, tooltip: new vscode.MarkdownString(lines.join("\n\n")), warning: waiting > 0 };
  }

  /** What can be done from here. */
  async menu(): Promise<void> {
    const items: (vscode.QuickPickItem & { command: string })[] = [
      { label: "$(comment-discussion) Open the conversation", command: "redline.openConversation" },
      { label: "$(list-tree) Show what is pending", command: "redline.review.focus" },
      { label: "$(arrow-down) Go to the next hunk", command: "redline.next" },
      { label: "$(settings) Choose the mode…", command: "redline.setMode" },
      { label: "$(symbol-misc) Choose the model…", command: "redline.setModel" },
      { label: "$(key) Set an API key…", command: "redline.setApiKey" },
      { label: "$(pulse) Check the set-up (doctor)", command: "redline.doctor" },
      { label: "$(refresh) Restart", command: "redline.restart" },
      { label: "$(output) Show the log", command: "redline.showLog" },
    ];
    const chosen = await vscode.window.showQuickPick(items, { title: "Redline", placeHolder: this.#item.text.replace(/\$\([^)]*\)/g, "").trim() });
    if (chosen) {
      await vscode.commands.executeCommand(chosen.command);
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}
