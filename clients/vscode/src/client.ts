/** The language client of one folder: what it announces, and what it leaves to us. */

import * as vscode from "vscode";
import {
  type ExecuteCommandRequest,
  type DynamicFeature,
  type InitializeParams,
  LanguageClient,
  type LanguageClientOptions,
  type ServerOptions,
  type StaticFeature,
} from "vscode-languageclient/node";
import type { ClientCapabilities } from "redline-protocol";

const EXECUTE_COMMAND: (typeof ExecuteCommandRequest)["method"] = "workspace/executeCommand";

const CAPABILITIES: ClientCapabilities = { version: 1, review: true, session: true };

export class RedlineClient extends LanguageClient {
  protected override fillInitializeParams(params: InitializeParams): void {
    super.fillInitializeParams(params);
    // Receipts name it.
    params.clientInfo = { name: "vscode", version: vscode.version };
    // The status bar says what runs: the same as progress would be said twice.
    params.capabilities.window = { ...params.capabilities.window, workDoneProgress: false };
    const experimental = (params.capabilities.experimental ?? {}) as Record<string, unknown>;
    params.capabilities.experimental = { ...experimental, redline: CAPABILITIES };
  }

  public override registerFeature(feature: StaticFeature | DynamicFeature<unknown>): void {
    // The server's commands would be registered once for each folder, under the names of our own.
    const type = "registrationType" in feature ? feature.registrationType.method : undefined;
    if (type !== EXECUTE_COMMAND) {
      super.registerFeature(feature);
    }
  }
}

/** The command that carries out a command of the server's, which a code action brought. */
export const SERVER_COMMAND = "redline.serverCommand";

function redirected(folder: vscode.Uri, command: vscode.Command): vscode.Command {
  return {
    title: command.title,
    command: SERVER_COMMAND,
    arguments: [folder.toString(), command.command, ...((command.arguments as unknown[] | undefined) ?? [])],
  };
}

/** Options of the client of `folder`; documents of a folder inside it belong to that one. */
export function clientOptions(folder: vscode.WorkspaceFolder, channel: vscode.LogOutputChannel): LanguageClientOptions {
  const ours = (document: vscode.TextDocument): boolean =>
    vscode.workspace.getWorkspaceFolder(document.uri)?.uri.toString() === folder.uri.toString();
  return {
    documentSelector: [{ scheme: "file", pattern: `${folder.uri.fsPath.replace(/\\/g, "/").replace(/[[\]{}*?]/g, "?")}/**/*` }],
    workspaceFolder: folder,
    outputChannel: channel,
    middleware: {
      didOpen: (document, next) => (ours(document) ? next(document) : Promise.resolve()),
      didChange: (event, next) => (ours(event.document) ? next(event) : Promise.resolve()),
      didSave: (document, next) => (ours(document) ? next(document) : Promise.resolve()),
      didClose: (document, next) => (ours(document) ? next(document) : Promise.resolve()),
      provideCodeActions: async (document, range, context, token, next) => {
        const actions = await next(document, range, context, token);
        return actions?.map((action) => {
          if (action instanceof vscode.CodeAction) {
            if (action.command) {
              action.command = redirected(folder.uri, action.command);
            }
            return action;
          }
          return redirected(folder.uri, action);
        });
      },
      resolveCodeAction: async (action, token, next) => {
        const resolved = await next(action, token);
        if (resolved?.command && resolved.command.command !== SERVER_COMMAND) {
          resolved.command = redirected(folder.uri, resolved.command);
        }
        return resolved;
      },
    },
  };
}

/** How the server is started: the binary that was found, in the folder. */
export function serverOptions(
  binary: string,
  folder: vscode.WorkspaceFolder,
  env: Record<string, string>,
  inProcess: boolean,
): ServerOptions {
  return {
    command: binary,
    args: inProcess ? ["lsp", "--in-process"] : ["lsp"],
    options: { cwd: folder.uri.fsPath, env },
  };
}
