/** All workspace folders, each with its client: one set that follows the workspace and its trust. */

import * as vscode from "vscode";
import { Failure } from "./failure.ts";
import { Folder, type FolderContext } from "./folder.ts";
import { SECTION } from "./settings.ts";

/** Settings whose change needs another start of the sidecar's bridge. */
const RESTARTING = ["path", "inProcess"];

export class Folders implements vscode.Disposable {
  readonly #context: FolderContext;
  readonly #folders = new Map<string, Folder>();
  readonly #added = new vscode.EventEmitter<Folder>();
  readonly #changed = new vscode.EventEmitter<Folder | undefined>();
  readonly #renewed = new vscode.EventEmitter<Folder>();
  readonly #subscriptions: vscode.Disposable[] = [];

  /** A folder is there, before it is started. */
  readonly onDidAdd = this.#added.event;
  /** Something that is shown of a folder changed; undefined: the set itself did. */
  readonly onDidChange = this.#changed.event;
  /** The sidecar of a folder is another one now, or none any more: what was known of it is to be asked anew. */
  readonly onDidRenew = this.#renewed.event;

  constructor(context: FolderContext) {
    this.#context = context;
    this.#subscriptions.push(
      vscode.workspace.onDidChangeWorkspaceFolders(({ added, removed }) => {
        for (const folder of removed) {
          this.#folders.get(folder.uri.toString())?.dispose();
          this.#folders.delete(folder.uri.toString());
        }
        for (const folder of added) {
          this.#add(folder);
        }
        this.#changed.fire(undefined);
      }),
      vscode.workspace.onDidGrantWorkspaceTrust(() => {
        this.#changed.fire(undefined);
        for (const folder of this.all()) {
          void folder.start();
        }
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        for (const folder of this.all()) {
          if (RESTARTING.some((name) => event.affectsConfiguration(`${SECTION}.${name}`, folder.workspace.uri))) {
            void this.#restart(folder);
          }
        }
      }),
    );
  }

  /** Takes up the folders that are open. Separate from the constructor, so that listeners are there first. */
  open(): void {
    for (const folder of vscode.workspace.workspaceFolders ?? []) {
      this.#add(folder);
    }
  }

  #add(workspace: vscode.WorkspaceFolder): void {
    const folder = new Folder(workspace, this.#context);
    this.#folders.set(folder.key, folder);
    let running = false;
    folder.onDidChange(() => {
      this.#changed.fire(folder);
      if (folder.isRunning !== running) {
        running = folder.isRunning;
        this.#renewed.fire(folder);
      }
    });
    folder.onDidRestart(() => {
      this.#renewed.fire(folder);
    });
    this.#added.fire(folder);
    if (vscode.workspace.isTrusted) {
      void folder.start();
    }
  }

  async #restart(folder: Folder): Promise<void> {
    if (vscode.workspace.isTrusted) {
      await folder.restart();
    }
  }

  async restart(): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      throw new Failure("UNTRUSTED", "this workspace is not trusted", "Trust it (`Workspaces: Manage Workspace Trust`)");
    }
    await Promise.all(this.all().map((folder) => folder.restart()));
  }

  all(): Folder[] {
    return [...this.#folders.values()];
  }

  get(key: string): Folder | undefined {
    return this.#folders.get(key);
  }

  /** The folder of a file: the deepest one that holds it. */
  of(uri: vscode.Uri): Folder | undefined {
    const workspace = uri.scheme === "file" ? vscode.workspace.getWorkspaceFolder(uri) : undefined;
    return workspace && this.#folders.get(workspace.uri.toString());
  }

  /** The folder that the user works in: of the active editor, else the only one, else the first. */
  current(): Folder | undefined {
    const active = vscode.window.activeTextEditor?.document.uri;
    return (active && this.of(active)) ?? this.all()[0];
  }

  /** Like `current`, with a clear word where there is none. */
  expect(): Folder {
    const folder = this.current();
    if (!folder) {
      throw new Failure("NO_FOLDER", "no folder is open", "Open the folder of your project");
    }
    return folder;
  }

  dispose(): void {
    for (const subscription of [...this.#subscriptions, this.#added, this.#changed, this.#renewed, ...this.all()]) {
      subscription.dispose();
    }
  }
}

/** Why Redline cannot show anything for a document, for people; undefined when it can. */
export function whyNot(document: vscode.TextDocument, folders: Folders): string | undefined {
  const { scheme } = document.uri;
  if (scheme === "redline") {
    return undefined;
  }
  if (scheme === "untitled") {
    return "this document is not saved to a file yet";
  }
  if (scheme !== "file") {
    return `this document is not a local file (${scheme}:)`;
  }
  if (!folders.of(document.uri)) {
    return "this file lies in no open folder";
  }
  return undefined;
}
