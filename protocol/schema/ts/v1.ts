// Generated from the wire types of protocol/ by `cargo codegen`; do not edit.

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
 * One operation that may not run unasked.
 */
export type Approval = {
  /**
   * `approval_…`.
   */
  id: string;
  /**
   * The session that asks.
   */
  sessionId: string;
  /**
   * The turn that waits; absent when none does any more, as after its sidecar ended. What is approved then runs when
   * the agent makes the call again.
   */
  turnId?: string | null;
  /**
   * The tool call that waits.
   */
  toolCallId?: string | null;
  /**
   * Name of the tool.
   */
  tool: string;
  /**
   * What kind of mutation it is.
   */
  kind: MutationKind;
  /**
   * How far it reaches.
   */
  class: OperationClass;
  /**
   * One line for people: what exactly would happen.
   */
  summary: string;
  /**
   * One sentence for people: why it is asked about.
   */
  why: string;
  /**
   * The program and its arguments, as they would be passed.
   */
  command?: Array<string> | null;
  /**
   * The file that the program's name leads to.
   */
  program?: string | null;
  /**
   * The folder that it would run in, from the workspace root.
   */
  cwd?: string | null;
  /**
   * Paths that it is about.
   */
  paths: Array<string>;
  /**
   * Hosts that it is about.
   */
  hosts: Array<string>;
  /**
   * Where it stands.
   */
  state: ApprovalState;
  /**
   * Unix seconds.
   */
  createdAt: number;
  /**
   * Unix seconds after which it cannot be approved.
   */
  expiresAt: number;
  /**
   * Who decided: `cli`, `neovim`, …
   */
  decidedBy?: string | null;
  /**
   * Unix seconds.
   */
  decidedAt?: number | null;
  /**
   * Why, in the words of who decided.
   */
  reason?: string | null;
};

/**
 * Notification `redline/approval/changed`, to clients with the `session` capability.
 */
export type ApprovalChangedNotification = {
  /**
   * Those that are new or changed.
   */
  approvals: Array<Approval>;
  /**
   * How many wait in the workspace.
   */
  waiting: number;
};

/**
 * A decision on an approval.
 */
export type ApprovalDecision = "approve" | "deny";

/**
 * Where an approval stands.
 */
export type ApprovalState = "pending" | "approved" | "denied" | "spent" | "expired" | "void" | "withdrawn";

/**
 * Params of `redline/session/archive`.
 */
export type ArchiveSessionParams = {
  /**
   * `se_…`.
   */
  sessionId: string;
  /**
   * False brings it back; absent means true.
   */
  archived?: boolean | null;
};

/**
 * Params of `redline/job/cancel`.
 */
export type CancelJobParams = {
  /**
   * `job_…`.
   */
  jobId: string;
};

/**
 * Params of `redline/session/cancel`.
 */
export type CancelParams = {
  /**
   * Absent means the sessions that the client takes part in.
   */
  sessionId?: string | null;
  /**
   * Only this turn: one that has ended meanwhile is not mistaken for the next. Absent means the one that runs.
   */
  turnId?: string | null;
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
 * A piece of content.
 */
export type ContentBlock = { "type": "text", 
/**
 * The text.
 */
text: string, } | { "type": "resource_link", 
/**
 * Its URI.
 */
uri: string, 
/**
 * Its name, for people.
 */
name: string, };

/**
 * An amount of money.
 */
export type Cost = {
  /**
   * How much.
   */
  amount: number;
  /**
   * ISO 4217.
   */
  currency: string;
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
 * Params of `redline/approval/decide`; the second decision on one approval is `ALREADY_SETTLED`.
 */
export type DecideApprovalParams = {
  /**
   * `approval_…`; absent means the only one that waits.
   */
  approvalId?: string | null;
  /**
   * Yes or no.
   */
  decision: ApprovalDecision;
  /**
   * Why; the model is told.
   */
  reason?: string | null;
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
  /**
   * Answer with every file of the transaction; else only with those that were decided.
   */
  allFiles: boolean;
};

/**
 * Params of `redline/plan/decide`; the second decision on one plan is `ALREADY_SETTLED`.
 */
export type DecidePlanParams = {
  /**
   * `plan_…`; absent means the only one that waits.
   */
  planId?: string | null;
  /**
   * `revision` of the plan that was read; absent means whichever there is.
   */
  revision?: number | null;
  /**
   * Accept or reject.
   */
  decision: PlanDecision;
  /**
   * Why; the model is told.
   */
  reason?: string | null;
};

/**
 * Result of a decision.
 */
export type DecideResult = {
  /**
   * The transaction after it. `files` holds those that were decided, or all when `allFiles` asked for them.
   */
  transaction: Transaction;
  /**
   * Hunks, and operations of whole files, that still wait for a decision in it, conflicts among them.
   */
  left: number;
  /**
   * The receipt, when anything was decided.
   */
  receipt?: Receipt | null;
};

/**
 * Params of `redline/trust/decide`.
 */
export type DecideTrustParams = {
  /**
   * Paths with the revisions shown; empty means all that waits.
   */
  items: Array<TrustRef>;
  /**
   * Take trust back instead.
   */
  revoke: boolean;
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
 * Result of `redline/env/list` and `redline/env/patch`.
 */
export type EnvResult = {
  /**
   * By name.
   */
  variables: Array<EnvVariable>;
};

/**
 * One variable of the environment that commands run in.
 */
export type EnvVariable = {
  /**
   * Its name.
   */
  name: string;
  /**
   * Its value; `***` for one that looks like a secret.
   */
  value: string;
  /**
   * Where it comes from: `inherited` (from the client), `.env`, `options` or `set`.
   */
  source: string;
};

/**
 * What went wrong, and what to do.
 */
export type ErrorInfo = {
  /**
   * `PROVIDER`, `TIMEOUT`, …
   */
  code: string;
  /**
   * What happened.
   */
  message: string;
  /**
   * What to do.
   */
  hint: string;
  /**
   * Whether asking again may help.
   */
  retryable: boolean;
};

/**
 * Params of `redline/turn/export`.
 */
export type ExportTurnParams = {
  /**
   * `turn_…`.
   */
  turnId: string;
};

/**
 * Result of `redline/turn/export`.
 */
export type ExportTurnResult = {
  /**
   * A `replay` file: what the model said, one event a line.
   */
  content: string;
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
 * Params of `redline/session/fork`: a new session with the same past.
 */
export type ForkSessionParams = {
  /**
   * `se_…`.
   */
  sessionId: string;
  /**
   * The last turn that the new one remembers; absent means all that ended.
   */
  turnId?: string | null;
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
 * A program that runs or has run.
 */
export type Job = {
  /**
   * `job_…`.
   */
  id: string;
  /**
   * The session that started it.
   */
  sessionId?: string | null;
  /**
   * The tool call that started it.
   */
  toolCallId?: string | null;
  /**
   * The program and its arguments.
   */
  command: Array<string>;
  /**
   * The folder that it runs in, from the workspace root.
   */
  cwd: string;
  /**
   * Where it stands.
   */
  state: JobState;
  /**
   * How it ended.
   */
  exitCode?: number | null;
  /**
   * The signal that ended it.
   */
  signal?: number | null;
  /**
   * Unix seconds.
   */
  startedAt: number;
  /**
   * Unix seconds.
   */
  endedAt?: number | null;
  /**
   * Bytes of output so far.
   */
  outputBytes: number;
  /**
   * What confines it: `none`, `bubblewrap`, …
   */
  sandbox: string;
};

/**
 * Notification `redline/job/changed`, to clients with the `session` capability.
 */
export type JobChangedNotification = {
  /**
   * The job as it stands.
   */
  job: Job;
  /**
   * New output; what a slow reader missed is left out, and `offset` shows the gap.
   */
  output?: string | null;
  /**
   * Offset of the first byte of `output`.
   */
  offset?: number | null;
};

/**
 * Params of `redline/job/output`.
 */
export type JobOutputParams = {
  /**
   * `job_…`.
   */
  jobId: string;
  /**
   * First byte wanted; absent means the tail.
   */
  offset?: number | null;
  /**
   * Most bytes in the answer; absent means 64 KiB.
   */
  limit?: number | null;
};

/**
 * Result of `redline/job/output`.
 */
export type JobOutputResult = {
  /**
   * The job.
   */
  job: Job;
  /**
   * Standard output as safe text, without what steers a terminal; with a terminal, all output.
   */
  text: string;
  /**
   * The head of standard error, likewise.
   */
  errors: string;
  /**
   * Offset of the first byte of `text`.
   */
  offset: number;
  /**
   * Offset of the byte after it: where to read on.
   */
  nextOffset: number;
};

/**
 * Where a job stands.
 */
export type JobState = "running" | "exited" | "cancelled" | "timed_out" | "orphaned";

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
 * Params of `redline/approval/list`.
 */
export type ListApprovalsParams = {
  /**
   * Also those that no longer wait, newest first, at most 100.
   */
  settled: boolean;
};

/**
 * Result of `redline/approval/list`.
 */
export type ListApprovalsResult = {
  /**
   * Those that wait, oldest first; then, where asked for, the others.
   */
  approvals: Array<Approval>;
};

/**
 * Params of `redline/env/list`.
 */
export type ListEnvParams = Record<symbol, never>;

/**
 * Params of `redline/job/list`.
 */
export type ListJobsParams = {
  /**
   * Also those that have ended, newest first, at most 100.
   */
  ended: boolean;
};

/**
 * Result of `redline/job/list`.
 */
export type ListJobsResult = {
  /**
   * Oldest first.
   */
  jobs: Array<Job>;
};

/**
 * Params of `redline/model/list`.
 */
export type ListModelsParams = Record<symbol, never>;

/**
 * Result of `redline/model/list`.
 */
export type ListModelsResult = {
  /**
   * The configured one first.
   */
  models: Array<Model>;
  /**
   * What could not be asked, and why.
   */
  notices: Array<string>;
};

/**
 * Params of `redline/plan/list`.
 */
export type ListPlansParams = {
  /**
   * Also those that are rejected or completed.
   */
  settled: boolean;
};

/**
 * Result of `redline/plan/list`.
 */
export type ListPlansResult = {
  /**
   * Oldest first.
   */
  plans: Array<Plan>;
};

/**
 * Params of `redline/session/list`.
 */
export type ListSessionsParams = {
  /**
   * Those that were put away, instead of the others.
   */
  archived: boolean;
  /**
   * `nextCursor` of the page before; absent means the first.
   */
  cursor?: string | null;
  /**
   * Most sessions in the answer; absent means 100.
   */
  limit?: number | null;
};

/**
 * Result of `redline/session/list`.
 */
export type ListSessionsResult = {
  /**
   * The one that was used last comes first.
   */
  sessions: Array<SessionInfo>;
  /**
   * Where the next page begins; absent on the last.
   */
  nextCursor?: string | null;
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
 * Params of `redline/trust/list`.
 */
export type ListTrustParams = Record<symbol, never>;

/**
 * Params of `redline/session/load`: takes part in a session, also after a restart of editor or sidecar.
 */
export type LoadSessionParams = {
  /**
   * `se_…`.
   */
  sessionId: string;
  /**
   * Whether what happened so far is sent, as `redline/session/update`; absent means yes.
   */
  replay?: boolean | null;
};

/**
 * Result of `redline/session/load`.
 */
export type LoadSessionResult = {
  /**
   * The session as it stands.
   */
  session: SessionInfo;
  /**
   * What had to be mended in its record, for people.
   */
  repaired?: string | null;
};

/**
 * How the proposal's text was found in the file.
 */
export type MatchRung = "exact" | "offset" | "whitespace" | "indentation" | "lookalike";

/**
 * How much an agent may do by itself.
 */
export type Mode = "manual" | "plan" | "auto";

/**
 * One model that can be asked.
 */
export type Model = {
  /**
   * `PROVIDER/MODEL`.
   */
  id: string;
  /**
   * For people.
   */
  name: string;
  /**
   * It is the configured one.
   */
  configured: boolean;
  /**
   * `ready`, `missing NAME` or `rejected`.
   */
  credentials: string;
  /**
   * Whether its endpoint answers; absent when nobody asked yet.
   */
  reachable?: boolean | null;
  /**
   * Tokens that its context holds; absent when it is not known.
   */
  contextWindow?: number | null;
  /**
   * It calls tools; absent when it is not known.
   */
  tools?: boolean | null;
  /**
   * It reasons; absent when it is not known.
   */
  reasoning?: boolean | null;
  /**
   * It reads images; absent when it is not known.
   */
  images?: boolean | null;
  /**
   * It makes several calls in one step; absent when it is not known.
   */
  parallelCalls?: boolean | null;
};

/**
 * What a mutation is.
 */
export type MutationKind = "transaction" | "command" | "vcs" | "browser" | "web" | "agent";

/**
 * Params of `redline/session/new`.
 */
export type NewSessionParams = {
  /**
   * `PROVIDER/MODEL`; absent means the configured one.
   */
  model?: string | null;
  /**
   * Permission mode; absent means the workspace's.
   */
  mode?: Mode | null;
  /**
   * Environment of the client that opens it (PATH and the like): commands of the session run in it.
   */
  env?: { [key in string]: string } | null;
};

/**
 * Result of `redline/session/new` and `redline/session/fork`.
 */
export type NewSessionResult = {
  /**
   * `se_…`.
   */
  sessionId: string;
};

/**
 * How much the user should care.
 */
export type NoticeLevel = "info" | "warning";

/**
 * How far the effects of an operation go.
 */
export type OperationClass = "reversible" | "workspace" | "outside";

/**
 * What a file of a transaction would undergo.
 */
export type OperationKind = "edit" | "create" | "delete" | "rename" | "set_mode";

/**
 * Params of `redline/env/patch`; running turns take it at their next step.
 */
export type PatchEnvParams = {
  /**
   * Variables to set.
   */
  set: { [key in string]: string };
  /**
   * Variables to take out.
   */
  unset: Array<string>;
};

/**
 * A proposal of work.
 */
export type Plan = {
  /**
   * `plan_…`.
   */
  id: string;
  /**
   * Counts its changes: a decision names the one that was read.
   */
  revision: number;
  /**
   * The session that proposed it.
   */
  sessionId: string;
  /**
   * Short name for lists.
   */
  title: string;
  /**
   * The plan, as markdown.
   */
  text: string;
  /**
   * The document that shows it, as a URI.
   */
  uri: string;
  /**
   * Kinds of mutations that it needs.
   */
  kinds: Array<MutationKind>;
  /**
   * Paths that it needs to change, as globs.
   */
  paths: Array<string>;
  /**
   * Commands that it needs to run, by their first argument tokens.
   */
  commands: Array<Array<string>>;
  /**
   * Hosts that it needs to reach.
   */
  hosts: Array<string>;
  /**
   * What is to be done, in order.
   */
  steps: Array<PlanStep>;
  /**
   * Where it stands.
   */
  state: PlanState;
  /**
   * Unix seconds.
   */
  createdAt: number;
  /**
   * Who decided.
   */
  decidedBy?: string | null;
  /**
   * Why, in the words of who decided.
   */
  reason?: string | null;
};

/**
 * Notification `redline/plan/changed`, to clients with the `session` capability.
 */
export type PlanChangedNotification = {
  /**
   * Those that are new or changed.
   */
  plans: Array<Plan>;
};

/**
 * The model's list of what it is doing; not a [`Plan`](super::Plan), which asks for a decision.
 */
export type PlanContent = {
   "type": "items"
  /**
   * The list of the turn.
   */
  planId: string;
  /**
   * In order.
   */
  entries: Array<PlanEntry>;
};

/**
 * A decision on a plan.
 */
export type PlanDecision = "accept" | "reject";

/**
 * One entry of the model's list of what it is doing.
 */
export type PlanEntry = {
  /**
   * What is to be done.
   */
  content: string;
  /**
   * How much it matters.
   */
  priority: PlanEntryPriority;
  /**
   * How far it is.
   */
  status: PlanEntryStatus;
};

/**
 * How much an entry matters.
 */
export type PlanEntryPriority = "high" | "medium" | "low";

/**
 * How far an entry of the model's list is.
 */
export type PlanEntryStatus = "pending" | "in_progress" | "completed";

/**
 * Where a plan stands.
 */
export type PlanState = "proposed" | "approved" | "rejected" | "completed" | "superseded";

/**
 * One step of a plan.
 */
export type PlanStep = {
  /**
   * One line.
   */
  text: string;
  /**
   * It is done, says the agent.
   */
  done: boolean;
};

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
 *
 * A prompt that is a command (`/accept`, `/deny`, `/mode`, `/plan`) is carried out and reaches no model.
 */
export type PromptParams = {
  /**
   * `se_…`; absent means the client's current one, made when there is none.
   */
  sessionId?: string | null;
  /**
   * What the user says, in blocks.
   */
  prompt: Array<ContentBlock>;
  /**
   * The same as one text, for a client that has no more; it comes after the blocks.
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
   * The turn it started; empty when it was a command that started none.
   */
  turnId: string;
  /**
   * What a command did, in a sentence.
   */
  message?: string | null;
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
 * One conversation, as lists show it.
 */
export type SessionInfo = {
  /**
   * `se_…`.
   */
  sessionId: string;
  /**
   * Workspace root as a path.
   */
  cwd: string;
  /**
   * The first prompt's first line, unless it was named otherwise.
   */
  title?: string | null;
  /**
   * `PROVIDER/MODEL`.
   */
  model: string;
  /**
   * Its permission mode.
   */
  mode: Mode;
  /**
   * What it does now.
   */
  state: SessionState;
  /**
   * Unix seconds.
   */
  createdAt: number;
  /**
   * Unix seconds of the last event.
   */
  updatedAt: number;
  /**
   * Turns so far.
   */
  turns: number;
  /**
   * It was put away.
   */
  archived: boolean;
};

/**
 * What a session is doing now.
 */
export type SessionState = "running" | "idle" | "requires_action";

/**
 * One thing that happened. An absent field of an update says nothing about it: what was said before stays.
 */
export type SessionUpdate = { "sessionUpdate": "user_message", 
/**
 * Of the conversation.
 */
messageId: string, 
/**
 * The whole of it.
 */
content: Array<ContentBlock>, } | { "sessionUpdate": "agent_message_chunk", 
/**
 * Of the conversation.
 */
messageId: string, 
/**
 * The piece.
 */
content: ContentBlock, } | { "sessionUpdate": "agent_thought_chunk", 
/**
 * Of the conversation.
 */
messageId: string, 
/**
 * The piece.
 */
content: ContentBlock, } | { "sessionUpdate": "tool_call_update" } & ToolCallUpdate | { "sessionUpdate": "plan_update", 
/**
 * The whole of it.
 */
plan: PlanContent, } | { "sessionUpdate": "usage_update" } & UsageUpdate | { "sessionUpdate": "state_update" } & StateUpdate | { "sessionUpdate": "current_mode_update", 
/**
 * Now.
 */
currentModeId: Mode, } | { "sessionUpdate": "current_model_update", 
/**
 * `PROVIDER/MODEL`.
 */
currentModelId: string, } | { "sessionUpdate": "session_info_update", 
/**
 * Its title.
 */
title?: string | null, 
/**
 * Unix seconds.
 */
updatedAt?: number | null, } | { "sessionUpdate": "replay_complete", } | { "sessionUpdate": "_transaction", 
/**
 * `tx_…`.
 */
transactionId: string, } | { "sessionUpdate": "_decisions", 
/**
 * As the model reads it.
 */
text: string, } | { "sessionUpdate": "_notice", 
/**
 * How much to care.
 */
level: NoticeLevel, 
/**
 * One sentence.
 */
text: string, };

/**
 * Notification `redline/session/update`: what happened since the last one, at most one each 16 ms.
 *
 * Sent to the clients that take part in the session: who made, loaded or prompted it.
 */
export type SessionUpdateNotification = {
  /**
   * `se_…`.
   */
  sessionId: string;
  /**
   * `turn_…`; absent when it is of no turn.
   */
  turnId?: string | null;
  /**
   * In order; adjacent pieces of one message are merged.
   */
  updates: Array<SessionUpdate>;
};

/**
 * Params of `redline/session/set_mode`; a running turn takes it at its next step.
 */
export type SetModeParams = {
  /**
   * Absent means the workspace: what new sessions begin with, and all that are open in it.
   */
  sessionId?: string | null;
  /**
   * The new mode.
   */
  modeId: Mode;
};

/**
 * Result of `redline/session/set_mode`.
 */
export type SetModeResult = {
  /**
   * The mode now.
   */
  modeId: Mode;
};

/**
 * Params of `redline/session/set_model`; a running turn takes it at its next step.
 */
export type SetModelParams = {
  /**
   * Absent means the client's current session.
   */
  sessionId?: string | null;
  /**
   * `PROVIDER/MODEL`.
   */
  modelId: string;
};

/**
 * Result of `redline/session/set_model`.
 */
export type SetModelResult = {
  /**
   * The session.
   */
  sessionId: string;
  /**
   * The model from the next step on.
   */
  modelId: string;
};

/**
 * Notification `redline/sidecar/replaced`, to clients with the `session` capability.
 *
 * The sidecar ended, and another one has been told which documents are open. Of sessions it knows what is
 * recorded: load again those that are shown.
 */
export type SidecarReplacedNotification = Record<symbol, never>;

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
 * What a session does. With `idle`, a turn ended: the last update of the turn, exactly once.
 */
export type StateUpdate = {
  /**
   * Now.
   */
  state: SessionState;
  /**
   * Why the turn ended, with `idle`.
   */
  stopReason?: StopReason | null;
  /**
   * What went wrong, when it ended for that.
   */
  _error?: ErrorInfo | null;
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
 * Why a turn ended. What begins with `_` is not of the Agent Client Protocol.
 */
export type StopReason = "end_turn" | "max_tokens" | "max_turn_requests" | "refusal" | "cancelled" | "_timeout" | "_max_cost" | "_error" | "_interrupted";

/**
 * What a tool call shows.
 */
export type ToolCallContent = { "type": "content", 
/**
 * The block.
 */
content: ContentBlock, } | { "type": "terminal", 
/**
 * `job_…`.
 */
terminalId: string, } | { "type": "_transaction", 
/**
 * `tx_…`.
 */
transactionId: string, 
/**
 * Its hunks that the call made or changed.
 */
hunkIds: Array<string>, };

/**
 * A place that a tool call touches.
 */
export type ToolCallLocation = {
  /**
   * Absolute path.
   */
  path: string;
  /**
   * 1-based line.
   */
  line?: number | null;
};

/**
 * How far a tool call is.
 */
export type ToolCallStatus = "pending" | "in_progress" | "completed" | "failed" | "cancelled";

/**
 * A tool call, as far as an update knows it.
 */
export type ToolCallUpdate = {
  /**
   * Unique in the session.
   */
  toolCallId: string;
  /**
   * Name of the tool; always there the first time.
   */
  _tool?: string | null;
  /**
   * One line for people.
   */
  title?: string | null;
  /**
   * What kind of thing it does.
   */
  kind?: ToolKind | null;
  /**
   * How far it is.
   */
  status?: ToolCallStatus | null;
  /**
   * What it shows: replaces what was there.
   */
  content?: Array<ToolCallContent> | null;
  /**
   * Places that it touches.
   */
  locations?: Array<ToolCallLocation> | null;
  /**
   * Its arguments; left out when they are long.
   */
  rawInput?: unknown;
  /**
   * The approval that it waits for.
   */
  _approvalId?: string | null;
};

/**
 * What kind of thing a tool does.
 */
export type ToolKind = "read" | "edit" | "search" | "execute" | "think" | "fetch" | "other";

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
 * Something of the project that would widen what may happen here.
 */
export type TrustItem = {
  /**
   * The file, from the workspace root.
   */
  path: string;
  /**
   * What it would do, one line each.
   */
  widens: Array<string>;
  /**
   * Its content's hash: a decision is for exactly this content.
   */
  revision: string;
  /**
   * It was trusted, with this content.
   */
  trusted: boolean;
};

/**
 * One file as it was shown.
 */
export type TrustRef = {
  /**
   * The file, from the workspace root.
   */
  path: string;
  /**
   * The revision shown; absent means the present one.
   */
  revision?: string | null;
};

/**
 * Result of `redline/trust/list` and `redline/trust/decide`.
 */
export type TrustResult = {
  /**
   * By path.
   */
  items: Array<TrustItem>;
};

/**
 * Tokens and money. What is not known is absent, never 0.
 */
export type UsageUpdate = {
  /**
   * Tokens that the conversation takes in the model's context now.
   */
  used?: number | null;
  /**
   * Tokens that the model's context holds.
   */
  size?: number | null;
  /**
   * Of the session.
   */
  cost?: Cost | null;
  /**
   * Of the turn.
   */
  _turnCost?: Cost | null;
  /**
   * Prompt tokens of the turn, cached ones included.
   */
  _inputTokens: number;
  /**
   * Of these, read from the vendor's cache.
   */
  _cachedTokens: number;
  /**
   * Answer tokens of the turn, reasoning included.
   */
  _outputTokens: number;
  /**
   * Of these, reasoning.
   */
  _reasoningTokens: number;
  /**
   * Some of these are estimates.
   */
  _estimated: boolean;
};

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
  "redline/session/load": { params: LoadSessionParams; result: LoadSessionResult };
  "redline/session/list": { params: ListSessionsParams; result: ListSessionsResult };
  "redline/session/fork": { params: ForkSessionParams; result: NewSessionResult };
  "redline/session/archive": { params: ArchiveSessionParams; result: SessionInfo };
  "redline/session/prompt": { params: PromptParams; result: PromptResult };
  "redline/session/cancel": { params: CancelParams; result: null };
  "redline/session/set_mode": { params: SetModeParams; result: SetModeResult };
  "redline/session/set_model": { params: SetModelParams; result: SetModelResult };
  "redline/turn/export": { params: ExportTurnParams; result: ExportTurnResult };
  "redline/approval/list": { params: ListApprovalsParams; result: ListApprovalsResult };
  "redline/approval/decide": { params: DecideApprovalParams; result: Approval };
  "redline/plan/list": { params: ListPlansParams; result: ListPlansResult };
  "redline/plan/decide": { params: DecidePlanParams; result: Plan };
  "redline/job/list": { params: ListJobsParams; result: ListJobsResult };
  "redline/job/output": { params: JobOutputParams; result: JobOutputResult };
  "redline/job/cancel": { params: CancelJobParams; result: Job };
  "redline/model/list": { params: ListModelsParams; result: ListModelsResult };
  "redline/env/list": { params: ListEnvParams; result: EnvResult };
  "redline/env/patch": { params: PatchEnvParams; result: EnvResult };
  "redline/trust/list": { params: ListTrustParams; result: TrustResult };
  "redline/trust/decide": { params: DecideTrustParams; result: TrustResult };
}

/**
 * Notifications of the server, by method.
 */
export interface Notifications {
  "redline/session/update": SessionUpdateNotification;
  "redline/approval/changed": ApprovalChangedNotification;
  "redline/plan/changed": PlanChangedNotification;
  "redline/job/changed": JobChangedNotification;
  "redline/sidecar/replaced": SidecarReplacedNotification;
  "redline/transaction/changed": TransactionChangedNotification;
}
