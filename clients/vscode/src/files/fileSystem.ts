/**
 * The `redline:` file system: texts that exist only under review. Writing to one is a decision.
 *
 * Changing a proposed file puts hunks back (reject) or changes them (amend); saving an amended hunk amends it;
 * completing a merge settles the conflict. The files on disk are never written from here.
 */

import * as vscode from "vscode";
import { type Address, SCHEME, addressOf, queryOf } from "./uris.ts";
import type { Composed, Texts } from "./texts.ts";
import { attempt, say } from "../failure.ts";
import type { Documents } from "../review/documents.ts";
import type { Transactions } from "../review/transactions.ts";
import { compose, readBack, regionOf, splitLines } from "../text/compose.ts";
import { count } from "../text/labels.ts";

/** What the user's changes of these texts lead to. */
export interface Writing {
  reject(ids: readonly string[]): Promise<void>;
  amend(id: string, added: string[]): Promise<void>;
  /** `mine`: the lines that stand there now. */
  merge(id: string, lines: string[], mine: readonly string[]): Promise<void>;
}

export interface PlanTexts {
  text(id: string): string | undefined;
}

export function uriOf(address: Address): vscode.Uri {
  const file = vscode.Uri.parse(address.file);
  const path = address.kind === "plan" ? `/plans/${address.id ?? ""}.md` : file.path;
  return vscode.Uri.from({ scheme: SCHEME, path, query: queryOf(address) });
}

const encoder = new TextEncoder();

export class RedlineFileSystem implements vscode.FileSystemProvider, vscode.Disposable {
  readonly #texts: Texts;
  readonly #writing: Writing;
  readonly #plans: PlanTexts;
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly #subscriptions: vscode.Disposable[];
  /** What was read last of each proposed file: a change is read back against it. */
  readonly #shown = new Map<string, Composed>();
  readonly #mtimes = new Map<string, number>();
  readonly onDidChangeFile = this.#changed.event;

  constructor(texts: Texts, writing: Writing, plans: PlanTexts, documents: Documents, transactions: Transactions) {
    this.#texts = texts;
    this.#writing = writing;
    this.#plans = plans;
    this.#subscriptions = [
      this.#changed,
      vscode.workspace.registerFileSystemProvider(SCHEME, this, { isCaseSensitive: true }),
      documents.onDidChange((document) => {
        this.#refresh((address) => address.file === document.uri.toString());
      }),
      transactions.onDidChange(() => {
        this.#refresh((address) => address.kind !== "amend");
      }),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (document.uri.scheme === SCHEME) {
          // That it is unsaved may be told after the change, in an event of its own without changes.
          void attempt(() => this.#readBack(document));
        } else if (document.uri.scheme === "file" && contentChanges.length > 0) {
          this.#refresh((address) => address.file === document.uri.toString());
        }
      }),
    ];
  }

  /** Tells VS Code that open documents of ours hold something else now. */
  #refresh(concerned: (address: Address) => boolean): void {
    const events = vscode.workspace.textDocuments.flatMap(({ uri }): vscode.FileChangeEvent[] => {
      const address = uri.scheme === SCHEME ? addressOf(uri.query) : undefined;
      const live = address && ["proposed", "present", "plan"].includes(address.kind);
      if (!live || !concerned(address)) {
        return [];
      }
      this.#mtimes.set(uri.toString(), Date.now());
      return [{ type: vscode.FileChangeType.Changed, uri }];
    });
    if (events.length > 0) {
      this.#changed.fire(events);
    }
  }

  /** The revert arrow of the diff editor arrives as a change of the proposed text. */
  async #readBack(document: vscode.TextDocument): Promise<void> {
    const address = addressOf(document.uri.query);
    const before = this.#shown.get(document.uri.toString());
    // A text that VS Code read anew from here is not unsaved: only what a user did is.
    if (address?.kind !== "proposed" || !before || !document.isDirty) {
      return;
    }
    const back = readBack(before, document.getText());
    // What is typed waits for the user to save it; lines that were put back are a whole decision.
    if (back.rejected.length > 0 && back.amended.length === 0 && !back.outside) {
      await document.save();
    }
  }

  #addressed(uri: vscode.Uri): Address {
    const address = addressOf(uri.query);
    if (!address) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    return address;
  }

  async #read(uri: vscode.Uri): Promise<string> {
    const address = this.#addressed(uri);
    const file = vscode.Uri.parse(address.file);
    switch (address.kind) {
      case "proposed":
        return (await this.#texts.proposed(file, address.id)).text;
      case "present":
        return this.#texts.present(file);
      case "amend": {
        const { added } = this.#hunk(uri, address);
        return added.length === 0 ? "" : `${added.join("\n")}\n`;
      }
      case "plan": {
        const text = this.#plans.text(address.id ?? "");
        if (text === undefined) {
          throw vscode.FileSystemError.FileNotFound(uri);
        }
        return text;
      }
      case "mergeBase":
      case "mergeTheirs":
      case "mergeMine":
      case "mergeResult":
        return this.#side(uri, address);
    }
  }

  #hunk(uri: vscode.Uri, address: Address): { added: readonly string[] } {
    const found = this.#texts.changes(vscode.Uri.parse(address.file)).flatMap((file) => file.hunks);
    const hunk = found.find((each) => each.id === address.id);
    if (!hunk) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    return hunk;
  }

  /** A side of a conflict as a whole file: the present text, with the conflict's lines as that side has them. */
  async #side(uri: vscode.Uri, address: Address): Promise<string> {
    const file = vscode.Uri.parse(address.file);
    const found = this.#texts.conflict(file, address.id ?? "");
    if (!found) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    const { conflict, rows } = found;
    const present = await this.#texts.present(file);
    if (address.kind === "mergeMine") {
      return present;
    }
    // The result begins as the base, so that each side's changes are there to be taken.
    const added = address.kind === "mergeTheirs" ? conflict.proposed : conflict.base;
    return compose(present, [{ id: "", rows, added, removed: [], noNewlineAtEnd: false }]).text;
  }

  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const { kind, ...address } = this.#addressed(uri);
    if (uri.path !== uriOf({ kind, ...address }).path) {
      // A folder above: asked for before something is written.
      return { type: vscode.FileType.Directory, ctime: 0, mtime: 0, size: 0 };
    }
    const text = await this.#read(uri);
    const writable = ["proposed", "amend", "mergeResult"].includes(kind);
    return {
      type: vscode.FileType.File,
      ctime: 0,
      mtime: this.#mtimes.get(uri.toString()) ?? 1,
      size: encoder.encode(text).length,
      ...(writable ? {} : { permissions: vscode.FilePermission.Readonly }),
    };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const address = this.#addressed(uri);
    if (address.kind === "proposed") {
      const composed = await this.#texts.proposed(vscode.Uri.parse(address.file), address.id);
      this.#shown.set(uri.toString(), composed);
      return encoder.encode(composed.text);
    }
    return encoder.encode(await this.#read(uri));
  }

  async writeFile(uri: vscode.Uri, content: Uint8Array): Promise<void> {
    const address = this.#addressed(uri);
    const text = new TextDecoder().decode(content);
    if (address.kind === "proposed") {
      await this.#writeProposed(uri, address, text);
    } else if (address.kind === "amend") {
      await this.#writing.amend(address.id ?? "", splitLines(text));
    } else if (address.kind === "mergeResult") {
      await this.#writeMerged(uri, address, text);
    } else {
      throw vscode.FileSystemError.NoPermissions(uri);
    }
    this.#mtimes.set(uri.toString(), Date.now());
    this.#changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  async #writeProposed(uri: vscode.Uri, address: Address, text: string): Promise<void> {
    const file = vscode.Uri.parse(address.file);
    const before = this.#shown.get(uri.toString());
    const now = await this.#texts.proposed(file, address.id);
    if (!before || text === now.text) {
      return;
    }
    const back = readBack(before, text);
    if (back.outside) {
      throw vscode.FileSystemError.NoPermissions("only proposed lines can be changed here; change others in the file itself");
    }
    if (back.rejected.length > 0) {
      await this.#writing.reject(back.rejected);
    }
    for (const { id, added } of back.amended) {
      await this.#writing.amend(id, added);
    }
    if (back.amended.length > 0) {
      say(`${count(back.amended.length, "hunk")} amended`);
    }
  }

  async #writeMerged(uri: vscode.Uri, address: Address, text: string): Promise<void> {
    const file = vscode.Uri.parse(address.file);
    const found = this.#texts.conflict(file, address.id ?? "");
    if (!found) {
      throw vscode.FileSystemError.FileNotFound(uri);
    }
    const present = await this.#texts.present(file);
    const lines = regionOf(present, text, found.rows);
    if (!lines) {
      throw vscode.FileSystemError.NoPermissions("only the lines of the conflict can be changed here; nothing was written");
    }
    const mine = splitLines(present).slice(found.rows.first, found.rows.last);
    await this.#writing.merge(address.id ?? "", lines, mine);
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  readDirectory(): [string, vscode.FileType][] {
    return [];
  }

  createDirectory(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  delete(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  rename(uri: vscode.Uri): void {
    throw vscode.FileSystemError.NoPermissions(uri);
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}
