/** Commands about agents: approvals, plans, jobs, sessions, models, modes, keys. */

import { execFile } from "node:child_process";
import * as vscode from "vscode";
import type { Approval, Job, Plan, SessionInfo } from "redline-protocol";
import { JobTerminal } from "./jobTerminal.ts";
import type { Jobs } from "./jobs.ts";
import type { Waiting } from "./waiting.ts";
import type { Conversations } from "../conversation/conversations.ts";
import type { ConversationView } from "../conversation/view.ts";
import { Failure, attempt, say } from "../failure.ts";
import { uriOf } from "../files/fileSystem.ts";
import type { Folder } from "../folder.ts";
import type { Folders } from "../folders.ts";
import type { Keys } from "../secrets.ts";

export interface Tools {
  readonly folders: Folders;
  readonly waiting: Waiting;
  readonly jobs: Jobs;
  readonly conversations: Conversations;
  readonly view: ConversationView;
  readonly keys: Keys;
}

/** An entry of a list: the thing, and the folder that it is of. */
interface Entry<T> {
  readonly folder: Folder;
  readonly item: T;
}

function entry<T>(argument: unknown): Entry<T> | undefined {
  const has = typeof argument === "object" && argument !== null && "folder" in argument && "item" in argument;
  return has && argument.item !== undefined ? (argument as Entry<T>) : undefined;
}

function expectEntry<T>(argument: unknown, what: string): Entry<T> {
  const found = entry<T>(argument);
  if (!found) {
    throw new Failure("NOT_FOUND", `no ${what} was named`, "Use the buttons of the Redline views");
  }
  return found;
}

async function approval(waiting: Waiting, argument: unknown): Promise<{ folder: Folder; approval: Approval }> {
  const found = entry<Approval>(argument);
  return found ? { folder: found.folder, approval: found.item } : waiting.pickApproval();
}

function plan(folders: Folders, waiting: Waiting, argument: unknown): Entry<Plan> {
  const only = folders.all().flatMap((folder) => waiting.plans(folder).map((item) => ({ folder, item })))[0];
  const found = entry<Plan>(argument) ?? only;
  if (!found) {
    throw new Failure("NOT_FOUND", "no plan waits");
  }
  return found;
}

async function openPlan({ folder, item }: Entry<Plan>): Promise<void> {
  const uri = uriOf({ kind: "plan", file: folder.workspace.uri.toString(), id: item.id });
  await vscode.commands.executeCommand("markdown.showPreview", uri).then(undefined, async () => {
    // Without the preview the text itself does.
    await vscode.window.showTextDocument(uri, { preview: true });
  });
}

async function sessions({ folders, conversations }: Tools): Promise<void> {
  const folder = folders.expect();
  const { sessions: all } = await folder.request("redline/session/list", { archived: false });
  const items = all.map((session) => ({
    label: session.title ?? "(nothing asked yet)",
    description: `${session.model} · ${session.turns} turns`,
    session,
  }));
  const chosen = await vscode.window.showQuickPick(items, { title: "Redline: Go On with a Conversation" });
  if (chosen) {
    await conversations.load(folder, chosen.session.sessionId);
  }
}

async function missingKeys(folders: Folders): Promise<string[]> {
  const folder = folders.current();
  if (!folder?.isRunning) {
    return [];
  }
  const { models } = await folder.request("redline/model/list", {});
  return models.flatMap(({ credentials }) => /^missing (\w+)$/.exec(credentials)?.[1] ?? []);
}

function doctor(folders: Folders): void {
  const folder = folders.expect();
  // Not as the terminal's own program: VS Code closes that terminal when all is well.
  const child = execFile(folder.binary(), ["doctor"], { cwd: folder.workspace.uri.fsPath }, (_, stdout, stderr) => {
    output.append(`${stdout}${stderr}`);
  });
  const output = new JobTerminal(
    () => child.kill(),
    () => child.kill(),
  );
  const iconPath = new vscode.ThemeIcon("pulse");
  vscode.window.createTerminal({ name: "Redline: doctor", pty: output, iconPath }).show(true);
}

export function registerAgentCommands(tools: Tools): vscode.Disposable {
  const { folders, waiting, jobs, conversations, view, keys } = tools;
  const on = (name: string, run: (argument: unknown) => unknown): vscode.Disposable =>
    vscode.commands.registerCommand(`redline.${name}`, (argument: unknown) => attempt(() => run(argument)));
  const deny = async (argument: unknown, because: boolean): Promise<void> => {
    const found = await approval(waiting, argument);
    const reason = because ? await waiting.askReason("deny") : "";
    if (reason !== undefined) {
      await waiting.decideApproval(found.folder, found.approval.id, "deny", reason);
    }
  };
  return vscode.Disposable.from(
    on("approve", async (argument) => {
      const found = await approval(waiting, argument);
      await waiting.decideApproval(found.folder, found.approval.id, "approve");
    }),
    on("deny", (argument) => deny(argument, false)),
    on("denyWithReason", (argument) => deny(argument, true)),
    on("openPlan", (argument) => openPlan(plan(folders, waiting, argument))),
    on("acceptPlan", async (argument) => {
      const found = plan(folders, waiting, argument);
      await waiting.decidePlan(found.folder, found.item, "accept");
    }),
    on("rejectPlan", async (argument) => {
      const found = plan(folders, waiting, argument);
      const reason = await waiting.askReason("reject");
      if (reason !== undefined) {
        await waiting.decidePlan(found.folder, found.item, "reject", reason);
      }
    }),
    on("openJob", async (argument) => {
      const { folder, item } = expectEntry<Job>(argument, "job");
      await jobs.open(folder, item.id);
    }),
    on("cancelJob", async (argument) => {
      const { folder, item } = expectEntry<Job>(argument, "job");
      await jobs.cancel(folder, item.id);
    }),
    on("ask", async () => {
      const text = await vscode.window.showInputBox({ title: "Redline: Ask for a Change", ignoreFocusOut: true });
      const folder = folders.expect();
      if (text !== undefined && text.trim() !== "") {
        await conversations.send(conversations.current(folder), text);
      }
    }),
    on("openConversation", async (argument) => {
      const named = argument as { folder: Folder; sessionId: string } | undefined;
      if (named && conversations.present(named.folder)?.sessionId !== named.sessionId) {
        await conversations.load(named.folder, named.sessionId);
      }
      await view.open(named?.folder);
    }),
    on("newConversation", async () => {
      const folder = folders.expect();
      conversations.begin(folder);
      await view.open(folder);
    }),
    on("stop", async () => {
      if (view.conversation) {
        await conversations.stop(view.conversation);
      }
    }),
    on("attachSelection", () => view.attach("selection")),
    on("attachFile", () => view.attach("file")),
    on("attachProblem", () => view.attach("problem")),
    on("loadSession", async (argument) => {
      const found = entry<SessionInfo>(argument);
      if (found) {
        await conversations.load(found.folder, found.item.sessionId);
        await view.open(found.folder);
      } else {
        await sessions(tools);
      }
    }),
    on("forkSession", async (argument) => {
      const { folder, item } = expectEntry<SessionInfo>(argument, "session");
      const { sessionId } = await folder.request("redline/session/fork", { sessionId: item.sessionId });
      await conversations.load(folder, sessionId);
      await view.open(folder);
    }),
    on("archiveSession", async (argument) => {
      const { folder, item } = expectEntry<SessionInfo>(argument, "session");
      await folder.request("redline/session/archive", { sessionId: item.sessionId, archived: true });
      say("the conversation was put away");
      const present = conversations.present(folder);
      if (present) {
        conversations.touch(present);
      }
    }),
    on("setMode", () => view.pickMode()),
    on("setModel", () => view.pickModel()),
    on("setApiKey", async () => {
      // The sidecar may be what does not start without it.
      const missing = await missingKeys(folders).catch(() => []);
      if (await keys.ask(missing)) {
        await folders.restart();
      }
    }),
    on("removeApiKey", async () => {
      if (await keys.askRemoval()) {
        await folders.restart();
      }
    }),
    on("doctor", () => {
      doctor(folders);
    }),
    on("restart", async () => {
      await folders.restart();
      say("restarted");
    }),
  );
}
