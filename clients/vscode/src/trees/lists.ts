/** The smaller views: what waits for a yes, checkpoints, jobs, sessions. */

import * as vscode from "vscode";
import type { Approval, Checkpoint, Job, Plan, SessionInfo } from "redline-protocol";
import { ListTree } from "./list.ts";
import { type Jobs, now } from "../agents/jobs.ts";
import type { Waiting } from "../agents/waiting.ts";
import type { Folder } from "../folder.ts";
import type { Folders } from "../folders.ts";
import type { Transactions } from "../review/transactions.ts";
import { command, oneLine } from "../text/escape.ts";
import { approvalFacts, approvalState, checkpointLine, count, jobState, planFacts, planState, span } from "../text/labels.ts";

function facts(pairs: readonly [string, string][]): string {
  return pairs.map(([name, value]) => `${name} ${value}`).join("\n");
}

function waitingItem(item: Approval | Plan, folder: Folder): vscode.TreeItem {
  if ("expiresAt" in item) {
    const label = item.command ? command(item.command) : oneLine(item.summary);
    const node = new vscode.TreeItem(label);
    node.description = approvalState(item);
    node.tooltip = facts(approvalFacts(item));
    node.iconPath = new vscode.ThemeIcon("shield");
    node.contextValue = "approval";
    node.command = { command: "redline.openConversation", title: "Open the conversation", arguments: [{ folder, sessionId: item.sessionId }] };
    node.accessibilityInformation = { label: `Approval: ${label}, ${approvalFacts(item).map((pair) => pair.join(" ")).join(", ")}` };
    return node;
  }
  const node = new vscode.TreeItem(oneLine(item.title));
  node.description = planState(item);
  node.tooltip = facts(planFacts(item));
  node.iconPath = new vscode.ThemeIcon("checklist");
  node.contextValue = "plan";
  node.command = { command: "redline.openPlan", title: "Read the plan", arguments: [{ folder, item }] };
  return node;
}

export function waitingTree(folders: Folders, waiting: Waiting): vscode.Disposable {
  const tree = new ListTree<Approval | Plan>(folders, {
    id: "redline.waiting",
    empty: "Nothing waits for you.",
    items: (folder) => [...waiting.approvals(folder), ...waiting.plans(folder)],
    show: waitingItem,
  });
  const listening = waiting.onDidChange(() => {
    const total = folders.all().reduce((sum, folder) => sum + waiting.count(folder), 0);
    tree.setBadge(total, `${total} ${total === 1 ? "waits" : "wait"} for you`);
    void vscode.commands.executeCommand("setContext", "redline.waiting", total > 0);
    tree.refresh();
  });
  return vscode.Disposable.from(tree, listening);
}

function checkpointItem(checkpoint: Checkpoint): vscode.TreeItem {
  const node = new vscode.TreeItem(oneLine(checkpoint.title));
  node.description = `${checkpointLine(checkpoint)} · ${span(now() - checkpoint.createdAt)} ago`;
  node.tooltip = checkpoint.paths.join("\n");
  node.iconPath = new vscode.ThemeIcon(checkpoint.undone ? "discard" : "history");
  node.contextValue = checkpoint.undone ? "checkpoint.undone" : "checkpoint";
  node.id = checkpoint.id;
  return node;
}

export function checkpointTree(folders: Folders, transactions: Transactions): vscode.Disposable {
  const tree = new ListTree<Checkpoint>(folders, {
    id: "redline.checkpoints",
    empty: "What you accept can be undone here, turn by turn.",
    items: async (folder) => (await folder.request("redline/checkpoint/list", {})).checkpoints,
    show: checkpointItem,
  });
  return vscode.Disposable.from(
    tree,
    transactions.onDidChange(() => {
      tree.refresh();
    }),
  );
}

const JOB_ICONS = {
  running: "sync~spin",
  exited: "terminal",
  cancelled: "circle-slash",
  timed_out: "watch",
  orphaned: "debug-disconnect",
} as const;

function jobItem(job: Job, folder: Folder): vscode.TreeItem {
  const node = new vscode.TreeItem(command(job.command));
  const failed = job.state === "exited" && (job.exitCode !== 0 || job.signal != null);
  node.description = jobState(job, now());
  node.tooltip = `in ${job.cwd || "."} · sandbox: ${job.sandbox}`;
  node.iconPath = failed
    ? new vscode.ThemeIcon("error", new vscode.ThemeColor("list.errorForeground"))
    : new vscode.ThemeIcon(JOB_ICONS[job.state]);
  node.contextValue = job.state === "running" ? "job.running" : "job";
  node.command = { command: "redline.openJob", title: "Show the output", arguments: [{ folder, item: job }] };
  node.id = job.id;
  return node;
}

export function jobTree(folders: Folders, jobs: Jobs): vscode.Disposable {
  const tree = new ListTree<Job>(folders, {
    id: "redline.jobs",
    empty: "No program has run.",
    items: (folder) => jobs.all(folder),
    show: jobItem,
  });
  return vscode.Disposable.from(
    tree,
    jobs.onDidChange((folder) => {
      const running = jobs.all(folder).filter((job) => job.state === "running").length;
      tree.setBadge(running, `${count(running, "program")} running`);
      tree.refresh();
    }),
  );
}

function sessionItem(session: SessionInfo, folder: Folder): vscode.TreeItem {
  const node = new vscode.TreeItem(oneLine(session.title ?? "") || "(nothing asked yet)");
  const state = session.state === "requires_action" ? "waits for you" : session.state;
  node.description = `${state === "idle" ? "" : `${state} · `}${count(session.turns, "turn")} · ${span(now() - session.updatedAt)} ago`;
  node.tooltip = `${session.model} · ${session.mode} · ${session.sessionId}`;
  node.iconPath = new vscode.ThemeIcon(session.state === "idle" ? "comment-discussion" : "sync");
  node.contextValue = "session";
  node.command = { command: "redline.loadSession", title: "Go on with it", arguments: [{ folder, item: session }] };
  node.id = session.sessionId;
  return node;
}

export function sessionTree(folders: Folders, changed: vscode.Event<unknown>): vscode.Disposable {
  const tree = new ListTree<SessionInfo>(folders, {
    id: "redline.sessions",
    empty: "No conversation yet.",
    items: async (folder) => (await folder.request("redline/session/list", { archived: false })).sessions,
    show: sessionItem,
  });
  return vscode.Disposable.from(
    tree,
    changed(() => {
      if (tree.visible) {
        tree.refresh();
      }
    }),
    tree.onDidChangeVisibility(() => {
      tree.refresh();
    }),
    folders.onDidRenew(() => {
      tree.refresh();
    }),
  );
}
