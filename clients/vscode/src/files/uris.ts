/** Addresses of the texts that exist only here: `redline:` URIs. Pure. */

/** What a `redline:` document holds. */
export type Kind =
  /** A file as it would be with all that is pending. */
  | "proposed"
  /** A file as it is, for files that are not there. */
  | "present"
  /** The added lines of one hunk, to be changed and saved. */
  | "amend"
  /** Sides of a conflict, each as a whole file, and the text that they are merged into. */
  | "mergeBase"
  | "mergeTheirs"
  | "mergeMine"
  | "mergeResult"
  /** A plan, as markdown. */
  | "plan";

const KINDS: readonly string[] = [
  "proposed",
  "present",
  "amend",
  "mergeBase",
  "mergeTheirs",
  "mergeMine",
  "mergeResult",
  "plan",
] satisfies Kind[];

export interface Address {
  readonly kind: Kind;
  /** The file that it is of, as a URI. */
  readonly file: string;
  /** A transaction's, hunk's or plan's id, where the kind needs one. */
  readonly id?: string;
}

export const SCHEME = "redline";

/** The query of an address: the path is that of the file, so that the language is known by its name. */
export function queryOf(address: Address): string {
  return new URLSearchParams({
    kind: address.kind,
    file: address.file,
    ...(address.id === undefined ? {} : { id: address.id }),
  }).toString();
}

/** Reads a query; undefined when it is none of ours. */
export function addressOf(query: string): Address | undefined {
  const fields = new URLSearchParams(query);
  const kind = fields.get("kind");
  const file = fields.get("file");
  const id = fields.get("id");
  if (kind === null || file === null || !KINDS.includes(kind)) {
    return undefined;
  }
  return { kind: kind as Kind, file, ...(id === null ? {} : { id }) };
}
