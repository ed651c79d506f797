/** A flat tree view of things of each folder; folders are shown where there are several. */

import * as vscode from "vscode";
import type { Folder } from "../folder.ts";
import type { Folders } from "../folders.ts";

export interface ListOptions<T> {
  readonly id: string;
  /** What is said when there is nothing. */
  readonly empty: string;
  items(folder: Folder): T[] | Promise<T[]>;
  show(item: T, folder: Folder): vscode.TreeItem;
  badge?(total: number): string;
}

interface Entry<T> {
  readonly folder: Folder;
  readonly item?: T;
}

export class ListTree<T> implements vscode.TreeDataProvider<Entry<T>>, vscode.Disposable {
  readonly #folders: Folders;
  readonly #options: ListOptions<T>;
  readonly #changed = new vscode.EventEmitter<undefined>();
  readonly #view: vscode.TreeView<Entry<T>>;
  readonly onDidChangeTreeData = this.#changed.event;

  constructor(folders: Folders, options: ListOptions<T>) {
    this.#folders = folders;
    this.#options = options;
    this.#view = vscode.window.createTreeView(options.id, { treeDataProvider: this });
  }

  refresh(): void {
    this.#changed.fire(undefined);
  }

  get visible(): boolean {
    return this.#view.visible;
  }

  get onDidChangeVisibility(): vscode.Event<unknown> {
    return this.#view.onDidChangeVisibility;
  }

  /** Counts what waits on the view's badge. */
  setBadge(value: number, tooltip: string): void {
    this.#view.badge = value === 0 ? undefined : { value, tooltip };
  }

  async getChildren(entry?: Entry<T>): Promise<Entry<T>[]> {
    const folders = this.#folders.all().filter((folder) => folder.isRunning);
    if (entry) {
      return (await this.#options.items(entry.folder)).map((item) => ({ folder: entry.folder, item }));
    }
    const all = await Promise.all(folders.map(async (folder) => ({ folder, items: await this.#options.items(folder) })));
    this.#view.message = all.every(({ items }) => items.length === 0) ? this.#options.empty : "";
    return all.length > 1
      ? all.map(({ folder }) => ({ folder }))
      : all.flatMap(({ folder, items }) => items.map((item) => ({ folder, item })));
  }

  getTreeItem({ folder, item }: Entry<T>): vscode.TreeItem {
    if (item === undefined) {
      const node = new vscode.TreeItem(folder.workspace.name, vscode.TreeItemCollapsibleState.Expanded);
      node.iconPath = vscode.ThemeIcon.Folder;
      return node;
    }
    return this.#options.show(item, folder);
  }

  dispose(): void {
    this.#view.dispose();
    this.#changed.dispose();
  }
}
