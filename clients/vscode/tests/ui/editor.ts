/** A real VS Code for a test: its server with the packaged extension in it, and a browser in front. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import fs from "node:fs";
import net from "node:net";
import os from "node:os";
import path from "node:path";
import { type BrowserContext, type Frame, type Locator, type Page, chromium } from "playwright-core";

function variable(name: string): string {
  const value = process.env[name];
  assert.ok(value, `${name} is not set: \`cargo test\` sets it`);
  return value;
}

/** The project's root, which is the opened folder. */
export const ROOT = variable("REDLINE_TEST_ROOT");
const BINARY = variable("REDLINE_BIN");
const SERVER = variable("REDLINE_TEST_VSCODE");

const PATIENCE_MS = Number(process.env.REDLINE_TEST_PATIENCE_MS ?? 60_000);

const SETTINGS = {
  "workbench.startupEditor": "none",
  "telemetry.telemetryLevel": "off",
  "extensions.autoUpdate": false,
  "extensions.autoCheckUpdates": false,
  "chat.disableAIFeatures": true,
  "workbench.secondarySideBar.defaultVisibility": "hidden",
  "git.enabled": false,
  "files.autoSave": "off",
  "editor.minimap.enabled": false,
  // Read by the tests, which a picture of text could not be.
  "terminal.integrated.gpuAcceleration": "off",
  "redline.path": BINARY,
};

export interface Options {
  readonly theme?: "dark" | "light" | "high contrast";
  /** Opened at the start, from the root. */
  readonly file?: string;
  readonly settings?: Record<string, unknown>;
  readonly width?: number;
  readonly height?: number;
  readonly payload?: [string, string][];
  readonly trust?: boolean;
  /** A folder or a `.code-workspace` file in place of the root. */
  readonly workspace?: string;
  readonly driver?: boolean;
  readonly extension?: "installed" | "development";
}

const THEMES = { dark: "Default Dark Modern", light: "Default Light Modern", "high contrast": "Default High Contrast" } as const;

async function freePort(): Promise<number> {
  const server = net.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  assert.ok(address !== null && typeof address === "object");
  return address.port;
}

export function write(file: string, text: string): void {
  const at = path.join(ROOT, file);
  fs.mkdirSync(path.dirname(at), { recursive: true });
  fs.writeFileSync(at, text);
}

export function read(file: string): string {
  return fs.readFileSync(path.join(ROOT, file), "utf8");
}

/** Runs `redline` in the project, and wants success. */
export function redline(args: string[], stdin = "", folder = ROOT): string {
  const done = spawnSync(BINARY, args, { cwd: folder, input: stdin, encoding: "utf8", timeout: 60_000 });
  assert.equal(done.status, 0, `redline ${args.join(" ")}: ${done.stdout}${done.stderr}`);
  return done.stdout;
}

/** Proposes new texts for files as one transaction. */
export function propose(title: string, edits: { path: string; search: string; replace: string }[], folder = ROOT): void {
  redline(["propose", "--format", "json", "--rationale", title, "--title", title, "--json"], JSON.stringify({ edits }), folder);
}

/** Waits for a condition; fails by name. */
export async function until<T>(what: string, condition: () => T | Promise<T>, limit = PATIENCE_MS): Promise<NonNullable<T>> {
  const begun = Date.now();
  for (;;) {
    const value = await condition();
    if (value !== null && value !== undefined && value !== false) {
      return value;
    }
    assert.ok(Date.now() - begun < limit, `timed out: ${what}`);
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

/** The text of an element, with the blanks of an editor as blanks. */
export async function textOf(element: Locator): Promise<string> {
  return (await element.innerText()).replaceAll("\u00a0", " ");
}

export class Editor {
  readonly page: Page;
  readonly #server: ChildProcess;
  readonly #context: BrowserContext;
  readonly #folder: string;
  readonly #exit = Promise.withResolvers<number>();

  private constructor(page: Page, server: ChildProcess, context: BrowserContext, folder: string) {
    this.page = page;
    this.#server = server;
    this.#context = context;
    this.#folder = folder;
  }

  static async open(options: Options = {}): Promise<Editor> {
    const folder = fs.mkdtempSync(path.join(os.tmpdir(), "rlvs"));
    const settings = { ...SETTINGS, "workbench.colorTheme": THEMES[options.theme ?? "dark"], ...options.settings };
    for (const place of ["user/Machine", "user/User"]) {
      fs.mkdirSync(path.join(folder, place), { recursive: true });
      fs.writeFileSync(path.join(folder, place, "settings.json"), JSON.stringify(settings));
    }
    fs.mkdirSync(path.join(folder, "extensions"));
    fs.mkdirSync(path.join(folder, "data"));
    const port = await freePort();
    const flags = ["--host", "127.0.0.1", "--port", String(port), "--without-connection-token", "--accept-server-license-terms"];
    flags.push("--telemetry-level", "off", "--user-data-dir", path.join(folder, "user"));
    flags.push("--server-data-dir", path.join(folder, "data"), "--extensions-dir", path.join(folder, "extensions"));
    if (options.trust !== true) {
      flags.push("--disable-workspace-trust");
    }
    if (options.driver === true) {
      flags.push("--enable-smoke-test-driver");
    }
    if (options.extension !== "development") {
      install(path.join(folder, "extensions"));
    }
    const log = fs.openSync(path.join(folder, "server.log"), "w");
    // A session of its own: all that it starts ends with it.
    const server = spawn(process.execPath, [SERVER, ...flags], { detached: true, stdio: ["ignore", log, log] });
    await until("the server of VS Code answers", async () => {
      const answer = await fetch(`http://127.0.0.1:${port}/version`).catch(() => undefined);
      return answer?.ok === true;
    });
    const context = await chromium.launchPersistentContext(path.join(folder, "browser"), {
      executablePath: process.env.REDLINE_TEST_CHROMIUM ?? "/usr/bin/chromium",
      headless: true,
      viewport: { width: options.width ?? 1280, height: options.height ?? 900 },
      args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
    });
    const page = context.pages()[0] ?? (await context.newPage());
    page.setDefaultTimeout(PATIENCE_MS);
    const editor = new Editor(page, server, context, folder);
    if (options.driver === true) {
      // Called by the workbench when the tests inside it end.
      await page.exposeFunction("codeAutomationLog", () => undefined);
      await page.exposeFunction("codeAutomationExit", (code: number) => {
        editor.#exit.resolve(code);
      });
    }
    const remote = (file: string): string => `vscode-remote://127.0.0.1:${port}${file}`;
    const payload = (options.payload ?? []).map(([key, value]): [string, string] => [key, remote(value)]);
    if (options.file !== undefined) {
      payload.push(["openFile", remote(path.join(ROOT, options.file))]);
    }
    const place: Record<string, string> = options.workspace === undefined ? { folder: ROOT } : { workspace: options.workspace };
    const query = new URLSearchParams({ ...place, payload: JSON.stringify(payload) });
    await page.goto(`http://127.0.0.1:${port}/?${query.toString()}`);
    await page.waitForSelector(".statusbar");
    return editor;
  }

  /** Command lines of this user's processes whose program has this name. */
  children(program: string): string[] {
    return fs.readdirSync("/proc").flatMap((pid) => {
      try {
        const command = fs.readFileSync(`/proc/${pid}/cmdline`, "utf8").split("\0");
        const ours = fs.readFileSync(`/proc/${pid}/environ`, "utf8").includes(`XDG_RUNTIME_DIR=${process.env.XDG_RUNTIME_DIR ?? ""}\0`);
        return ours && path.basename(command[0] ?? "") === program ? [command.join(" ")] : [];
      } catch {
        return [];
      }
    });
  }

  /** How the tests inside the editor ended. */
  exitCode(): Promise<number> {
    return this.#exit.promise;
  }

  /** Keeps a picture, where the caller wants pictures. */
  async shot(name: string): Promise<void> {
    const folder = process.env.REDLINE_TEST_PICTURES;
    if (folder !== undefined && folder !== "") {
      fs.mkdirSync(folder, { recursive: true });
      await this.page.screenshot({ path: path.join(folder, `${name}.png`) });
    }
  }

  /** Opens a picker and types into it; again, where the one before was just closing. */
  async #pick(key: string, text: string): Promise<void> {
    const input = this.page.locator(".quick-input-widget input.input");
    await until(`a picker takes ${text}`, async () => {
      await this.page.keyboard.press(key);
      const filled = input.fill(text, { timeout: 3000 });
      return filled.then(
        () => true,
        async () => {
          await this.page.keyboard.press("Escape");
          return false;
        },
      );
    });
  }

  /** Runs a command as a user does: by its title. */
  async command(title: string): Promise<void> {
    await this.#pick("F1", `>${title}`);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: title }).first().click();
  }

  /** Opens a file by its name. */
  async openFile(name: string): Promise<void> {
    await this.#pick("Control+p", name);
    await this.page.locator(".quick-input-list .monaco-list-row", { hasText: path.basename(name) }).first().click();
    await this.page.locator(".tab.active", { hasText: path.basename(name) }).waitFor();
  }

  async waitStatus(text: string): Promise<void> {
    await until(`the status bar says ${text}`, async () => (await this.page.locator(".statusbar").innerText()).includes(text));
  }

  /** The visible text of the active editor. */
  async text(): Promise<string> {
    return textOf(this.page.locator(".editor-instance .view-lines").first());
  }

  lenses(text: string): Locator {
    return this.page.locator(".codelens-decoration a", { hasText: text });
  }

  /** Puts the cursor on a line, by a click on its text. */
  async clickLine(text: string): Promise<void> {
    await this.page.locator(".editor-instance .view-line", { hasText: text }).first().click();
  }

  /** Shows the extension's side bar. */
  async sideBar(): Promise<void> {
    const tab = this.page.locator(".activitybar .action-item", { has: this.page.locator("[aria-label*='Redline']") }).first();
    await tab.click();
    await this.page.locator(".pane-header", { hasText: "Pending Changes" }).first().waitFor();
  }

  /** The page of the conversation. */
  async conversation(): Promise<Frame> {
    return until("the conversation is there", async () => {
      for (const frame of this.page.frames()) {
        const status = await frame.locator("#status").innerText({ timeout: 500 }).catch(() => "");
        if (status !== "") {
          return frame;
        }
      }
      return undefined;
    });
  }

  async close(): Promise<void> {
    await this.#context.close();
    if (this.#server.pid !== undefined) {
      const ended = new Promise((resolve) => this.#server.once("exit", resolve));
      try {
        process.kill(-this.#server.pid, "SIGTERM");
        await ended;
      } catch {
        // It is gone already.
      }
    }
    fs.rmSync(this.#folder, { recursive: true, force: true, maxRetries: 5 });
  }

  /** What the server said, for a failure's report. */
  log(): string {
    return fs.readFileSync(path.join(this.#folder, "server.log"), "utf8").slice(-3000);
  }
}

/** Installs the package as VS Code does: its files, unpacked. */
function install(extensions: string): void {
  const vsix = variable("REDLINE_TEST_VSIX");
  const to = path.join(extensions, "redline.redline-0.1.0");
  fs.mkdirSync(to);
  const done = spawnSync("unzip", ["-q", vsix, "extension/*", "-d", to], { encoding: "utf8" });
  assert.equal(done.status, 0, `unzip ${vsix}: ${done.stderr}`);
  for (const name of fs.readdirSync(path.join(to, "extension"))) {
    fs.renameSync(path.join(to, "extension", name), path.join(to, name));
  }
}
