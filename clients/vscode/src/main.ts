/** The extension: everything is put together here, and taken apart again. */

import * as vscode from "vscode";
import { registerAgentCommands } from "./agents/commands.ts";
import { Jobs } from "./agents/jobs.ts";
import { Waiting } from "./agents/waiting.ts";
import { SERVER_COMMAND } from "./client.ts";
import { Conversations } from "./conversation/conversations.ts";
import { ConversationView } from "./conversation/view.ts";
import { attempt, report } from "./failure.ts";
import { RedlineFileSystem } from "./files/fileSystem.ts";
import { Texts } from "./files/texts.ts";
import { Folders } from "./folders.ts";
import { ReviewCommands } from "./review/commands.ts";
import { Cursor } from "./review/cursor.ts";
import { Decisions } from "./review/decide.ts";
import { Decorations } from "./review/decorations.ts";
import { Documents } from "./review/documents.ts";
import { Lenses } from "./review/lenses.ts";
import { FocusedHunk } from "./review/thread.ts";
import { Transactions } from "./review/transactions.ts";
import { Viewport } from "./review/viewport.ts";
import { ReviewWriting } from "./review/writing.ts";
import { Keys } from "./secrets.ts";
import { Status } from "./status.ts";
import { checkpointTree, jobTree, sessionTree, waitingTree } from "./trees/lists.ts";
import { ReviewTree } from "./trees/review.ts";

/** What other extensions, and the tests of this one, may see. */
export interface Api {
  readonly folders: Folders;
  readonly documents: Documents;
  readonly transactions: Transactions;
  readonly waiting: Waiting;
  readonly jobs: Jobs;
  readonly conversations: Conversations;
  readonly keys: Keys;
}

export function activate(context: vscode.ExtensionContext): Api {
  const channel = vscode.window.createOutputChannel("Redline", { log: true });
  const keys = new Keys(context.secrets, context.globalState);
  const folders = new Folders({ extension: context.extensionUri, channel, keys: () => keys.all() });
  const documents = new Documents(folders);
  const transactions = new Transactions(folders);
  const waiting = new Waiting(folders);
  const jobs = new Jobs(folders);
  const conversations = new Conversations(folders);

  const viewport = new Viewport();
  const cursor = new Cursor(documents);
  const decisions = new Decisions(transactions);
  const texts = new Texts(documents, transactions, folders);
  const writing = new ReviewWriting(transactions, decisions);
  const view = new ConversationView(context.extensionUri, { folders, conversations, waiting, jobs, transactions });
  const activity = new vscode.EventEmitter<unknown>();
  const status = new Status(folders, {
    activity: (folder) => conversations.activity(folder),
    mode: (folder) => conversations.present(folder)?.mode ?? folder.mode,
    model: (folder) => conversations.present(folder)?.model || folder.model,
    waiting: (folder) => waiting.count(folder),
    onDidChange: activity.event,
  });

  context.subscriptions.push(
    channel,
    folders,
    documents,
    transactions,
    waiting,
    jobs,
    conversations,
    viewport,
    cursor,
    new Decorations(documents, viewport),
    new Lenses(documents, viewport),
    new FocusedHunk(cursor, transactions),
    new RedlineFileSystem(texts, writing, waiting, documents, transactions),
    new ReviewTree(folders, transactions, decisions),
    waitingTree(folders, waiting),
    checkpointTree(folders, transactions),
    jobTree(folders, jobs),
    sessionTree(folders, conversations.onDidHappen),
    view,
    status,
    activity,
    conversations.onDidHappen((happened) => {
      activity.fire(happened);
    }),
    waiting.onDidChange((folder) => {
      activity.fire(folder);
    }),
    new ReviewCommands({ folders, documents, transactions, decisions, cursor, texts }).register(),
    registerAgentCommands({ folders, waiting, jobs, conversations, view, keys }),
    vscode.commands.registerCommand("redline.menu", () => attempt(() => status.menu())),
    vscode.commands.registerCommand("redline.showLog", () => {
      channel.show(true);
    }),
    vscode.commands.registerCommand("redline.openWalkthrough", () =>
      vscode.commands.executeCommand("workbench.action.openWalkthrough", "redline.redline#start", false),
    ),
    vscode.commands.registerCommand(SERVER_COMMAND, (key: string, command: string, ...args: unknown[]) =>
      attempt(() => folders.get(key)?.execute(command, args)),
    ),
  );
  tellFailures(folders, context.subscriptions);
  folders.open();
  return { folders, documents, transactions, waiting, jobs, conversations, keys };
}

/** Says once, with a way on, why a folder has no Redline. */
function tellFailures(folders: Folders, subscriptions: vscode.Disposable[]): void {
  const told = new Set<string>();
  subscriptions.push(
    folders.onDidChange((folder) => {
      if (folder?.state.kind !== "failed") {
        return;
      }
      const { failure } = folder.state;
      const key = `${folder.key} ${failure.code}`;
      if (told.has(key)) {
        return;
      }
      told.add(key);
      if (failure.code === "BINARY_MISSING") {
        void offerSetup(failure.message);
      } else {
        report(failure);
      }
    }),
  );
}

async function offerSetup(message: string): Promise<void> {
  const ways = { "How to install": "redline.openWalkthrough", "Set the path": "workbench.action.openSettings" } as const;
  const names = Object.keys(ways) as (keyof typeof ways)[];
  const chosen = await vscode.window.showErrorMessage(`Redline: ${message}.`, ...names);
  if (chosen) {
    await vscode.commands.executeCommand(ways[chosen], ...(chosen === "Set the path" ? ["redline.path"] : []));
  }
}

export function deactivate(): void {
  // All that there is hangs on the context's subscriptions.
}
