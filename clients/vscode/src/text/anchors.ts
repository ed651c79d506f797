/**
 * Where hunks stand in a text that is being typed in. Pure.
 *
 * The sidecar sends ranges with the version that they count in, and says nothing when they merely move. Changes are
 * only noted as they come (constant time for a keystroke) and folded in when somebody asks for a place: linear in
 * hunks times changes since the last question.
 */

/** Lines `first` to `last` (half-open, zero-based) became the lines up to `newLast`. */
export interface LineChange {
  readonly version: number;
  readonly first: number;
  readonly last: number;
  readonly newLast: number;
}

/** A half-open range of lines, zero-based; empty for an insertion before `first`. */
export interface Rows {
  readonly first: number;
  readonly last: number;
}

/** The part of a change event that is needed here. */
export interface ContentChange {
  readonly range: {
    readonly start: { readonly line: number; readonly character: number };
    readonly end: { readonly line: number; readonly character: number };
  };
  readonly text: string;
}

const CHANGES_MAX = 5000;

function countOf(text: string, character: string): number {
  let count = 0;
  for (let at = text.indexOf(character); at !== -1; at = text.indexOf(character, at + 1)) {
    count++;
  }
  return count;
}

/** The lines that a change of text replaces. */
export function lineChange(change: ContentChange, version: number): LineChange {
  const { start, end } = change.range;
  const lines = countOf(change.text, "\n");
  const whole = start.character === 0 && end.character === 0 && (change.text === "" || change.text.endsWith("\n"));
  return whole
    ? { version, first: start.line, last: end.line, newLast: start.line + lines }
    : { version, first: start.line, last: end.line + 1, newLast: start.line + lines + 1 };
}

/** Moves rows over one change, as the sidecar does: a change at an edge only moves them. */
export function moved(rows: Rows, change: LineChange): Rows {
  const shift = change.newLast - change.last;
  if (change.last <= rows.first) {
    return shift === 0 ? rows : { first: rows.first + shift, last: rows.last + shift };
  }
  if (change.first >= rows.last) {
    return rows;
  }
  const first = Math.min(rows.first, change.first);
  return { first, last: Math.max(first, rows.last + shift) };
}

/** The places of one document's hunks. */
export class Anchors<T> {
  #items: readonly T[] = [];
  #rows: Rows[] = [];
  /** Since the document was opened: a list of the sidecar may count in an older version. */
  #changes: LineChange[] = [];
  /** Changes that are folded into the rows. */
  #folded = 0;

  /** Notes a change of the text. */
  push(change: LineChange): void {
    this.#changes.push(change);
    if (this.#changes.length > CHANGES_MAX) {
      this.#fold();
      this.#changes = this.#changes.slice(CHANGES_MAX / 2);
      this.#folded = this.#changes.length;
    }
  }

  /** Replaces all hunks; `rows` count in `version` of the text and are sorted by place. */
  set(items: readonly T[], rows: readonly Rows[], version: number): void {
    this.#items = items;
    this.#rows = [...rows];
    const since = this.#changes.findIndex((change) => change.version > version);
    this.#folded = since === -1 ? this.#changes.length : since;
  }

  get items(): readonly T[] {
    return this.#items;
  }

  #fold(): void {
    for (; this.#folded < this.#changes.length; this.#folded++) {
      const change = this.#changes[this.#folded];
      if (change) {
        this.#rows = this.#rows.map((rows) => moved(rows, change));
      }
    }
  }

  /** All hunks with their places in today's text. */
  placed(): { item: T; rows: Rows }[] {
    return this.within(0, Number.MAX_SAFE_INTEGER);
  }

  /** Hunks that touch the lines `first` to `last` (half-open). An insertion touches the lines on both its sides. */
  within(first: number, last: number): { item: T; rows: Rows }[] {
    this.#fold();
    const found: { item: T; rows: Rows }[] = [];
    this.#items.forEach((item, index) => {
      const rows = this.#rows[index];
      if (!rows) {
        return;
      }
      const touches =
        rows.first === rows.last ? rows.first >= first && rows.first <= last : rows.first < last && rows.last > first;
      if (touches) {
        found.push({ item, rows });
      }
    });
    return found;
  }
}

/** The line on which the cursor is "on" a hunk: its first line, for an insertion the line above it. */
export function home(rows: Rows): number {
  return rows.first < rows.last ? rows.first : Math.max(0, rows.first - 1);
}
