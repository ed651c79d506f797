/** What hunks, transactions, approvals and jobs are called, with their state in words. Pure. */

import type {
  Approval,
  Checkpoint,
  FileChange,
  Hunk,
  Job,
  Plan,
  StopReason,
  Transaction,
  TransactionState,
} from "redline-protocol";
import { command, oneLine, short } from "./escape.ts";

/** `1 hunk`, `2 hunks`. */
export function count(n: number, noun: string): string {
  return `${n} ${noun}${n === 1 ? "" : "s"}`;
}

/** `+4 −2`. */
export function lines(hunk: Pick<Hunk, "added" | "removed">): string {
  return `+${hunk.added.length} −${hunk.removed.length}`;
}

/** Whether a hunk waits for the user. */
export function isOpen(hunk: Pick<Hunk, "state">): boolean {
  return hunk.state === "pending" || hunk.state === "conflict";
}

/** `3/4 +4 −2 · why`. */
export function hunkLine(hunk: Hunk, total: number, whyMax = 80): string {
  const why = oneLine(hunk.rationale ?? "");
  const state = hunkState(hunk);
  return `${hunk.index}/${total} ${lines(hunk)}${state === "pending" ? "" : ` · ${state}`}${why === "" ? "" : ` · ${short(why, whyMax)}`}`;
}

export function hunkState(hunk: Pick<Hunk, "state" | "unsaved" | "amended" | "incomplete">): string {
  if (hunk.incomplete) {
    return "still arriving";
  }
  if (hunk.state === "accepted" && hunk.unsaved) {
    return "accepted, unsaved";
  }
  return hunk.state === "pending" && hunk.amended ? "pending, amended" : hunk.state;
}

const TRANSACTION_STATES: Readonly<Record<TransactionState, string>> = {
  pending: "pending",
  committed: "committed",
  rejected: "rejected",
  conflicted: "conflicted",
  failed: "commit failed",
  undone: "undone",
};

export function transactionState(state: TransactionState): string {
  return TRANSACTION_STATES[state];
}

export interface Totals {
  readonly files: number;
  readonly hunks: number;
  readonly added: number;
  readonly removed: number;
  /** What waits for the user: hunks, and operations of whole files. */
  readonly open: number;
  readonly conflicts: number;
}

/** Whether the operation of a whole file waits for the user. */
export function isOperationOpen(file: FileChange): boolean {
  return file.operation !== "edit" && file.hunks.length === 0 && (file.state === "pending" || file.state === "conflict");
}

/** Sums over the files of a transaction. */
export function totals(files: readonly FileChange[]): Totals {
  let [hunks, added, removed, open, conflicts] = [0, 0, 0, 0, 0];
  for (const file of files) {
    if (isOperationOpen(file)) {
      open++;
      conflicts += file.state === "conflict" ? 1 : 0;
    }
    for (const hunk of file.hunks) {
      hunks++;
      added += hunk.added.length;
      removed += hunk.removed.length;
      open += isOpen(hunk) ? 1 : 0;
      conflicts += hunk.state === "conflict" ? 1 : 0;
    }
  }
  return { files: files.length, hunks, added, removed, open, conflicts };
}

/** `2 files · 3 hunks · +6 −2`. */
export function totalsLine(transaction: Transaction): string {
  const sums = totals(transaction.files);
  return `${count(sums.files, "file")} · ${count(sums.hunks, "hunk")} · +${sums.added} −${sums.removed}`;
}

const OPERATIONS = { edit: "", create: "new file", delete: "deleted", rename: "renamed", set_mode: "mode" } as const;

/** What happens to a file, with counts and what waits: `+4 −2 · 1 of 3 pending`. */
export function fileLine(file: FileChange): string {
  const sums = totals([file]);
  const parts = [`+${sums.added} −${sums.removed}`];
  const operation = OPERATIONS[file.operation];
  if (operation !== "") {
    const target = file.newPath ?? file.mode;
    parts.unshift(target == null ? operation : `${operation} → ${target}`);
  }
  if (sums.hunks === 0) {
    parts.push(file.state);
  } else if (sums.open > 0) {
    parts.push(`${sums.open} of ${sums.hunks} pending`);
  } else {
    parts.push(file.state);
  }
  if (sums.conflicts > 0) {
    parts.push(count(sums.conflicts, "conflict"));
  }
  return parts.join(" · ");
}

const KINDS = {
  transaction: "commits edits",
  command: "runs a program",
  vcs: "changes version control",
  browser: "acts in a browser",
  web: "fetches from the network",
  agent: "starts another agent",
} as const;

const CLASSES = {
  reversible: "undo brings it back",
  workspace: "stays inside the workspace, may lose what is not tracked",
  outside: "reaches the network or other folders",
} as const;

/** What an approval is about, exactly: names and values. */
export function approvalFacts(approval: Approval): [string, string][] {
  const facts: [string, string][] = [];
  if (approval.command) {
    facts.push(["runs", command(approval.command)]);
    if (approval.program != null && approval.program !== approval.command[0]) {
      facts.push(["program", oneLine(approval.program)]);
    }
    facts.push(["in", oneLine(approval.cwd ?? "") || "."]);
  } else {
    facts.push(["would", oneLine(approval.summary)]);
  }
  facts.push(...approval.paths.map((path): [string, string] => ["path", oneLine(path)]));
  facts.push(...approval.hosts.map((host): [string, string] => ["host", oneLine(host)]));
  facts.push(["effect", `${KINDS[approval.kind]}; ${CLASSES[approval.class]}`]);
  if (approval.why !== "") {
    facts.push(["asked", oneLine(approval.why)]);
  }
  return facts;
}

export function approvalState(approval: Approval): string {
  const by = approval.decidedBy == null ? "" : ` by ${approval.decidedBy}`;
  const because = approval.reason == null || approval.reason === "" ? "" : `: ${oneLine(approval.reason)}`;
  switch (approval.state) {
    case "pending":
      return "waits for your approval";
    case "approved":
    case "spent":
      return `approved${by}`;
    case "denied":
      return `denied${by}${because}`;
    case "expired":
      return "nobody decided in time";
    case "void":
      return "void: what it was about has changed";
    case "withdrawn":
      return "withdrawn: its turn has ended";
  }
}

export function planState(plan: Plan): string {
  const by = plan.decidedBy == null ? "" : ` by ${plan.decidedBy}`;
  const because = plan.reason == null || plan.reason === "" ? "" : `: ${oneLine(plan.reason)}`;
  switch (plan.state) {
    case "proposed":
      return "waits for your decision";
    case "approved":
      return `accepted${by}`;
    case "rejected":
      return `rejected${by}${because}`;
    case "completed":
      return "completed";
    case "superseded":
      return "superseded";
  }
}

/** What a plan would let through: names and values. */
export function planFacts(plan: Plan): [string, string][] {
  const facts: [string, string][] = [
    ...plan.paths.map((path): [string, string] => ["changes", oneLine(path)]),
    ...plan.commands.map((argv): [string, string] => ["runs", command(argv)]),
    ...plan.hosts.map((host): [string, string] => ["reaches", oneLine(host)]),
  ];
  return facts.length > 0 ? facts : [["needs", plan.kinds.join(", ") || "nothing that changes anything"]];
}

/** A span of time, for people. */
export function span(seconds: number): string {
  if (seconds < 90) {
    return `${Math.max(0, Math.round(seconds))} s`;
  }
  if (seconds < 5400) {
    return `${Math.round(seconds / 60)} min`;
  }
  return seconds < 172_800 ? `${Math.round(seconds / 3600)} h` : `${Math.round(seconds / 86_400)} days`;
}

export function jobState(job: Job, now: number): string {
  const took = span((job.endedAt ?? now) - job.startedAt);
  switch (job.state) {
    case "running":
      return `running for ${took}`;
    case "exited":
      return job.signal == null ? `exit code ${job.exitCode ?? 0} after ${took}` : `ended by signal ${job.signal} after ${took}`;
    case "cancelled":
      return `stopped after ${took}`;
    case "timed_out":
      return `its time was over after ${took}`;
    case "orphaned":
      return "was running when the sidecar ended";
  }
}

/** `2 files · undone`. */
export function checkpointLine(checkpoint: Checkpoint): string {
  return `${count(checkpoint.paths.length, "file")}${checkpoint.undone ? " · undone" : ""}`;
}

const ENDS: Readonly<Record<StopReason, string>> = {
  end_turn: "done",
  max_tokens: "stopped: the limit of tokens is reached",
  max_turn_requests: "stopped: the turn's steps are used up",
  refusal: "the model declined",
  cancelled: "stopped by you",
  _timeout: "stopped: it took too long",
  _max_cost: "stopped: the turn's budget is used up",
  _error: "failed",
  _interrupted: "interrupted: the sidecar ended; the session can go on",
};

export function stopReason(reason: StopReason): string {
  return ENDS[reason];
}

/** `950`, `12.3k`, `1.2M`. */
export function tokens(n: number): string {
  if (n < 1000) {
    return String(n);
  }
  const [value, unit] = n < 999_950 ? [n / 1000, "k"] : [n / 1_000_000, "M"];
  return `${value.toFixed(1).replace(/\.0$/, "")}${unit}`;
}
