-- Generated from the wire types of protocol/ by `cargo codegen`; do not edit.

---Params of `redline/transaction/amend`.
---@class (exact) redline.AmendParams
---@field transactionId? string `tx_…`; absent means the one that holds the hunk.
---@field hunk redline.HunkRef The hunk as shown.
---@field added string[] The user's version of the proposed lines.

---One operation that may not run unasked.
---@class (exact) redline.Approval
---@field id string `approval_…`.
---@field sessionId string The session that asks.
---@field turnId? string The turn that waits; absent when none does any more, as after its sidecar ended. What is approved then runs when the agent makes the call again.
---@field toolCallId? string The tool call that waits.
---@field tool string Name of the tool.
---@field kind redline.MutationKind What kind of mutation it is.
---@field class redline.OperationClass How far it reaches.
---@field summary string One line for people: what exactly would happen.
---@field why string One sentence for people: why it is asked about.
---@field command? string[] The program and its arguments, as they would be passed.
---@field program? string The file that the program's name leads to.
---@field cwd? string The folder that it would run in, from the workspace root.
---@field paths? string[] Paths that it is about.
---@field hosts? string[] Hosts that it is about.
---@field state redline.ApprovalState Where it stands.
---@field createdAt integer Unix seconds.
---@field expiresAt integer Unix seconds after which it cannot be approved.
---@field decidedBy? string Who decided: `cli`, `neovim`, …
---@field decidedAt? integer Unix seconds.
---@field reason? string Why, in the words of who decided.

---Notification `redline/approval/changed`, to clients with the `session` capability.
---@class (exact) redline.ApprovalChangedNotification
---@field approvals redline.Approval[] Those that are new or changed.
---@field waiting integer How many wait in the workspace.

---A decision on an approval.
---@alias redline.ApprovalDecision
---| "approve" # Run exactly this operation, once.
---| "deny" # Do not; the model is told so.

---Where an approval stands.
---@alias redline.ApprovalState
---| "pending" # It waits for a decision.
---| "approved" # Approved; the operation has not begun.
---| "denied" # Denied.
---| "spent" # Approved, and used.
---| "expired" # Nobody decided in time.
---| "void" # What it was about has changed.
---| "withdrawn" # Its turn has ended; nobody would run it.

---Params of `redline/session/archive`.
---@class (exact) redline.ArchiveSessionParams
---@field sessionId string `se_…`.
---@field archived? boolean False brings it back; absent means true.

---Params of `redline/job/cancel`.
---@class (exact) redline.CancelJobParams
---@field jobId string `job_…`.

---Params of `redline/session/cancel`.
---@class (exact) redline.CancelParams
---@field sessionId? string Absent means the sessions that the client takes part in.
---@field turnId? string Only this turn: one that has ended meanwhile is not mistaken for the next. Absent means the one that runs.

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

---A piece of content.
---@alias redline.ContentBlock redline.ContentBlock.text|redline.ContentBlock.resource_link

---Text, markdown where it is for people.
---@class (exact) redline.ContentBlock.text
---@field type "text"
---@field text string The text.

---A resource that the prompt is about.
---@class (exact) redline.ContentBlock.resource_link
---@field type "resource_link"
---@field uri string Its URI.
---@field name? string Its name, for people.

---An amount of money.
---@class (exact) redline.Cost
---@field amount number How much.
---@field currency string ISO 4217.

---Numbers for a status line.
---@class (exact) redline.Counts
---@field pending integer Pending hunks in the workspace.
---@field conflicts integer Conflicts in the workspace.
---@field files integer Files with either.
---@field transactions integer Unsettled transactions.

---Params of `redline/approval/decide`; the second decision on one approval is `ALREADY_SETTLED`.
---@class (exact) redline.DecideApprovalParams
---@field approvalId? string `approval_…`; absent means the only one that waits.
---@field decision redline.ApprovalDecision Yes or no.
---@field reason? string Why; the model is told.

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
---@field allFiles? boolean Answer with every file of the transaction; else only with those that were decided.

---Params of `redline/plan/decide`; the second decision on one plan is `ALREADY_SETTLED`.
---@class (exact) redline.DecidePlanParams
---@field planId? string `plan_…`; absent means the only one that waits.
---@field revision? integer `revision` of the plan that was read; absent means whichever there is.
---@field decision redline.PlanDecision Accept or reject.
---@field reason? string Why; the model is told.

---Result of a decision.
---@class (exact) redline.DecideResult
---@field transaction redline.Transaction The transaction after it. `files` holds those that were decided, or all when `allFiles` asked for them.
---@field left integer Hunks, and operations of whole files, that still wait for a decision in it, conflicts among them.
---@field receipt? redline.Receipt The receipt, when anything was decided.

---Params of `redline/trust/decide`.
---@class (exact) redline.DecideTrustParams
---@field items? redline.TrustRef[] Paths with the revisions shown; empty means all that waits.
---@field revoke? boolean Take trust back instead.

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

---Result of `redline/env/list` and `redline/env/patch`.
---@class (exact) redline.EnvResult
---@field variables redline.EnvVariable[] By name.

---One variable of the environment that commands run in.
---@class (exact) redline.EnvVariable
---@field name string Its name.
---@field value string Its value; `***` for one that looks like a secret.
---@field source string Where it comes from: `inherited` (from the client), `.env`, `options` or `set`.

---What went wrong, and what to do.
---@class (exact) redline.ErrorInfo
---@field code string `PROVIDER`, `TIMEOUT`, …
---@field message string What happened.
---@field hint string What to do.
---@field retryable? boolean Whether asking again may help.

---Params of `redline/turn/export`.
---@class (exact) redline.ExportTurnParams
---@field turnId string `turn_…`.

---Result of `redline/turn/export`.
---@class (exact) redline.ExportTurnResult
---@field content string A `replay` file: what the model said, one event a line.

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

---Params of `redline/session/fork`: a new session with the same past.
---@class (exact) redline.ForkSessionParams
---@field sessionId string `se_…`.
---@field turnId? string The last turn that the new one remembers; absent means all that ended.

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

---A program that runs or has run.
---@class (exact) redline.Job
---@field id string `job_…`.
---@field sessionId? string The session that started it.
---@field toolCallId? string The tool call that started it.
---@field command string[] The program and its arguments.
---@field cwd string The folder that it runs in, from the workspace root.
---@field state redline.JobState Where it stands.
---@field exitCode? integer How it ended.
---@field signal? integer The signal that ended it.
---@field startedAt integer Unix seconds.
---@field endedAt? integer Unix seconds.
---@field outputBytes integer Bytes of output so far.
---@field sandbox string What confines it: `none`, `bubblewrap`, …

---Notification `redline/job/changed`, to clients with the `session` capability.
---@class (exact) redline.JobChangedNotification
---@field job redline.Job The job as it stands.
---@field output? string New output; what a slow reader missed is left out, and `offset` shows the gap.
---@field offset? integer Offset of the first byte of `output`.

---Params of `redline/job/output`.
---@class (exact) redline.JobOutputParams
---@field jobId string `job_…`.
---@field offset? integer First byte wanted; absent means the tail.
---@field limit? integer Most bytes in the answer; absent means 64 KiB.

---Result of `redline/job/output`.
---@class (exact) redline.JobOutputResult
---@field job redline.Job The job.
---@field text string Standard output as safe text, without what steers a terminal; with a terminal, all output.
---@field errors string The head of standard error, likewise.
---@field offset integer Offset of the first byte of `text`.
---@field nextOffset integer Offset of the byte after it: where to read on.

---Where a job stands.
---@alias redline.JobState
---| "running" # It runs.
---| "exited" # It ended by itself; `exitCode` or `signal` says how.
---| "cancelled" # The user or the agent stopped it.
---| "timed_out" # Its time was over.
---| "orphaned" # It was running when the sidecar ended.

---A 1-based, inclusive range of lines of today's text, as `startLine` counts.
---@class (exact) redline.LineRange
---@field path string Path from the workspace root.
---@field start integer First line.
---@field end integer Last line.

---Params of `redline/approval/list`.
---@class (exact) redline.ListApprovalsParams
---@field settled? boolean Also those that no longer wait, newest first, at most 100.

---Result of `redline/approval/list`.
---@class (exact) redline.ListApprovalsResult
---@field approvals redline.Approval[] Those that wait, oldest first; then, where asked for, the others.

---Params of `redline/env/list`.
---@class (exact) redline.ListEnvParams

---Params of `redline/job/list`.
---@class (exact) redline.ListJobsParams
---@field ended? boolean Also those that have ended, newest first, at most 100.

---Result of `redline/job/list`.
---@class (exact) redline.ListJobsResult
---@field jobs redline.Job[] Oldest first.

---Params of `redline/model/list`.
---@class (exact) redline.ListModelsParams

---Result of `redline/model/list`.
---@class (exact) redline.ListModelsResult
---@field models redline.Model[] The configured one first.
---@field notices? string[] What could not be asked, and why.

---Params of `redline/plan/list`.
---@class (exact) redline.ListPlansParams
---@field settled? boolean Also those that are rejected or completed.

---Result of `redline/plan/list`.
---@class (exact) redline.ListPlansResult
---@field plans redline.Plan[] Oldest first.

---Params of `redline/session/list`.
---@class (exact) redline.ListSessionsParams
---@field archived? boolean Those that were put away, instead of the others.
---@field cursor? string `nextCursor` of the page before; absent means the first.
---@field limit? integer Most sessions in the answer; absent means 100.

---Result of `redline/session/list`.
---@class (exact) redline.ListSessionsResult
---@field sessions redline.SessionInfo[] The one that was used last comes first.
---@field nextCursor? string Where the next page begins; absent on the last.

---Params of `redline/transaction/list`.
---@class (exact) redline.ListTransactionsParams
---@field settled? boolean Also those that are settled, newest first, at most 100.

---Result of `redline/transaction/list`.
---@class (exact) redline.ListTransactionsResult
---@field transactions redline.Transaction[] Oldest first.

---Params of `redline/trust/list`.
---@class (exact) redline.ListTrustParams

---Params of `redline/session/load`: takes part in a session, also after a restart of editor or sidecar.
---@class (exact) redline.LoadSessionParams
---@field sessionId string `se_…`.
---@field replay? boolean Whether what happened so far is sent, as `redline/session/update`; absent means yes.

---Result of `redline/session/load`.
---@class (exact) redline.LoadSessionResult
---@field session redline.SessionInfo The session as it stands.
---@field repaired? string What had to be mended in its record, for people.

---How the proposal's text was found in the file.
---@alias redline.MatchRung
---| "exact" # Byte for byte (line endings aside).
---| "offset" # Exact, but not at the line the diff named.
---| "whitespace" # After ignoring trailing white space.
---| "indentation" # After one uniform shift of indentation.
---| "lookalike" # After folding typographic look-alikes.

---How much an agent may do by itself.
---@alias redline.Mode
---| "manual" # Everything but proposing edits waits for an approval.
---| "plan" # Nothing changes until a plan is approved; what the plan lists may then run.
---| "auto" # What can be undone runs by itself, and a turn commits its own edits at its end.

---One model that can be asked.
---@class (exact) redline.Model
---@field id string `PROVIDER/MODEL`.
---@field name string For people.
---@field configured boolean It is the configured one.
---@field credentials string `ready`, `missing NAME` or `rejected`.
---@field reachable? boolean Whether its endpoint answers; absent when nobody asked yet.
---@field contextWindow? integer Tokens that its context holds; absent when it is not known.
---@field tools? boolean It calls tools; absent when it is not known.
---@field reasoning? boolean It reasons; absent when it is not known.
---@field images? boolean It reads images; absent when it is not known.
---@field parallelCalls? boolean It makes several calls in one step; absent when it is not known.

---What a mutation is.
---@alias redline.MutationKind
---| "transaction" # Committing edits.
---| "command" # Running a program.
---| "vcs" # Changing the state of version control.
---| "browser" # Acting in a browser.
---| "web" # Fetching from the network.
---| "agent" # Starting another agent.

---Params of `redline/session/new`.
---@class (exact) redline.NewSessionParams
---@field model? string `PROVIDER/MODEL`; absent means the configured one.
---@field mode? redline.Mode Permission mode; absent means the workspace's.
---@field env? table<string, string> Environment of the client that opens it (PATH and the like): commands of the session run in it.

---Result of `redline/session/new` and `redline/session/fork`.
---@class (exact) redline.NewSessionResult
---@field sessionId string `se_…`.

---How much the user should care.
---@alias redline.NoticeLevel
---| "info" # Good to know.
---| "warning" # Something was not as it should be; the turn goes on.

---How far the effects of an operation go.
---@alias redline.OperationClass
---| "reversible" # Undo brings it back.
---| "workspace" # It stays inside the workspace and may lose what is not tracked.
---| "outside" # It reaches the network or other folders.

---What a file of a transaction would undergo.
---@alias redline.OperationKind
---| "edit" # Lines change.
---| "create" # The file appears.
---| "delete" # The file goes.
---| "rename" # The file moves to `newPath`; it may be edited too.
---| "set_mode" # Only the mode changes.

---Params of `redline/env/patch`; running turns take it at their next step.
---@class (exact) redline.PatchEnvParams
---@field set? table<string, string> Variables to set.
---@field unset? string[] Variables to take out.

---A proposal of work.
---@class (exact) redline.Plan
---@field id string `plan_…`.
---@field revision integer Counts its changes: a decision names the one that was read.
---@field sessionId string The session that proposed it.
---@field title string Short name for lists.
---@field text string The plan, as markdown.
---@field uri string The document that shows it, as a URI.
---@field kinds redline.MutationKind[] Kinds of mutations that it needs.
---@field paths string[] Paths that it needs to change, as globs.
---@field commands string[][] Commands that it needs to run, by their first argument tokens.
---@field hosts? string[] Hosts that it needs to reach.
---@field steps? redline.PlanStep[] What is to be done, in order.
---@field state redline.PlanState Where it stands.
---@field createdAt integer Unix seconds.
---@field decidedBy? string Who decided.
---@field reason? string Why, in the words of who decided.

---Notification `redline/plan/changed`, to clients with the `session` capability.
---@class (exact) redline.PlanChangedNotification
---@field plans redline.Plan[] Those that are new or changed.

---The model's list of what it is doing; not a [`Plan`](super::Plan), which asks for a decision.
---@alias redline.PlanContent redline.PlanContent.items

---The whole list as it stands.
---@class (exact) redline.PlanContent.items
---@field type "items"
---@field planId string The list of the turn.
---@field entries redline.PlanEntry[] In order.

---A decision on a plan.
---@alias redline.PlanDecision
---| "accept" # Let through what it lists.
---| "reject" # Do not; the model is told so.

---One entry of the model's list of what it is doing.
---@class (exact) redline.PlanEntry
---@field content string What is to be done.
---@field priority redline.PlanEntryPriority How much it matters.
---@field status redline.PlanEntryStatus How far it is.

---How much an entry matters.
---@alias redline.PlanEntryPriority
---| "high" # Much.
---| "medium" # As usual.
---| "low" # Little.

---How far an entry of the model's list is.
---@alias redline.PlanEntryStatus
---| "pending" # Not begun.
---| "in_progress" # Under way.
---| "completed" # Done.

---Where a plan stands.
---@alias redline.PlanState
---| "proposed" # It waits for a decision.
---| "approved" # What it lists may run.
---| "rejected" # It was not accepted.
---| "completed" # Its work is done; it lets nothing through any more.
---| "superseded" # Another plan of its session took its place.

---One step of a plan.
---@class (exact) redline.PlanStep
---@field text string One line.
---@field done boolean It is done, says the agent.

---A zero-based LSP position in the encoding negotiated with this client.
---@class (exact) redline.Position
---@field line integer Zero-based line.
---@field character integer Zero-based offset in the negotiated encoding.

---A place that a prompt is about.
---@class (exact) redline.PromptContext
---@field uri string Document URI.
---@field range? redline.Range The selection, if one was made.

---Params of `redline/session/prompt`; answered on acceptance, the rest arrives as updates.
---
---A prompt that is a command (`/accept`, `/deny`, `/mode`, `/plan`) is carried out and reaches no model.
---@class (exact) redline.PromptParams
---@field sessionId? string `se_…`; absent means the client's current one, made when there is none.
---@field prompt? redline.ContentBlock[] What the user says, in blocks.
---@field text? string The same as one text, for a client that has no more; it comes after the blocks.
---@field context? redline.PromptContext What it is about.

---Result of `redline/session/prompt`.
---@class (exact) redline.PromptResult
---@field sessionId string The session it went to.
---@field turnId string The turn it started; empty when it was a command that started none.
---@field message? string What a command did, in a sentence.

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

---One conversation, as lists show it.
---@class (exact) redline.SessionInfo
---@field sessionId string `se_…`.
---@field cwd string Workspace root as a path.
---@field title? string The first prompt's first line, unless it was named otherwise.
---@field model string `PROVIDER/MODEL`.
---@field mode redline.Mode Its permission mode.
---@field state redline.SessionState What it does now.
---@field createdAt integer Unix seconds.
---@field updatedAt integer Unix seconds of the last event.
---@field turns integer Turns so far.
---@field archived? boolean It was put away.

---What a session is doing now.
---@alias redline.SessionState
---| "running" # A turn runs.
---| "idle" # Ready for a prompt.
---| "requires_action" # The turn waits for a decision of the user: an approval or a plan.

---One thing that happened. An absent field of an update says nothing about it: what was said before stays.
---@alias redline.SessionUpdate redline.SessionUpdate.user_message|redline.SessionUpdate.agent_message_chunk|redline.SessionUpdate.agent_thought_chunk|redline.SessionUpdate.tool_call_update|redline.SessionUpdate.plan_update|redline.SessionUpdate.usage_update|redline.SessionUpdate.state_update|redline.SessionUpdate.current_mode_update|redline.SessionUpdate.current_model_update|redline.SessionUpdate.session_info_update|redline.SessionUpdate.replay_complete|redline.SessionUpdate._transaction|redline.SessionUpdate._decisions|redline.SessionUpdate._notice

---The user's prompt, where it stands in the conversation.
---@class (exact) redline.SessionUpdate.user_message
---@field sessionUpdate "user_message"
---@field messageId string Of the conversation.
---@field content redline.ContentBlock[] The whole of it.

---A piece of the answer, to be appended to the message of that id.
---@class (exact) redline.SessionUpdate.agent_message_chunk
---@field sessionUpdate "agent_message_chunk"
---@field messageId string Of the conversation.
---@field content redline.ContentBlock The piece.

---A piece of reasoning, to be appended to the thought of that id.
---@class (exact) redline.SessionUpdate.agent_thought_chunk
---@field sessionUpdate "agent_thought_chunk"
---@field messageId string Of the conversation.
---@field content redline.ContentBlock The piece.

---A tool call began, went on or ended.
---@class (exact) redline.SessionUpdate.tool_call_update: redline.ToolCallUpdate
---@field sessionUpdate "tool_call_update"

---The model's list of what it is doing.
---@class (exact) redline.SessionUpdate.plan_update
---@field sessionUpdate "plan_update"
---@field plan redline.PlanContent The whole of it.

---Tokens and money so far.
---@class (exact) redline.SessionUpdate.usage_update: redline.UsageUpdate
---@field sessionUpdate "usage_update"

---What the session does now.
---@class (exact) redline.SessionUpdate.state_update: redline.StateUpdate
---@field sessionUpdate "state_update"

---The permission mode changed.
---@class (exact) redline.SessionUpdate.current_mode_update
---@field sessionUpdate "current_mode_update"
---@field currentModeId redline.Mode Now.

---The model changed.
---@class (exact) redline.SessionUpdate.current_model_update
---@field sessionUpdate "current_model_update"
---@field currentModelId string `PROVIDER/MODEL`.

---What lists say of the session changed.
---@class (exact) redline.SessionUpdate.session_info_update
---@field sessionUpdate "session_info_update"
---@field title? string Its title.
---@field updatedAt? integer Unix seconds.

---All that happened before has been sent again.
---@class (exact) redline.SessionUpdate.replay_complete
---@field sessionUpdate "replay_complete"

---The turn's transaction grew.
---@class (exact) redline.SessionUpdate._transaction
---@field sessionUpdate "_transaction"
---@field transactionId string `tx_…`.

---What the model was told of the user's decisions.
---@class (exact) redline.SessionUpdate._decisions
---@field sessionUpdate "_decisions"
---@field text string As the model reads it.

---Something that the user should know; the turn goes on.
---@class (exact) redline.SessionUpdate._notice
---@field sessionUpdate "_notice"
---@field level redline.NoticeLevel How much to care.
---@field text string One sentence.

---Notification `redline/session/update`: what happened since the last one, at most one each 16 ms.
---
---Sent to the clients that take part in the session: who made, loaded or prompted it.
---@class (exact) redline.SessionUpdateNotification
---@field sessionId string `se_…`.
---@field turnId? string `turn_…`; absent when it is of no turn.
---@field updates redline.SessionUpdate[] In order; adjacent pieces of one message are merged.

---Params of `redline/session/set_mode`; a running turn takes it at its next step.
---@class (exact) redline.SetModeParams
---@field sessionId? string Absent means the workspace: what new sessions begin with, and all that are open in it.
---@field modeId redline.Mode The new mode.

---Result of `redline/session/set_mode`.
---@class (exact) redline.SetModeResult
---@field modeId redline.Mode The mode now.

---Params of `redline/session/set_model`; a running turn takes it at its next step.
---@class (exact) redline.SetModelParams
---@field sessionId? string Absent means the client's current session.
---@field modelId string `PROVIDER/MODEL`.

---Result of `redline/session/set_model`.
---@class (exact) redline.SetModelResult
---@field sessionId string The session.
---@field modelId string The model from the next step on.

---Notification `redline/sidecar/replaced`, to clients with the `session` capability.
---
---The sidecar ended, and another one has been told which documents are open. Of sessions it knows what is
---recorded: load again those that are shown.
---@class (exact) redline.SidecarReplacedNotification

---Params of `redline/transaction/split`.
---@class (exact) redline.SplitParams
---@field transactionId? string `tx_…`; absent means the one that holds the hunk.
---@field hunk redline.HunkRef The hunk as shown.

---What a session does. With `idle`, a turn ended: the last update of the turn, exactly once.
---@class (exact) redline.StateUpdate
---@field state redline.SessionState Now.
---@field stopReason? redline.StopReason Why the turn ended, with `idle`.
---@field _error? redline.ErrorInfo What went wrong, when it ended for that.

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

---Why a turn ended. What begins with `_` is not of the Agent Client Protocol.
---@alias redline.StopReason
---| "end_turn" # The model said all that it had to say.
---| "max_tokens" # A limit of tokens was reached: the answer's, or the turn's budget.
---| "max_turn_requests" # The turn's budget of steps was used up.
---| "refusal" # The model declined.
---| "cancelled" # The user stopped it.
---| "_timeout" # It took too long.
---| "_max_cost" # The turn's budget of money was used up.
---| "_error" # It could not go on.
---| "_interrupted" # The sidecar ended while it ran; the session can go on.

---What a tool call shows.
---@alias redline.ToolCallContent redline.ToolCallContent.content|redline.ToolCallContent.terminal|redline.ToolCallContent._transaction

---What came out, bounded: the middle of long output is left out.
---@class (exact) redline.ToolCallContent.content
---@field type "content"
---@field content redline.ContentBlock The block.

---A program's output, which arrives as `redline/job/changed`.
---@class (exact) redline.ToolCallContent.terminal
---@field type "terminal"
---@field terminalId string `job_…`.

---Hunks that the call proposed.
---@class (exact) redline.ToolCallContent._transaction
---@field type "_transaction"
---@field transactionId string `tx_…`.
---@field hunkIds string[] Its hunks that the call made or changed.

---A place that a tool call touches.
---@class (exact) redline.ToolCallLocation
---@field path string Absolute path.
---@field line? integer 1-based line.

---How far a tool call is.
---@alias redline.ToolCallStatus
---| "pending" # Its arguments still arrive, or it waits for an approval.
---| "in_progress" # It runs.
---| "completed" # It did what it was asked.
---| "failed" # It did not; the content says why.
---| "cancelled" # The turn was stopped before it ended.

---A tool call, as far as an update knows it.
---@class (exact) redline.ToolCallUpdate
---@field toolCallId string Unique in the session.
---@field _tool? string Name of the tool; always there the first time.
---@field title? string One line for people.
---@field kind? redline.ToolKind What kind of thing it does.
---@field status? redline.ToolCallStatus How far it is.
---@field content? redline.ToolCallContent[] What it shows: replaces what was there.
---@field locations? redline.ToolCallLocation[] Places that it touches.
---@field rawInput? any Its arguments; left out when they are long.
---@field _approvalId? string The approval that it waits for.

---What kind of thing a tool does.
---@alias redline.ToolKind
---| "read" # Reads.
---| "edit" # Proposes edits.
---| "search" # Finds.
---| "execute" # Runs a program.
---| "think" # Plans and notes.
---| "fetch" # Fetches from elsewhere.
---| "other" # Anything else.

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

---Something of the project that would widen what may happen here.
---@class (exact) redline.TrustItem
---@field path string The file, from the workspace root.
---@field widens string[] What it would do, one line each.
---@field revision string Its content's hash: a decision is for exactly this content.
---@field trusted boolean It was trusted, with this content.

---One file as it was shown.
---@class (exact) redline.TrustRef
---@field path string The file, from the workspace root.
---@field revision? string The revision shown; absent means the present one.

---Result of `redline/trust/list` and `redline/trust/decide`.
---@class (exact) redline.TrustResult
---@field items redline.TrustItem[] By path.

---Tokens and money. What is not known is absent, never 0.
---@class (exact) redline.UsageUpdate
---@field used? integer Tokens that the conversation takes in the model's context now.
---@field size? integer Tokens that the model's context holds.
---@field cost? redline.Cost Of the session.
---@field _turnCost? redline.Cost Of the turn.
---@field _inputTokens integer Prompt tokens of the turn, cached ones included.
---@field _cachedTokens integer Of these, read from the vendor's cache.
---@field _outputTokens integer Answer tokens of the turn, reasoning included.
---@field _reasoningTokens integer Of these, reasoning.
---@field _estimated? boolean Some of these are estimates.

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
  SESSION_LOAD = "redline/session/load",
  SESSION_LIST = "redline/session/list",
  SESSION_FORK = "redline/session/fork",
  SESSION_ARCHIVE = "redline/session/archive",
  SESSION_PROMPT = "redline/session/prompt",
  SESSION_CANCEL = "redline/session/cancel",
  SESSION_SET_MODE = "redline/session/set_mode",
  SESSION_SET_MODEL = "redline/session/set_model",
  TURN_EXPORT = "redline/turn/export",
  APPROVAL_LIST = "redline/approval/list",
  APPROVAL_DECIDE = "redline/approval/decide",
  PLAN_LIST = "redline/plan/list",
  PLAN_DECIDE = "redline/plan/decide",
  JOB_LIST = "redline/job/list",
  JOB_OUTPUT = "redline/job/output",
  JOB_CANCEL = "redline/job/cancel",
  MODEL_LIST = "redline/model/list",
  ENV_LIST = "redline/env/list",
  ENV_PATCH = "redline/env/patch",
  TRUST_LIST = "redline/trust/list",
  TRUST_DECIDE = "redline/trust/decide",
  SESSION_UPDATE = "redline/session/update",
  APPROVAL_CHANGED = "redline/approval/changed",
  PLAN_CHANGED = "redline/plan/changed",
  JOB_CHANGED = "redline/job/changed",
  SIDECAR_REPLACED = "redline/sidecar/replaced",
  TRANSACTION_CHANGED = "redline/transaction/changed",
}

return M
