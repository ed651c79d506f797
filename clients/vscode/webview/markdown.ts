/**
 * Markdown as models write it, read into a tree. Pure, total, linear in the text; HTML in it is text like any other.
 *
 * Blocks: headings, paragraphs, fenced code, lists, quotes, tables, rules. Inline: code, strong, emphasis, strike, links.
 */

export type Inline =
  | { readonly kind: "text" | "code"; readonly text: string }
  | { readonly kind: "strong" | "em" | "del"; readonly children: readonly Inline[] }
  | { readonly kind: "link"; readonly url: string; readonly children: readonly Inline[] }
  | { readonly kind: "break" };

export interface ListItem {
  readonly inline: readonly Inline[];
  /** `- [x]`; undefined where there is no box. */
  readonly checked: boolean | undefined;
  readonly children: readonly Block[];
}

export type Block =
  | { readonly kind: "heading"; readonly level: number; readonly inline: readonly Inline[] }
  | { readonly kind: "paragraph"; readonly inline: readonly Inline[] }
  | { readonly kind: "code"; readonly language: string; readonly text: string; readonly closed: boolean }
  | { readonly kind: "list"; readonly ordered: boolean; readonly start: number; readonly items: readonly ListItem[] }
  | { readonly kind: "quote"; readonly blocks: readonly Block[] }
  | { readonly kind: "table"; readonly head: readonly (readonly Inline[])[]; readonly rows: readonly (readonly (readonly Inline[])[])[] }
  | { readonly kind: "rule" };

/** A block and the line after its last one. */
export interface Placed {
  readonly block: Block;
  readonly end: number;
}

/** Deeper quotes and lists are read as paragraphs. */
const DEPTH_MAX = 8;

const FENCE = /^( {0,3})(`{3,}|~{3,})\s*([^`]*)$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const RULE = /^ {0,3}([-*_])(\s*\1){2,}\s*$/;
const ITEM = /^(\s*)([-*+]|\d{1,9}[.)])(\s+)(.*)$/;
const QUOTE = /^ {0,3}> ?/;
const TABLE_RULE = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

const PAIRS = [
  ["**", "strong"],
  ["__", "strong"],
  ["~~", "del"],
  ["*", "em"],
  ["_", "em"],
] as const;

function isWord(character: string | undefined): boolean {
  return character !== undefined && /[\p{L}\p{N}_]/u.test(character);
}

/** Reads inline marks. A mark that is not closed is text. */
export function parseInline(text: string, depth = 0): Inline[] {
  const found: Inline[] = [];
  let plain = "";
  const flush = (): void => {
    if (plain !== "") {
      found.push({ kind: "text", text: plain });
      plain = "";
    }
  };
  // Where the search for a closing mark failed once, it fails for all that follow.
  const unclosed = new Set<string>();
  let at = 0;
  while (at < text.length) {
    const character = text[at] ?? "";
    if (character === "\\" && /[\\`*_{}[\]()#+\-.!|<>~]/.test(text[at + 1] ?? "")) {
      plain += text[at + 1] ?? "";
      at += 2;
      continue;
    }
    if (character === "`") {
      const ticks = /^`+/.exec(text.slice(at, at + 16))?.[0] ?? "`";
      const end = unclosed.has(ticks) ? -1 : text.indexOf(ticks, at + ticks.length);
      if (end !== -1) {
        flush();
        const code = text.slice(at + ticks.length, end);
        found.push({ kind: "code", text: /^ .+ $/.test(code) && ticks.length > 1 ? code.slice(1, -1) : code });
        at = end + ticks.length;
        continue;
      }
      unclosed.add(ticks);
      plain += ticks;
      at += ticks.length;
      continue;
    }
    if (character === "\n") {
      flush();
      found.push({ kind: "break" });
      at++;
      continue;
    }
    if (character === "[" && depth < DEPTH_MAX) {
      const link = /^\[([^\]\n]{0,500})\]\(\s*<?([^)\s<>]{1,2000})>?[^)\n]{0,200}\)/.exec(text.slice(at, at + 2800));
      if (link) {
        flush();
        found.push({ kind: "link", url: link[2] ?? "", children: parseInline(link[1] ?? "", depth + 1) });
        at += link[0].length;
        continue;
      }
    }
    if (character === "h" && !isWord(text[at - 1])) {
      const url = /^https?:\/\/[^\s<>"'`)\]]{1,2000}/.exec(text.slice(at, at + 2010))?.[0].replace(/[.,;:!?]+$/, "");
      if (url !== undefined) {
        flush();
        found.push({ kind: "link", url, children: [{ kind: "text", text: url }] });
        at += url.length;
        continue;
      }
    }
    const pair = PAIRS.find(([mark]) => text.startsWith(mark, at));
    if (pair && depth < DEPTH_MAX) {
      const [mark, kind] = pair;
      const end = unclosed.has(mark) ? -1 : text.indexOf(mark, at + mark.length);
      const inner = text.slice(at + mark.length, end);
      const words = mark.includes("_") && (isWord(text[at - 1]) || (end !== -1 && isWord(text[end + mark.length])));
      if (end !== -1 && inner !== "" && !/^\s|\s$/.test(inner) && !words) {
        flush();
        found.push({ kind, children: parseInline(inner, depth + 1) });
        at = end + mark.length;
        continue;
      }
      if (end === -1) {
        unclosed.add(mark);
      }
      plain += mark;
      at += mark.length;
      continue;
    }
    plain += character;
    at++;
  }
  flush();
  return found;
}

function cells(line: string): Inline[][] {
  return line
    .trim()
    .replace(/^\|/, "")
    .replace(/\|$/, "")
    .split("|")
    .map((cell) => parseInline(cell.trim()));
}

function code(lines: readonly string[], from: number, fence: RegExpExecArray): Placed {
  const [, indent = "", marks = "", info = ""] = fence;
  let end = from + 1;
  const closes = (line: string): boolean => {
    const mark = /^ {0,3}(`{3,}|~{3,})\s*$/.exec(line)?.[1];
    return mark !== undefined && mark[0] === marks[0] && mark.length >= marks.length;
  };
  while (end < lines.length && !closes(lines[end] ?? "")) {
    end++;
  }
  const closed = end < lines.length;
  const text = lines.slice(from + 1, end).map((line) => (indent !== "" && line.startsWith(indent) ? line.slice(indent.length) : line));
  return {
    block: { kind: "code", language: info.trim().split(/\s/)[0] ?? "", text: text.join("\n"), closed },
    end: closed ? end + 1 : end,
  };
}

function list(lines: readonly string[], from: number, depth: number): Placed {
  const first = ITEM.exec(lines[from] ?? "");
  const indent = first?.[1]?.length ?? 0;
  const ordered = /\d/.test(first?.[2] ?? "");
  const items: ListItem[] = [];
  let at = from;
  while (at < lines.length) {
    const item = ITEM.exec(lines[at] ?? "");
    const same = item && (item[1]?.length ?? 0) <= indent + 1 && /\d/.test(item[2] ?? "") === ordered;
    if (!same) {
      break;
    }
    const inner = (item[1]?.length ?? 0) + (item[2]?.length ?? 0) + Math.min(4, item[3]?.length ?? 1);
    const body = [item[4] ?? ""];
    at++;
    // What is indented belongs to the item, also after blank lines.
    while (at < lines.length) {
      const line = lines[at] ?? "";
      const next = lines[at + 1] ?? "";
      if (line.trim() === "" ? !/^\s{2,}\S/.test(next) : !/^\s{2,}\S/.test(line) || (ITEM.exec(line)?.[1]?.length ?? 99) <= indent + 1) {
        break;
      }
      body.push(line.slice(Math.min(inner, /^\s*/.exec(line)?.[0].length ?? 0)));
      at++;
    }
    const box = /^\[([ xX])\]\s+/.exec(body[0] ?? "");
    const [head = "", ...rest] = box ? [(body[0] ?? "").slice(box[0].length), ...body.slice(1)] : body;
    items.push({
      inline: parseInline(head),
      checked: box ? box[1] !== " " : undefined,
      children: depth < DEPTH_MAX ? parseBlocks(rest, depth + 1).map(({ block }) => block) : [],
    });
    // One blank line between items does not end the list.
    const after = ITEM.exec(lines[at + 1] ?? "");
    if ((lines[at] ?? "x").trim() === "" && after && (after[1]?.length ?? 0) <= indent + 1 && /\d/.test(after[2] ?? "") === ordered) {
      at++;
    }
  }
  const start = ordered ? Number.parseInt(first?.[2] ?? "1", 10) : 1;
  return { block: { kind: "list", ordered, start, items }, end: at };
}

function begins(line: string): boolean {
  return FENCE.test(line) || HEADING.test(line) || RULE.test(line) || QUOTE.test(line) || ITEM.test(line);
}

/** Reads lines into blocks, with the line after each. */
export function parseBlocks(lines: readonly string[], depth = 0): Placed[] {
  const found: Placed[] = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at] ?? "";
    if (line.trim() === "") {
      at++;
      continue;
    }
    const placed = blockAt(lines, at, depth);
    found.push(placed);
    at = placed.end;
  }
  return found;
}

function blockAt(lines: readonly string[], at: number, depth: number): Placed {
  const line = lines[at] ?? "";
  const fence = FENCE.exec(line);
  if (fence) {
    return code(lines, at, fence);
  }
  const heading = HEADING.exec(line);
  if (heading) {
    return { block: { kind: "heading", level: heading[1]?.length ?? 1, inline: parseInline(heading[2] ?? "") }, end: at + 1 };
  }
  if (RULE.test(line)) {
    return { block: { kind: "rule" }, end: at + 1 };
  }
  if (QUOTE.test(line) && depth < DEPTH_MAX) {
    let end = at;
    while (end < lines.length && QUOTE.test(lines[end] ?? "")) {
      end++;
    }
    const inner = lines.slice(at, end).map((each) => each.replace(QUOTE, ""));
    return { block: { kind: "quote", blocks: parseBlocks(inner, depth + 1).map(({ block }) => block) }, end };
  }
  if (ITEM.test(line) && depth < DEPTH_MAX) {
    return list(lines, at, depth);
  }
  if (line.includes("|") && TABLE_RULE.test(lines[at + 1] ?? "") && (lines[at + 1] ?? "").includes("-")) {
    let end = at + 2;
    while (end < lines.length && (lines[end] ?? "").includes("|")) {
      end++;
    }
    return { block: { kind: "table", head: cells(line), rows: lines.slice(at + 2, end).map(cells) }, end };
  }
  let end = at + 1;
  while (end < lines.length && (lines[end] ?? "").trim() !== "" && !begins(lines[end] ?? "")) {
    end++;
  }
  return { block: { kind: "paragraph", inline: parseInline(lines.slice(at, end).join("\n")) }, end };
}

/** A text that arrives in pieces: blocks before the last one never change again. */
export class Streamed {
  #rest: string[] = [""];

  /** Takes a piece; gives the blocks that are whole now, and those that may still change. */
  append(piece: string): { done: Block[]; open: Block[] } {
    const [head = "", ...lines] = piece.replace(/\r\n?/g, "\n").split("\n");
    this.#rest[this.#rest.length - 1] = (this.#rest.at(-1) ?? "") + head;
    for (const line of lines) {
      this.#rest.push(line);
    }
    // A line that is still arriving may yet belong to the block before it: `2` becomes `2. …`.
    const whole = parseBlocks(this.#rest.slice(0, -1)).slice(0, -1);
    this.#rest = this.#rest.slice(whole.at(-1)?.end ?? 0);
    return {
      done: whole.map(({ block }) => block),
      open: parseBlocks(this.#rest).map(({ block }) => block),
    };
  }
}
