/** Keys of model vendors: kept by the editor's secret storage, handed to the sidecar in its environment. */

import * as vscode from "vscode";
import { isVariableName } from "./environment.ts";
import { say } from "./failure.ts";

const PREFIX = "redline.env.";
/** Names are no secrets; the storage cannot list them. */
const NAMES = "redline.keys";

const COMMON = [
  { label: "ANTHROPIC_API_KEY", description: "Anthropic" },
  { label: "OPENAI_API_KEY", description: "OpenAI" },
  { label: "Another variable…", description: "as named by api_key_env in config.toml" },
] as const;

export class Keys {
  readonly #secrets: vscode.SecretStorage;
  readonly #state: vscode.Memento;

  constructor(secrets: vscode.SecretStorage, state: vscode.Memento) {
    this.#secrets = secrets;
    this.#state = state;
  }

  names(): string[] {
    return this.#state.get<string[]>(NAMES, []);
  }

  async all(): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for (const name of this.names()) {
      const value = await this.#secrets.get(PREFIX + name);
      if (value !== undefined && value !== "") {
        found[name] = value;
      }
    }
    return found;
  }

  async set(name: string, value: string): Promise<void> {
    await this.#secrets.store(PREFIX + name, value);
    await this.#state.update(NAMES, [...new Set([...this.names(), name])].sort());
  }

  async remove(name: string): Promise<void> {
    await this.#secrets.delete(PREFIX + name);
    await this.#state.update(
      NAMES,
      this.names().filter((each) => each !== name),
    );
  }

  /** Asks for a key; true when one was kept. */
  async ask(missing: readonly string[]): Promise<boolean> {
    const name = await this.#askName(missing);
    if (name === undefined) {
      return false;
    }
    const value = await vscode.window.showInputBox({
      title: `Redline: ${name}`,
      prompt: "Kept in the editor's secret storage and handed to the sidecar alone; commands that agents run do not get it.",
      password: true,
      ignoreFocusOut: true,
      validateInput: (text) => (text.trim() === "" ? "Paste the key" : undefined),
    });
    if (value === undefined) {
      return false;
    }
    await this.set(name, value.trim());
    say(`${name} is kept`);
    return true;
  }

  async #askName(missing: readonly string[]): Promise<string | undefined> {
    const wanted = missing.filter((name) => !COMMON.some((each) => each.label === name));
    const items: vscode.QuickPickItem[] = [
      ...wanted.map((label) => ({ label, description: "a configured model needs it" })),
      ...COMMON,
    ];
    const kept = new Set(this.names());
    const chosen = await vscode.window.showQuickPick(
      items.map((item) => (kept.has(item.label) ? { ...item, description: `${item.description ?? ""} · kept` } : item)),
      { title: "Redline: Set API Key", placeHolder: "The variable that the sidecar reads it from" },
    );
    if (!chosen?.label.endsWith("…")) {
      return chosen?.label;
    }
    return vscode.window.showInputBox({
      title: "Redline: Set API Key",
      prompt: "Name of the variable",
      validateInput: (name) => (isVariableName(name) ? undefined : "Letters, digits and _, not beginning with a digit"),
    });
  }

  /** Asks which key to forget; true when one was. */
  async askRemoval(): Promise<boolean> {
    const name = await vscode.window.showQuickPick(this.names(), {
      title: "Redline: Remove API Key",
      placeHolder: this.names().length === 0 ? "No key is kept" : "The key to forget",
    });
    if (name !== undefined) {
      await this.remove(name);
    }
    return name !== undefined;
  }
}
