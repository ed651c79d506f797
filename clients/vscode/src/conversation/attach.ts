/** What can go with a prompt: the selection, the file, the problem at the cursor. */

import * as path from "node:path";
import * as vscode from "vscode";
import type { Attachment } from "./conversations.ts";
import { Failure } from "../failure.ts";

function editorOrFail(): vscode.TextEditor {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors.find(({ document }) => document.uri.scheme === "file");
  if (editor?.document.uri.scheme !== "file") {
    throw new Failure("NO_EDITOR", "no file of the project is open", "Open the file that you mean");
  }
  return editor;
}

function lineLabel(range: vscode.Range): string {
  const first = range.start.line + 1;
  const last = range.end.character === 0 && range.end.line > range.start.line ? range.end.line : range.end.line + 1;
  return first === last ? String(first) : `${first}–${last}`;
}

function place(document: vscode.TextDocument, range: vscode.Range): Attachment {
  const name = path.posix.basename(document.uri.path);
  const uri = document.uri.toString();
  const label = `${name}:${lineLabel(range)}`;
  return {
    label,
    block: { type: "resource_link", uri: `${uri}#L${range.start.line + 1}`, name: label },
    context: {
      uri,
      range: {
        start: { line: range.start.line, character: range.start.character },
        end: { line: range.end.line, character: range.end.character },
      },
    },
  };
}

export function selection(): Attachment {
  const { document, selection: selected } = editorOrFail();
  return place(document, selected.isEmpty ? document.lineAt(selected.active.line).range : selected);
}

export function file(): Attachment {
  const { document } = editorOrFail();
  const name = vscode.workspace.asRelativePath(document.uri, false);
  return { label: name, block: { type: "resource_link", uri: document.uri.toString(), name }, context: { uri: document.uri.toString() } };
}

const SEVERITIES = ["error", "warning", "information", "hint"] as const;

/** The problem at the cursor, else one that is picked. */
export async function problem(): Promise<Attachment | undefined> {
  const { document, selection: selected } = editorOrFail();
  const all = vscode.languages.getDiagnostics(document.uri);
  const here = all.filter(({ range }) => range.intersection(selected) !== undefined);
  const offered = here.length > 0 ? here : all;
  if (offered.length === 0) {
    throw new Failure("NO_PROBLEM", "no problem is known in this file");
  }
  const chosen =
    offered.length === 1
      ? offered[0]
      : (
          await vscode.window.showQuickPick(
            offered.map((diagnostic) => ({
              label: diagnostic.message,
              description: `${SEVERITIES[diagnostic.severity]}, line ${diagnostic.range.start.line + 1}`,
              diagnostic,
            })),
            { title: "Redline: attach a problem" },
          )
        )?.diagnostic;
  if (!chosen) {
    return undefined;
  }
  const where = place(document, chosen.range);
  const source = chosen.source === undefined ? "" : `${chosen.source}: `;
  return {
    label: `${SEVERITIES[chosen.severity]} ${where.label}`,
    block: { type: "text", text: `The problem at ${where.label}: ${source}${chosen.message}` },
    ...(where.context ? { context: where.context } : {}),
  };
}
