import assert from "node:assert/strict";
import fs from "node:fs";
import path from "node:path";
import { test } from "node:test";

const CLIENT = path.join(import.meta.dirname, "../..");

interface Command {
  readonly command: string;
  readonly title: string;
}

interface Manifest {
  readonly enabledApiProposals?: string[];
  readonly engines: { readonly vscode: string };
  readonly devDependencies: Record<string, string>;
  readonly contributes: {
    readonly commands: Command[];
    readonly keybindings: { command: string; key: string; when?: string }[];
    readonly menus: Record<string, { command: string; when?: string }[]>;
    readonly configuration: {
      readonly properties: Record<
        string,
        { description?: string; markdownDescription?: string; enum?: string[]; enumDescriptions?: string[]; scope?: string }
      >;
    };
    readonly walkthroughs: { steps: { media: { markdown: string } }[] }[];
  };
}

const manifest = JSON.parse(fs.readFileSync(path.join(CLIENT, "package.json"), "utf8")) as Manifest;

/** Places for menus that are no proposals. */
const STABLE_MENUS = [
  "commandPalette",
  "editor/title",
  "editor/context",
  "comments/commentThread/title",
  "view/title",
  "view/item/context",
];

test("no proposed API is declared, and no menu stands where only proposals may", () => {
  assert.equal(manifest.enabledApiProposals, undefined);
  assert.deepEqual(Object.keys(manifest.contributes.menus).filter((menu) => !STABLE_MENUS.includes(menu)), []);
});

test("the types are those of the oldest VS Code that is supported", () => {
  assert.equal(`^${manifest.devDependencies["@types/vscode"] ?? ""}`, manifest.engines.vscode);
});

test("menus and keys lead to commands that are there", () => {
  const known = new Set(manifest.contributes.commands.map(({ command }) => command));
  const used = [...manifest.contributes.keybindings, ...Object.values(manifest.contributes.menus).flat()];
  assert.deepEqual(used.map(({ command }) => command).filter((command) => !known.has(command)), []);
});

test("a key does something only where a hunk waits and the editor has the focus", () => {
  for (const { key, when } of manifest.contributes.keybindings) {
    assert.match(when ?? "", /redline\.(pendingHere|onHunk)/, key);
    assert.match(when ?? "", /editorTextFocus && !findWidgetVisible/, key);
  }
});

test("every setting is described, and every choice of it", () => {
  for (const [name, setting] of Object.entries(manifest.contributes.configuration.properties)) {
    assert.ok(setting.description ?? setting.markdownDescription, name);
    assert.ok(setting.scope, `${name} has no scope`);
    assert.equal(setting.enumDescriptions?.length, setting.enum?.length, name);
  }
});

test("the pages of the walkthrough are there", () => {
  for (const { media } of manifest.contributes.walkthroughs.flatMap(({ steps }) => steps)) {
    assert.ok(fs.existsSync(path.join(CLIENT, media.markdown)), media.markdown);
  }
});

test("the lock file holds no place of a registry", () => {
  assert.ok(!fs.readFileSync(path.join(CLIENT, "package-lock.json"), "utf8").includes('"resolved"'));
});
