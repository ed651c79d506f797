-- Generated from protocol/src/v1.rs by `cargo codegen`; do not edit.

---Params of `redline/transaction/amend`.
---@class (exact) redline.AmendParams
---@field transactionId? string `tx_…`; absent means the one that holds the hunk.
---@field hunk redline.HunkRef The hunk as shown.
---@field added string[] The user's version of the proposed lines.

---Params of `redline/session/cancel`.
---@class (exact) redline.CancelParams
---@field sessionId? string Absent means the client's current session.

---What an undo would take back, or a redo would put back.
---@class (exact) redline.Checkpoint
---@field id string The turn or transaction it belongs to.
---@field title string Short name.
---@field createdAt integer Unix seconds of the last change it covers.
---@field paths string[] Paths it touches.
---@field undone boolean It was undone and can be redone.

---Params of `redline/checkpoint/list`.
---@class (exact) redline.CheckpointListParams

---Result of `redline/checkpoint/list`.
---@class (exact) redline.CheckpointListResult
---@field checkpoints redline.Checkpoint[] Newest first.

---What a client announces in `initialize` as `capabilities.experimental.redline`.
---@class (exact) redline.ClientCapabilities
---@field version? integer Protocol version the client speaks; 1 for this module.
---@field review? boolean The client draws hunks itself: the server stops sending diagnostics of hunks to it.
---@field session? boolean The client wants `redline/session/update`.

---The three sides of a conflict.
---@class (exact) redline.Conflict
---@field reason string One sentence: what changed.
---@field base string[] Lines the hunk was written against.
---@field current string[] Lines that stand there now.
---@field proposed string[] Lines the agent proposes.

---Numbers for a status line.
---@class (exact) redline.Counts
---@field pending integer Pending hunks in the workspace.
---@field conflicts integer Conflicts in the workspace.
---@field files integer Files with either.
---@field transactions integer Unsettled transactions.

---Params of `redline/transaction/accept` and `/reject`: the decision on part of a transaction.
---
---With no hunk, file or range it decides all that is pending.
---@class (exact) redline.DecideParams
---@field transactionId? string `tx_…`; absent means the only unsettled one.
---@field revision? integer The transaction revision that was shown, when the whole is decided.
---@field hunks? redline.HunkRef[] Hunks decided.
---@field files? redline.FileRef[] Files decided.
---@field lines? redline.LineRange[] Line ranges decided.
---@field reason? string For a rejection: why, told to the agent. For `Keep mine`: `withdraw` is true.
---@field withdraw? boolean Withdraw rather than reject.

---Result of a decision.
---@class (exact) redline.DecideResult
---@field transaction redline.Transaction The transaction after it.
---@field receipt? redline.Receipt The receipt, when anything was decided.

---A hunk placed in a document that this client has open.
---@class (exact) redline.DocumentHunk
---@field transactionId string The transaction it belongs to.
---@field total integer How many hunks that transaction has.
---@field range redline.Range Base lines in the document: from column 0 of the first to column 0 of the line after the last; empty for an insertion.
---@field hunk redline.Hunk The hunk.

---All hunks of one open document.
---@class (exact) redline.DocumentHunks
---@field uri string As the client spelled it.
---@field version integer Document version that the ranges count in.
---@field hunks redline.DocumentHunk[] By place. Empty clears the document.

---One file of a transaction.
---@class (exact) redline.FileChange
---@field path string Path from the workspace root, `/`-separated.
---@field uri string The same as a document URI.
---@field operation redline.OperationKind What happens to it.
---@field newPath? string Target of a rename.
---@field mode? string New mode, octal, when it changes.
---@field state redline.HunkState State of the file's own operation (create, delete, rename, set_mode), or of its hunks together.
---@field revision integer Revision of the file's operation.
---@field flags? string[] Facts a reviewer must see: `reanchored`, `overwrite`, `recounted`, `inexact:indentation`, …
---@field hunks redline.Hunk[] Its hunks, by place.

---One file as it was shown.
---@class (exact) redline.FileRef
---@field path string Path from the workspace root.
---@field revision? integer The transaction revision that was shown; absent means the present one.

---Params of `redline/transaction/get`.
---@class (exact) redline.GetTransactionParams
---@field transactionId string `tx_…`.

---One contiguous replacement under review.
---@class (exact) redline.Hunk
---@field id string `h_…`, stable while its base range overlaps.
---@field revision integer Grows with every change of the hunk; a decision names the one that was shown.
---@field state redline.HunkState Where it stands.
---@field index integer 1-based place among the hunks of the transaction.
---@field startLine integer 1-based first line in the text as it stands now; for an insertion the line before which it goes.
---@field removed string[] Lines that go, without line endings.
---@field added string[] Lines that come, without line endings.
---@field noNewlineAtEnd? boolean The text after the hunk has no newline at its very end (only at the end of a file).
---@field rationale? string Why, in the agent's words.
---@field match redline.MatchRung How its place was found.
---@field amended? boolean The user amended the proposed text.
---@field unsaved? boolean Accepted in an open document and not yet saved.
---@field incomplete? boolean The call that makes it is still arriving.
---@field conflict? redline.Conflict Present when the state is `conflict`.

---One hunk as it was shown.
---@class (exact) redline.HunkRef
---@field id string `h_…`.
---@field revision? integer The revision that was shown; absent means the present one.

---Where one hunk stands.
---@alias redline.HunkState
---| "pending" # Waits for a decision.
---| "conflict" # Its base lines are no longer what it was written against.
---| "accepted" # Accepted; in an open document it may still be unsaved.
---| "rejected" # Rejected by the user.
---| "withdrawn" # Withdrawn: by its agent, or by `Keep mine`.

---A 1-based, inclusive range of lines of today's text, as `startLine` counts.
---@class (exact) redline.LineRange
---@field path string Path from the workspace root.
---@field start integer First line.
---@field end integer Last line.

---Params of `redline/transaction/list`.
---@class (exact) redline.ListTransactionsParams
---@field settled? boolean Also those that are settled, newest first, at most 100.

---Result of `redline/transaction/list`.
---@class (exact) redline.ListTransactionsResult
---@field transactions redline.Transaction[] Oldest first.

---How the proposal's text was found in the file.
---@alias redline.MatchRung
---| "exact" # Byte for byte (line endings aside).
---| "offset" # Exact, but not at the line the diff named.
---| "whitespace" # After ignoring trailing white space.
---| "indentation" # After one uniform shift of indentation.
---| "lookalike" # After folding typographic look-alikes.

---Params of `redline/session/new`.
---@class (exact) redline.NewSessionParams
---@field model? string `PROVIDER/MODEL`; absent means the configured one.

---Result of `redline/session/new`.
---@class (exact) redline.NewSessionResult
---@field sessionId string `se_…`.

---What a file of a transaction would undergo.
---@alias redline.OperationKind
---| "edit" # Lines change.
---| "create" # The file appears.
---| "delete" # The file goes.
---| "rename" # The file moves to `newPath`; it may be edited too.
---| "set_mode" # Only the mode changes.

---A zero-based LSP position in the encoding negotiated with this client.
---@class (exact) redline.Position
---@field line integer Zero-based line.
---@field character integer Zero-based offset in the negotiated encoding.

---A place that a prompt is about.
---@class (exact) redline.PromptContext
---@field uri string Document URI.
---@field range? redline.Range The selection, if one was made.

---Params of `redline/session/prompt`; answered on acceptance, the rest arrives as updates.
---@class (exact) redline.PromptParams
---@field sessionId? string `se_…`; absent means the client's current one, made when there is none.
---@field text string What the user says.
---@field context? redline.PromptContext What it is about.

---Result of `redline/session/prompt`.
---@class (exact) redline.PromptResult
---@field sessionId string The session it went to.
---@field turnId string The turn it started.

---Formats that a proposal can come in.
---@alias redline.ProposalFormat
---| "search_replace" # `<<<<<<< SEARCH` blocks.
---| "unified_diff" # `diff -u` or `git diff`.
---| "apply_patch" # `*** Begin Patch`.
---| "json" # JSON: whole files, search/replace edits or LSP text edits.

---Params of `redline/transaction/propose`.
---@class (exact) redline.ProposeParams
---@field content string The proposal as text.
---@field format? redline.ProposalFormat Its format; absent means that the server tells it.
---@field strip? integer Leading path components to strip from diff headers; absent means that the server tells it.
---@field rationale? string Why.
---@field title? string Short name for lists.
---@field proposedBy? string Who proposes; shown to the reviewer.

---A half-open LSP range.
---@class (exact) redline.Range
---@field start redline.Position First position.
---@field end redline.Position One past the last position.

---The record of a decision.
---@class (exact) redline.Receipt
---@field id string `rc_…`.
---@field transactionId string The transaction.
---@field action string `accept`, `reject`, `undo` or `redo`.
---@field decidedBy string Who decided: `cli`, `neovim`, …
---@field decidedAt integer Unix seconds.
---@field hunks redline.HunkRef[] The hunks decided, with the revisions shown.
---@field written string[] Paths written on disk.
---@field unsaved string[] Paths changed in open documents, not saved by us.
---@field flags? string[] Facts: `reanchored`, `by_hand`, …

---What the next start found of an earlier, interrupted commit, and what it did.
---@class (exact) redline.Recovery
---@field transactionId string The transaction concerned.
---@field action string `rolled_back`, `finished` or `reported`.
---@field message string One sentence naming the paths.

---Params of `redline/transaction/repropose`: propose a conflict again.
---
---Today's lines become its base, so that it waits for a decision as any other hunk.
---@class (exact) redline.ReproposeParams
---@field transactionId? string `tx_…`; absent means the one that holds the hunk.
---@field hunk redline.HunkRef The conflict as shown.

---Direction of a restore.
---@alias redline.RestoreDirection
---| "undo" # Take back.
---| "redo" # Put back.

---Params of `redline/checkpoint/restore`.
---@class (exact) redline.RestoreParams
---@field id? string Turn or transaction; absent means the latest.
---@field direction redline.RestoreDirection Undo or redo.

---Result of `redline/checkpoint/restore`.
---@class (exact) redline.RestoreResult
---@field id string The turn or transaction restored.
---@field paths string[] Paths restored on disk or in documents.
---@field receipt redline.Receipt The receipt.

---One event of a turn, in order.
---@alias redline.SessionEvent redline.SessionEvent.text|redline.SessionEvent.reasoning|redline.SessionEvent.tool_call|redline.SessionEvent.transaction|redline.SessionEvent.usage|redline.SessionEvent.end

---Text of the answer, to be appended.
---@class (exact) redline.SessionEvent.text
---@field type "text"
---@field text string The piece.

---Reasoning, to be appended.
---@class (exact) redline.SessionEvent.reasoning
---@field type "reasoning"
---@field text string The piece.

---A tool call began, went on or ended.
---@class (exact) redline.SessionEvent.tool_call
---@field type "tool_call"
---@field id string Id of the call.
---@field name string Tool name.
---@field title string One line for people.
---@field status string `running`, `ok` or `error`.
---@field detail? string What came out, or the error, in one line.

---The turn's transaction grew.
---@class (exact) redline.SessionEvent.transaction
---@field type "transaction"
---@field transactionId string `tx_…`.

---Totals so far.
---@class (exact) redline.SessionEvent.usage
---@field type "usage"
---@field inputTokens integer Prompt tokens, cached ones included.
---@field outputTokens integer Answer tokens, reasoning included.

---The turn ended; always last, exactly once.
---@class (exact) redline.SessionEvent.end
---@field type "end"
---@field reason string `done`, `cancelled`, `error`, `budget` or `timeout`.
---@field message? string For people, when the reason is not `done`.

---Notification `redline/session/update`: what happened since the last one.
---@class (exact) redline.SessionUpdateNotification
---@field sessionId string `se_…`.
---@field turnId string `turn_…`.
---@field events redline.SessionEvent[] In order; adjacent text pieces are merged.

---Params of `redline/transaction/split`.
---@class (exact) redline.SplitParams
---@field transactionId? string `tx_…`; absent means the one that holds the hunk.
---@field hunk redline.HunkRef The hunk as shown.

---Params of `redline/status`.
---@class (exact) redline.StatusParams
---@field workspace? string Workspace root as a URI; absent means the one of `initialize`.

---Result of `redline/status`.
---@class (exact) redline.StatusResult
---@field version string Version of the sidecar's binary.
---@field workspace string Workspace root as a path.
---@field mode string Permission mode: `manual`, `plan` or `auto`.
---@field model string `PROVIDER/MODEL`.
---@field inProcess boolean Whether this hub lives in the user's sidecar or in the client's own process.
---@field transactions redline.Transaction[] Unsettled transactions.
---@field approvals string[] Approvals that wait (ids).
---@field recovery redline.Recovery[] What recovery did at the start of this hub.
---@field notices? string[] Things the user should hear once: crash reports, set-aside files, unknown settings.

---A set of operations under review together.
---@class (exact) redline.Transaction
---@field id string `tx_…`.
---@field revision integer Grows with every change of the transaction.
---@field state redline.TransactionState Where it stands.
---@field title string Short name for lists.
---@field proposedBy string Who proposed it.
---@field createdAt integer Unix seconds.
---@field turnId? string The turn that made it, if one did.
---@field rationale? string Why, for the whole of it.
---@field files redline.FileChange[] Its files, in the order proposed.

---Notification `redline/transaction/changed`, sent to clients with the `review` capability.
---
---Ranges that merely moved with the text are not sent again: the editor moves its own marks.
---@class (exact) redline.TransactionChangedNotification
---@field transactionIds string[] Transactions that changed.
---@field documents redline.DocumentHunks[] Documents open in this client whose hunks changed.
---@field counts redline.Counts For the status line.

---Where a transaction stands.
---@alias redline.TransactionState
---| "pending" # Something in it still waits for a decision.
---| "committed" # All that was accepted is applied, and nothing waits.
---| "rejected" # Everything in it was rejected or withdrawn.
---| "conflicted" # Nothing pending is left but conflicts.
---| "failed" # The last commit failed and was taken back; the evidence is kept.
---| "undone" # What had been committed was undone.

local M = {}

---Protocol version that this client speaks.
M.VERSION = 1

---Names of the requests and notifications.
M.method = {
  STATUS = "redline/status",
  TRANSACTION_LIST = "redline/transaction/list",
  TRANSACTION_GET = "redline/transaction/get",
  TRANSACTION_PROPOSE = "redline/transaction/propose",
  TRANSACTION_ACCEPT = "redline/transaction/accept",
  TRANSACTION_REJECT = "redline/transaction/reject",
  TRANSACTION_AMEND = "redline/transaction/amend",
  TRANSACTION_SPLIT = "redline/transaction/split",
  TRANSACTION_REPROPOSE = "redline/transaction/repropose",
  CHECKPOINT_LIST = "redline/checkpoint/list",
  CHECKPOINT_RESTORE = "redline/checkpoint/restore",
  SESSION_NEW = "redline/session/new",
  SESSION_PROMPT = "redline/session/prompt",
  SESSION_CANCEL = "redline/session/cancel",
  SESSION_UPDATE = "redline/session/update",
  TRANSACTION_CHANGED = "redline/transaction/changed",
}

return M
