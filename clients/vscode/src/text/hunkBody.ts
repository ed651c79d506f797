/** A hunk as the markdown of a comment: its lines as a coloured diff, and links to decide. Pure. */

import type { DocumentHunk } from "redline-protocol";
import { html, visible } from "./escape.ts";
import { lines as counts, hunkState } from "./labels.ts";
import { type Piece, compare } from "./words.ts";

/** Lines of one side that are shown; the rest is in the diff. */
const LINES_MAX = 40;
/** Characters of a line that are shown. */
const LINE_MAX = 400;

/** The only form of style that VS Code lets through: colours, from variables of the theme. */
function span(text: string, side: "inserted" | "removed", changed: boolean): string {
  const colored = (kind: "Line" | "Text", inner: string): string =>
    `<span style="background-color:var(--vscode-diffEditor-${side}${kind}Background);">${inner}</span>`;
  // One over the other, as in the diff editor: alone they are the same in some themes.
  return colored("Line", changed ? colored("Text", html(text)) : html(text));
}

function line(sign: string, pieces: readonly Piece[], side: "inserted" | "removed"): string {
  let left = LINE_MAX;
  const shown = pieces.map((piece) => {
    const text = visible(piece.text).slice(0, Math.max(0, left));
    left -= piece.text.length;
    return text === "" ? "" : span(text, side, piece.changed);
  });
  const cut = left < 0 ? span(" …", side, false) : "";
  return `${span(`${sign} `, side, false)}${shown.join("")}${cut}`;
}

function block(sign: string, lines: readonly (readonly Piece[])[], side: "inserted" | "removed"): string[] {
  const shown = lines.slice(0, LINES_MAX).map((pieces) => line(sign, pieces, side));
  if (lines.length > LINES_MAX) {
    shown.push(`<em>… ${lines.length - LINES_MAX} more, see the diff</em>`);
  }
  return shown;
}

function link(command: string, title: string, argument: unknown): string {
  return `<a href="command:${command}?${encodeURIComponent(JSON.stringify([argument]))}">${title}</a>`;
}

function plain(lines: readonly string[]): Piece[][] {
  return lines.map((text) => [{ text, changed: false }]);
}

/** What a link of the comment names. */
export interface HunkAddress {
  readonly uri: string;
  readonly id: string;
}

function sides(shown: DocumentHunk): string[] {
  const { hunk } = shown;
  if (hunk.conflict) {
    return [
      `<strong>Conflict</strong>: ${html(visible(hunk.conflict.reason))}`,
      "<em>it was written against</em>",
      ...block("−", plain(hunk.conflict.base), "removed"),
      "<em>it proposes</em>",
      ...block("+", plain(hunk.conflict.proposed), "inserted"),
    ];
  }
  const pieces = compare(hunk.removed, hunk.added);
  return [...block("−", pieces.removed, "removed"), ...block("+", pieces.added, "inserted")];
}

/** Commands that the body's links may run. */
export const LINKED_COMMANDS = [
  "redline.accept",
  "redline.reject",
  "redline.split",
  "redline.amend",
  "redline.openDiff",
  "redline.resolveConflict",
  "redline.repropose",
  "redline.keepMine",
] as const;

/** The whole body. `<pre>` keeps blanks, and markdown reads nothing inside it but HTML. */
export function hunkBody(shown: DocumentHunk, address: HunkAddress): string {
  const { hunk } = shown;
  // A blank line would end the HTML block: an empty line of a diff always has its sign.
  const diff = `<pre>${sides(shown).join("\n")}</pre>`;
  const links =
    hunk.state === "conflict"
      ? [
          link("redline.resolveConflict", "Merge", address),
          link("redline.repropose", "Propose again", address),
          link("redline.keepMine", "Keep mine", address),
        ]
      : [
          link("redline.accept", "Accept", address),
          link("redline.reject", "Reject", address),
          link("redline.split", "Split", address),
          link("redline.amend", "Amend", address),
        ];
  links.push(link("redline.openDiff", "Open diff", address));
  const facts = [counts(hunk), hunkState(hunk)];
  if (hunk.match !== "exact") {
    facts.push(`place found by ${hunk.match}`);
  }
  return `${diff}\n\n${links.join(" · ")} &nbsp; <em>${html(facts.join(" · "))}</em>`;
}
