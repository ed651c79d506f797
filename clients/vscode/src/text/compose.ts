/**
 * The text that a file would have, and what a change of that text means for the hunks in it. Pure.
 *
 * Lines end at LF, with or without a CR before it. Conflicts stay out: nobody can say what they would give.
 */

import { diffArrays } from "diff";
import type { Rows } from "./anchors.ts";

/** A pending hunk and its base lines in the present text. */
export interface PlacedHunk {
  readonly id: string;
  readonly rows: Rows;
  readonly added: readonly string[];
  readonly removed: readonly string[];
  /** The text after the hunk has no line ending at its very end. */
  readonly noNewlineAtEnd: boolean;
}

/** A text made of the present one and its hunks. */
export interface Composition {
  readonly text: string;
  readonly lines: readonly string[];
  /** Where each hunk's added lines lie in `lines`: half-open, by place. */
  readonly places: readonly { readonly hunk: PlacedHunk; readonly from: number; readonly to: number }[];
}

/** What the user's change of a proposed text asks for. */
export interface ReadBack {
  /** Hunks whose lines were put back. */
  readonly rejected: string[];
  /** Hunks whose proposed lines are others now. */
  readonly amended: { readonly id: string; readonly added: string[] }[];
  /** Something outside of every hunk was changed too. */
  readonly outside: boolean;
}

/** Lines of a text; a last line ending does not begin another line. */
export function splitLines(text: string): string[] {
  const lines = text.split(/\r?\n/);
  if (lines.at(-1) === "") {
    lines.pop();
  }
  return lines;
}

function lineEnding(text: string): string {
  const at = text.indexOf("\n");
  return at > 0 && text[at - 1] === "\r" ? "\r\n" : "\n";
}

/** Puts hunks into a text. Hunks that overlap an earlier one are left out. */
export function compose(text: string, hunks: readonly PlacedHunk[]): Composition {
  const before = splitLines(text);
  const lines: string[] = [];
  const places: { hunk: PlacedHunk; from: number; to: number }[] = [];
  let row = 0;
  for (const hunk of [...hunks].sort((a, b) => a.rows.first - b.rows.first || a.rows.last - b.rows.last)) {
    if (hunk.rows.first < row) {
      continue;
    }
    for (const line of before.slice(row, hunk.rows.first)) {
      lines.push(line);
    }
    places.push({ hunk, from: lines.length, to: lines.length + hunk.added.length });
    for (const line of hunk.added) {
      lines.push(line);
    }
    row = Math.max(row, hunk.rows.last);
  }
  const rest = before.slice(row);
  for (const line of rest) {
    lines.push(line);
  }
  const eol = lineEnding(text);
  const last = places.at(-1)?.hunk;
  const endsInHunk = rest.length === 0 && last !== undefined && last.added.length > 0;
  const ends = endsInHunk ? !last.noNewlineAtEnd : text === "" || text.endsWith("\n");
  return { text: lines.length === 0 ? "" : lines.join(eol) + (ends ? eol : ""), lines, places };
}

function equal(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((line, index) => line === b[index]);
}

/** The only hunk whose lines were put back, if that alone explains the new text. */
function revertedHunk(before: Composition, after: readonly string[]): string | undefined {
  let prefix = 0;
  while (prefix < before.lines.length && prefix < after.length && before.lines[prefix] === after[prefix]) {
    prefix++;
  }
  for (const { hunk, from, to } of before.places) {
    // What comes before the first difference is equal anyway: only the rest is compared.
    if (from > prefix || before.lines.length - (to - from) + hunk.removed.length !== after.length) {
      continue;
    }
    const rebuilt = [...hunk.removed, ...before.lines.slice(to)];
    if (equal(rebuilt, after.slice(from))) {
      return hunk.id;
    }
  }
  return undefined;
}

/** Reads what the user made of a composed text. */
export function readBack(before: Composition, text: string): ReadBack {
  const after = splitLines(text);
  if (equal(before.lines, after)) {
    return { rejected: [], amended: [], outside: false };
  }
  const reverted = revertedHunk(before, after);
  if (reverted !== undefined) {
    return { rejected: [reverted], amended: [], outside: false };
  }
  const changed = new Map<number, string[]>();
  let outside = false;
  let row = 0;
  // Lines of the new text, put to the hunk that the change lies in.
  const edits: { from: number; to: number; added: string[] }[] = [];
  for (const part of diffArrays([...before.lines], after)) {
    if (!part.added && !part.removed) {
      row += part.value.length;
      continue;
    }
    const open = edits.at(-1);
    const joins = open?.to === row;
    const edit = joins ? open : { from: row, to: row, added: [] };
    if (!joins) {
      edits.push(edit);
    }
    if (part.added) {
      edit.added.push(...part.value);
    } else {
      row += part.value.length;
      edit.to = row;
    }
  }
  for (const edit of [...edits].reverse()) {
    const index = before.places.findIndex((place) => edit.from >= place.from && edit.to <= place.to);
    const place = before.places[index];
    if (!place) {
      outside = true;
      continue;
    }
    const lines = changed.get(index) ?? [...place.hunk.added];
    lines.splice(edit.from - place.from, edit.to - edit.from, ...edit.added);
    changed.set(index, lines);
  }
  const result: ReadBack = { rejected: [], amended: [], outside };
  for (const [index, added] of [...changed].sort(([a], [b]) => a - b)) {
    const hunk = before.places[index]?.hunk;
    if (hunk && equal(added, hunk.removed)) {
      result.rejected.push(hunk.id);
    } else if (hunk) {
      result.amended.push({ id: hunk.id, added });
    }
  }
  return result;
}

/**
 * The lines that stand in `after` where `before` has the lines `rows`; undefined when anything else differs.
 */
export function regionOf(before: string, after: string, rows: Rows): string[] | undefined {
  const old = splitLines(before);
  const now = splitLines(after);
  const head = old.slice(0, rows.first);
  const tail = old.slice(rows.last);
  if (now.length < head.length + tail.length) {
    return undefined;
  }
  const end = now.length - tail.length;
  return equal(head, now.slice(0, head.length)) && equal(tail, now.slice(end)) ? now.slice(head.length, end) : undefined;
}
