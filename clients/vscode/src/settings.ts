/** The settings, typed. */

import * as vscode from "vscode";

export type SaveAfterAccept = "never" | "ifClean" | "always";
export type FocusedHunk = "thread" | "off";

export interface Settings {
  readonly path: string;
  readonly inProcess: boolean;
  readonly lenses: boolean;
  readonly hints: boolean;
  readonly focusedHunk: FocusedHunk;
  readonly saveAfterAccept: SaveAfterAccept;
  readonly notifyApprovals: boolean;
}

export const SECTION = "redline";

export function settings(scope?: vscode.ConfigurationScope): Settings {
  const all = vscode.workspace.getConfiguration(SECTION, scope);
  return {
    path: all.get<string>("path", ""),
    inProcess: all.get<boolean>("inProcess", false),
    lenses: all.get<boolean>("inline.codeLens", true),
    hints: all.get<boolean>("inline.hints", true),
    focusedHunk: all.get<FocusedHunk>("inline.focusedHunk", "thread"),
    saveAfterAccept: all.get<SaveAfterAccept>("saveAfterAccept", "never"),
    notifyApprovals: all.get<boolean>("notifyApprovals", true),
  };
}
