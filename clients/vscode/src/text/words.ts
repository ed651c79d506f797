/** Which words differ between the removed and the added lines of a hunk. Pure. */

import { diffWordsWithSpace } from "diff";

/** A piece of a line; `changed` when the other side does not have it. */
export interface Piece {
  readonly text: string;
  readonly changed: boolean;
}

/** Longer hunks are read as a whole: comparing words would cost more than it shows. */
const CHARACTERS_MAX = 20_000;
/** A line of which more than this part differs is left unmarked: marks on everything mark nothing. */
const CHANGED_MAX = 0.7;

function plain(lines: readonly string[]): Piece[][] {
  return lines.map((text) => [{ text, changed: false }]);
}

function byLine(parts: readonly Piece[]): Piece[][] {
  const lines: Piece[][] = [[]];
  for (const part of parts) {
    part.text.split("\n").forEach((text, index) => {
      if (index > 0) {
        lines.push([]);
      }
      if (text !== "") {
        lines.at(-1)?.push({ text, changed: part.changed });
      }
    });
  }
  return lines.map((line) => {
    const length = line.reduce((sum, piece) => sum + piece.text.trim().length, 0);
    const changed = line.reduce((sum, piece) => sum + (piece.changed ? piece.text.trim().length : 0), 0);
    return changed > CHANGED_MAX * length ? [{ text: line.map((piece) => piece.text).join(""), changed: false }] : line;
  });
}

/** The lines of both sides in pieces. */
export function compare(
  removed: readonly string[],
  added: readonly string[],
): { removed: Piece[][]; added: Piece[][] } {
  const before = removed.join("\n");
  const after = added.join("\n");
  if (removed.length === 0 || added.length === 0 || before.length + after.length > CHARACTERS_MAX) {
    return { removed: plain(removed), added: plain(added) };
  }
  const parts = diffWordsWithSpace(before, after);
  const side = (other: "added" | "removed"): Piece[][] =>
    byLine(
      parts
        .filter((part) => !part[other])
        .map((part) => ({ text: part.value, changed: part.added || part.removed })),
    );
  return { removed: side("added"), added: side("removed") };
}
