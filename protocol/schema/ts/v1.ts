// Generated from protocol/src/v1.rs by `cargo codegen`; do not edit.

/**
 * Params of `redline/transaction/amend`.
 */
export type AmendParams = {
  /**
   * `tx_…`; absent means the one that holds the hunk.
   */
  transactionId?: string | null;
  /**
   * The hunk as shown.
   */
  hunk: HunkRef;
  /**
   * The user's version of the proposed lines.
   */
  added: Array<string>;
};

/**
 * Params of `redline/session/cancel`.
 */
export type CancelParams = {
  /**
   * Absent means the client's current session.
   */
  sessionId?: string | null;
};

/**
 * What an undo would take back, or a redo would put back.
 */
export type Checkpoint = {
  /**
   * The turn or transaction it belongs to.
   */
  id: string;
  /**
   * Short name.
   */
  title: string;
  /**
   * Unix seconds of the last change it covers.
   */
  createdAt: number;
  /**
   * Paths it touches.
   */
  paths: Array<string>;
  /**
   * It was undone and can be redone.
   */
  undone: boolean;
};

/**
 * Params of `redline/checkpoint/list`.
 */
export type CheckpointListParams = Record<symbol, never>;

/**
 * Result of `redline/checkpoint/list`.
 */
export type CheckpointListResult = {
  /**
   * Newest first.
   */
  checkpoints: Array<Checkpoint>;
};

/**
 * What a client announces in `initialize` as `capabilities.experimental.redline`.
 */
export type ClientCapabilities = {
  /**
   * Protocol version the client speaks; 1 for this module.
   */
  version: number;
  /**
   * The client draws hunks itself: the server stops sending diagnostics of hunks to it.
   */
  review: boolean;
  /**
   * The client wants `redline/session/update`.
   */
  session: boolean;
};

/**
 * The three sides of a conflict.
 */
export type Conflict = {
  /**
   * One sentence: what changed.
   */
  reason: string;
  /**
   * Lines the hunk was written against.
   */
  base: Array<string>;
  /**
   * Lines that stand there now.
   */
  current: Array<string>;
  /**
   * Lines the agent proposes.
   */
  proposed: Array<string>;
};

/**
 * Numbers for a status line.
 */
export type Counts = {
  /**
   * Pending hunks in the workspace.
   */
  pending: number;
  /**
   * Conflicts in the workspace.
   */
  conflicts: number;
  /**
   * Files with either.
   */
  files: number;
  /**
   * Unsettled transactions.
   */
  transactions: number;
};

/**
 * Params of `redline/transaction/accept` and `/reject`: the decision on part of a transaction.
 *
 * With no hunk, file or range it decides all that is pending.
 */
export type DecideParams = {
  /**
   * `tx_…`; absent means the only unsettled one.
   */
  transactionId?: string | null;
  /**
   * The transaction revision that was shown, when the whole is decided.
   */
  revision?: number | null;
  /**
   * Hunks decided.
   */
  hunks: Array<HunkRef>;
  /**
   * Files decided.
   */
  files: Array<FileRef>;
  /**
   * Line ranges decided.
   */
  lines: Array<LineRange>;
  /**
   * For a rejection: why, told to the agent. For `Keep mine`: `withdraw` is true.
   */
  reason?: string | null;
  /**
   * Withdraw rather than reject.
   */
  withdraw: boolean;
};

/**
 * Result of a decision.
 */
export type DecideResult = {
  /**
   * The transaction after it.
   */
  transaction: Transaction;
  /**
   * The receipt, when anything was decided.
   */
  receipt?: Receipt | null;
};

/**
 * A hunk placed in a document that this client has open.
 */
export type DocumentHunk = {
  /**
   * The transaction it belongs to.
   */
  transactionId: string;
  /**
   * How many hunks that transaction has.
   */
  total: number;
  /**
   * Base lines in the document: from column 0 of the first to column 0 of the line after the last; empty for an insertion.
   */
  range: Range;
  /**
   * The hunk.
   */
  hunk: Hunk;
};

/**
 * All hunks of one open document.
 */
export type DocumentHunks = {
  /**
   * As the client spelled it.
   */
  uri: string;
  /**
   * Document version that the ranges count in.
   */
  version: number;
  /**
   * By place. Empty clears the document.
   */
  hunks: Array<DocumentHunk>;
};

/**
 * One file of a transaction.
 */
export type FileChange = {
  /**
   * Path from the workspace root, `/`-separated.
   */
  path: string;
  /**
   * The same as a document URI.
   */
  uri: string;
  /**
   * What happens to it.
   */
  operation: OperationKind;
  /**
   * Target of a rename.
   */
  newPath?: string | null;
  /**
   * New mode, octal, when it changes.
   */
  mode?: string | null;
  /**
   * State of the file's own operation (create, delete, rename, set_mode), or of its hunks together.
   */
  state: HunkState;
  /**
   * Revision of the file's operation.
   */
  revision: number;
  /**
   * Facts a reviewer must see: `reanchored`, `overwrite`, `recounted`, `inexact:indentation`, …
   */
  flags: Array<string>;
  /**
   * Its hunks, by place.
   */
  hunks: Array<Hunk>;
};

/**
 * One file as it was shown.
 */
export type FileRef = {
  /**
   * Path from the workspace root.
   */
  path: string;
  /**
   * The transaction revision that was shown; absent means the present one.
   */
  revision?: number | null;
};

/**
 * Params of `redline/transaction/get`.
 */
export type GetTransactionParams = {
  /**
   * `tx_…`.
   */
  transactionId: string;
};

/**
 * One contiguous replacement under review.
 */
export type Hunk = {
  /**
   * `h_…`, stable while its base range overlaps.
   */
  id: string;
  /**
   * Grows with every change of the hunk; a decision names the one that was shown.
   */
  revision: number;
  /**
   * Where it stands.
   */
  state: HunkState;
  /**
   * 1-based place among the hunks of the transaction.
   */
  index: number;
  /**
   * 1-based first line in the text as it stands now; for an insertion the line before which it goes.
   */
  startLine: number;
  /**
   * Lines that go, without line endings.
   */
  removed: Array<string>;
  /**
   * Lines that come, without line endings.
   */
  added: Array<string>;
  /**
   * The text after the hunk has no newline at its very end (only at the end of a file).
   */
  noNewlineAtEnd: boolean;
  /**
   * Why, in the agent's words.
   */
  rationale?: string | null;
  /**
   * How its place was found.
   */
  match: MatchRung;
  /**
   * The user amended the proposed text.
   */
  amended: boolean;
  /**
   * Accepted in an open document and not yet saved.
   */
  unsaved: boolean;
  /**
   * The call that makes it is still arriving.
   */
  incomplete: boolean;
  /**
   * Present when the state is `conflict`.
   */
  conflict?: Conflict | null;
};

/**
 * One hunk as it was shown.
 */
export type HunkRef = {
  /**
   * `h_…`.
   */
  id: string;
  /**
   * The revision that was shown; absent means the present one.
   */
  revision?: number | null;
};

/**
 * Where one hunk stands.
 */
export type HunkState = "pending" | "conflict" | "accepted" | "rejected" | "withdrawn";

/**
 * A 1-based, inclusive range of lines of today's text, as `startLine` counts.
 */
export type LineRange = {
  /**
   * Path from the workspace root.
   */
  path: string;
  /**
   * First line.
   */
  start: number;
  /**
   * Last line.
   */
  end: number;
};

/**
 * Params of `redline/transaction/list`.
 */
export type ListTransactionsParams = {
  /**
   * Also those that are settled, newest first, at most 100.
   */
  settled: boolean;
};

/**
 * Result of `redline/transaction/list`.
 */
export type ListTransactionsResult = {
  /**
   * Oldest first.
   */
  transactions: Array<Transaction>;
};

/**
 * How the proposal's text was found in the file.
 */
export type MatchRung = "exact" | "offset" | "whitespace" | "indentation" | "lookalike";

/**
 * Params of `redline/session/new`.
 */
export type NewSessionParams = {
  /**
   * `PROVIDER/MODEL`; absent means the configured one.
   */
  model?: string | null;
};

/**
 * Result of `redline/session/new`.
 */
export type NewSessionResult = {
  /**
   * `se_…`.
   */
  sessionId: string;
};

/**
 * What a file of a transaction would undergo.
 */
export type OperationKind = "edit" | "create" | "delete" | "rename" | "set_mode";

/**
 * A zero-based LSP position in the encoding negotiated with this client.
 */
export type Position = {
  /**
   * Zero-based line.
   */
  line: number;
  /**
   * Zero-based offset in the negotiated encoding.
   */
  character: number;
};

/**
 * A place that a prompt is about.
 */
export type PromptContext = {
  /**
   * Document URI.
   */
  uri: string;
  /**
   * The selection, if one was made.
   */
  range?: Range | null;
};

/**
 * Params of `redline/session/prompt`; answered on acceptance, the rest arrives as updates.
 */
export type PromptParams = {
  /**
   * `se_…`; absent means the client's current one, made when there is none.
   */
  sessionId?: string | null;
  /**
   * What the user says.
   */
  text: string;
  /**
   * What it is about.
   */
  context?: PromptContext | null;
};

/**
 * Result of `redline/session/prompt`.
 */
export type PromptResult = {
  /**
   * The session it went to.
   */
  sessionId: string;
  /**
   * The turn it started.
   */
  turnId: string;
};

/**
 * Formats that a proposal can come in.
 */
export type ProposalFormat = "search_replace" | "unified_diff" | "apply_patch" | "json";

/**
 * Params of `redline/transaction/propose`.
 */
export type ProposeParams = {
  /**
   * The proposal as text.
   */
  content: string;
  /**
   * Its format; absent means that the server tells it.
   */
  format?: ProposalFormat | null;
  /**
   * Leading path components to strip from diff headers; absent means that the server tells it.
   */
  strip?: number | null;
  /**
   * Why.
   */
  rationale?: string | null;
  /**
   * Short name for lists.
   */
  title?: string | null;
  /**
   * Who proposes; shown to the reviewer.
   */
  proposedBy?: string | null;
};

/**
 * A half-open LSP range.
 */
export type Range = {
  /**
   * First position.
   */
  start: Position;
  /**
   * One past the last position.
   */
  end: Position;
};

/**
 * The record of a decision.
 */
export type Receipt = {
  /**
   * `rc_…`.
   */
  id: string;
  /**
   * The transaction.
   */
  transactionId: string;
  /**
   * `accept`, `reject`, `undo` or `redo`.
   */
  action: string;
  /**
   * Who decided: `cli`, `neovim`, …
   */
  decidedBy: string;
  /**
   * Unix seconds.
   */
  decidedAt: number;
  /**
   * The hunks decided, with the revisions shown.
   */
  hunks: Array<HunkRef>;
  /**
   * Paths written on disk.
   */
  written: Array<string>;
  /**
   * Paths changed in open documents, not saved by us.
   */
  unsaved: Array<string>;
  /**
   * Facts: `reanchored`, `by_hand`, …
   */
  flags: Array<string>;
};

/**
 * What the next start found of an earlier, interrupted commit, and what it did.
 */
export type Recovery = {
  /**
   * The transaction concerned.
   */
  transactionId: string;
  /**
   * `rolled_back`, `finished` or `reported`.
   */
  action: string;
  /**
   * One sentence naming the paths.
   */
  message: string;
};

/**
 * Params of `redline/transaction/repropose`: propose a conflict again.
 *
 * Today's lines become its base, so that it waits for a decision as any other hunk.
 */
export type ReproposeParams = {
  /**
   * `tx_…`; absent means the one that holds the hunk.
   */
  transactionId?: string | null;
  /**
   * The conflict as shown.
   */
  hunk: HunkRef;
};

/**
 * Direction of a restore.
 */
export type RestoreDirection = "undo" | "redo";

/**
 * Params of `redline/checkpoint/restore`.
 */
export type RestoreParams = {
  /**
   * Turn or transaction; absent means the latest.
   */
  id?: string | null;
  /**
   * Undo or redo.
   */
  direction: RestoreDirection;
};

/**
 * Result of `redline/checkpoint/restore`.
 */
export type RestoreResult = {
  /**
   * The turn or transaction restored.
   */
  id: string;
  /**
   * Paths restored on disk or in documents.
   */
  paths: Array<string>;
  /**
   * The receipt.
   */
  receipt: Receipt;
};

/**
 * One event of a turn, in order.
 */
export type SessionEvent = { "type": "text", 
/**
 * The piece.
 */
text: string, } | { "type": "reasoning", 
/**
 * The piece.
 */
text: string, } | { "type": "tool_call", 
/**
 * Id of the call.
 */
id: string, 
/**
 * Tool name.
 */
name: string, 
/**
 * One line for people.
 */
title: string, 
/**
 * `running`, `ok` or `error`.
 */
status: string, 
/**
 * What came out, or the error, in one line.
 */
detail?: string | null, } | { "type": "transaction", 
/**
 * `tx_…`.
 */
transactionId: string, } | { "type": "usage", 
/**
 * Prompt tokens, cached ones included.
 */
inputTokens: number, 
/**
 * Answer tokens, reasoning included.
 */
outputTokens: number, } | { "type": "end", 
/**
 * `done`, `cancelled`, `error`, `budget` or `timeout`.
 */
reason: string, 
/**
 * For people, when the reason is not `done`.
 */
message?: string | null, };

/**
 * Notification `redline/session/update`: what happened since the last one.
 */
export type SessionUpdateNotification = {
  /**
   * `se_…`.
   */
  sessionId: string;
  /**
   * `turn_…`.
   */
  turnId: string;
  /**
   * In order; adjacent text pieces are merged.
   */
  events: Array<SessionEvent>;
};

/**
 * Params of `redline/transaction/split`.
 */
export type SplitParams = {
  /**
   * `tx_…`; absent means the one that holds the hunk.
   */
  transactionId?: string | null;
  /**
   * The hunk as shown.
   */
  hunk: HunkRef;
};

/**
 * Params of `redline/status`.
 */
export type StatusParams = {
  /**
   * Workspace root as a URI; absent means the one of `initialize`.
   */
  workspace?: string | null;
};

/**
 * Result of `redline/status`.
 */
export type StatusResult = {
  /**
   * Version of the sidecar's binary.
   */
  version: string;
  /**
   * Workspace root as a path.
   */
  workspace: string;
  /**
   * Permission mode: `manual`, `plan` or `auto`.
   */
  mode: string;
  /**
   * `PROVIDER/MODEL`.
   */
  model: string;
  /**
   * Whether this hub lives in the user's sidecar or in the client's own process.
   */
  inProcess: boolean;
  /**
   * Unsettled transactions.
   */
  transactions: Array<Transaction>;
  /**
   * Approvals that wait (ids).
   */
  approvals: Array<string>;
  /**
   * What recovery did at the start of this hub.
   */
  recovery: Array<Recovery>;
  /**
   * Things the user should hear once: crash reports, set-aside files, unknown settings.
   */
  notices: Array<string>;
};

/**
 * A set of operations under review together.
 */
export type Transaction = {
  /**
   * `tx_…`.
   */
  id: string;
  /**
   * Grows with every change of the transaction.
   */
  revision: number;
  /**
   * Where it stands.
   */
  state: TransactionState;
  /**
   * Short name for lists.
   */
  title: string;
  /**
   * Who proposed it.
   */
  proposedBy: string;
  /**
   * Unix seconds.
   */
  createdAt: number;
  /**
   * The turn that made it, if one did.
   */
  turnId?: string | null;
  /**
   * Why, for the whole of it.
   */
  rationale?: string | null;
  /**
   * Its files, in the order proposed.
   */
  files: Array<FileChange>;
};

/**
 * Notification `redline/transaction/changed`, sent to clients with the `review` capability.
 *
 * Ranges that merely moved with the text are not sent again: the editor moves its own marks.
 */
export type TransactionChangedNotification = {
  /**
   * Transactions that changed.
   */
  transactionIds: Array<string>;
  /**
   * Documents open in this client whose hunks changed.
   */
  documents: Array<DocumentHunks>;
  /**
   * For the status line.
   */
  counts: Counts;
};

/**
 * Where a transaction stands.
 */
export type TransactionState = "pending" | "committed" | "rejected" | "conflicted" | "failed" | "undone";

/**
 * Requests of the client, by method.
 */
export interface Requests {
  "redline/status": { params: StatusParams; result: StatusResult };
  "redline/transaction/list": { params: ListTransactionsParams; result: ListTransactionsResult };
  "redline/transaction/get": { params: GetTransactionParams; result: Transaction };
  "redline/transaction/propose": { params: ProposeParams; result: Transaction };
  "redline/transaction/accept": { params: DecideParams; result: DecideResult };
  "redline/transaction/reject": { params: DecideParams; result: DecideResult };
  "redline/transaction/amend": { params: AmendParams; result: Transaction };
  "redline/transaction/split": { params: SplitParams; result: Transaction };
  "redline/transaction/repropose": { params: ReproposeParams; result: Transaction };
  "redline/checkpoint/list": { params: CheckpointListParams; result: CheckpointListResult };
  "redline/checkpoint/restore": { params: RestoreParams; result: RestoreResult };
  "redline/session/new": { params: NewSessionParams; result: NewSessionResult };
  "redline/session/prompt": { params: PromptParams; result: PromptResult };
  "redline/session/cancel": { params: CancelParams; result: null };
}

/**
 * Notifications of the server, by method.
 */
export interface Notifications {
  "redline/session/update": SessionUpdateNotification;
  "redline/transaction/changed": TransactionChangedNotification;
}
