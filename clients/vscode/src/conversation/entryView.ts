/** How an entry of a conversation is shown: its words, its state, where it leads. Pure. */

import type { Hunk, ToolCallStatus, ToolCallUpdate, Transaction } from "redline-protocol";
import type { CallView, EntryView, Fact, HunkLink } from "./messages.ts";
import type { CallEntry, Context, EndEntry, Entry, Transcript } from "./transcript.ts";
import { oneLine, short, visible } from "../text/escape.ts";
import {
  approvalFacts,
  approvalState,
  count,
  hunkState,
  jobState,
  lines,
  planFacts,
  planState,
  stopReason,
  tokens,
} from "../text/labels.ts";

/** Characters of an argument, and of a tool's output, that are shown. */
const ARGUMENT_MAX = 500;
const DETAIL_MAX = 20_000;

const STATES: Readonly<Record<ToolCallStatus, string>> = {
  pending: "preparing",
  in_progress: "running",
  completed: "done",
  failed: "failed",
  cancelled: "stopped",
};

interface Placed {
  readonly hunk: Hunk;
  readonly path: string;
}

function hunksOf(transaction: Transaction, only?: readonly string[]): Placed[] {
  const all = transaction.files.flatMap((file) => file.hunks.map((hunk) => ({ hunk, path: file.path })));
  return only === undefined || only.length === 0 ? all : all.filter(({ hunk }) => only.includes(hunk.id));
}

/** `2 pending, 1 accepted`. */
export function counted(hunks: readonly Placed[]): string {
  return (["pending", "conflict", "accepted", "rejected", "withdrawn"] as const)
    .map((state): [string, number] => [state, hunks.filter(({ hunk }) => hunk.state === state).length])
    .filter(([, n]) => n > 0)
    .map(([state, n]) => `${n} ${state}`)
    .join(", ");
}

function hunkLink({ hunk, path }: Placed): HunkLink {
  const why = oneLine(hunk.rationale ?? "");
  return { id: hunk.id, label: `${path}:${hunk.startLine} ${lines(hunk)} · ${hunkState(hunk)}${why === "" ? "" : ` · ${why}`}` };
}

/** The arguments of a call, but for edits, whose hunks say it better. */
function argumentFacts(call: ToolCallUpdate): Fact[] {
  if (typeof call.rawInput !== "object" || call.rawInput === null) {
    return [];
  }
  return Object.entries(call.rawInput)
    .filter(([, value]) => call.kind !== "edit" || typeof value !== "object")
    .map(([name, value]): Fact => {
      const text = typeof value === "string" ? value : JSON.stringify(value);
      return [oneLine(name), short(oneLine(text), ARGUMENT_MAX)];
    });
}

function details(call: ToolCallUpdate): string[] {
  return (call.content ?? []).flatMap((content) =>
    content.type === "content" && content.content.type === "text" ? [short(visible(content.content.text), DETAIL_MAX)] : [],
  );
}

function until(unixSeconds: number): string {
  const date = new Date(unixSeconds * 1000);
  const soon = date.getTime() - Date.now() < 12 * 3_600_000;
  return date.toLocaleString(undefined, soon ? { timeStyle: "short" } : { dateStyle: "medium", timeStyle: "short" });
}

function callView({ key, call }: CallEntry, context: Context, nowSeconds: number): CallView {
  const approval = call._approvalId == null ? undefined : context.approval(call._approvalId);
  const status = call.status ?? "pending";
  // An approval says what exactly would happen; before it runs, the call's own title is only the tool's name.
  const title = oneLine(approval?.summary ?? call.title ?? call._tool ?? "tool");
  const base = { kind: "call" as const, key, title, hunks: [], facts: [], details: [] };
  if (approval?.state === "pending") {
    return {
      ...base,
      state: approvalState(approval),
      tone: "waits",
      approval: { id: approval.id, facts: approvalFacts(approval), until: until(approval.expiresAt) },
    };
  }
  const made = call.content?.find((content) => content.type === "_transaction");
  const transaction = made && context.transaction(made.transactionId);
  const hunks = transaction ? hunksOf(transaction, made.hunkIds) : [];
  const terminal = call.content?.find((content) => content.type === "terminal");
  const job = (terminal && context.job(terminal.terminalId)) ?? context.jobOfCall(call.toolCallId);
  const place = call.locations?.[0];
  const text = details(call);
  let state = STATES[status];
  if (approval && (status === "pending" || approval.state !== "spent")) {
    state = approvalState(approval);
  } else if (status === "failed" && text[0] !== undefined) {
    state = `failed: ${short(oneLine(text[0]), 120)}`;
  } else if (hunks.length > 0) {
    state = counted(hunks);
  } else if (job && status !== "pending") {
    state = jobState(job, nowSeconds);
  }
  return {
    ...base,
    state,
    tone: status === "failed" ? "failed" : status === "in_progress" ? "running" : "quiet",
    hunks: hunks.map(hunkLink),
    facts: approval ? approvalFacts(approval) : hunks.length > 0 ? [] : argumentFacts(call),
    details: text,
    ...(job ? { job: { id: job.id, label: `output: ${jobState(job, nowSeconds)}` } } : {}),
    ...(place ? { place: { path: place.path, line: place.line ?? 1 } } : {}),
  };
}

function endView(entry: EndEntry, transcript: Transcript, context: Context): EntryView {
  const { ended, usage, calls, key, turnId } = entry;
  const error = ended._error ?? undefined;
  const why = error ? `: ${error.code}: ${oneLine(error.message)}` : "";
  const parts = [stopReason(ended.stopReason ?? "end_turn") + why];
  if (calls > 0) {
    parts.push(count(calls, "tool call"));
  }
  if (usage) {
    parts.push(`${usage._estimated ? "about " : ""}${tokens(usage._inputTokens)} in, ${tokens(usage._outputTokens)} out`);
  }
  const transaction = context.transaction(transcript.transactionOf(turnId) ?? "");
  const label = transaction && `${counted(hunksOf(transaction))} in ${count(transaction.files.length, "file")}`;
  return {
    kind: "end",
    key,
    text: parts.join(" · "),
    failed: error !== undefined,
    hint: error?.hint ?? "",
    ...(transaction && label !== undefined ? { transaction: { id: transaction.id, label } } : {}),
  };
}

/** An entry as it is shown now. */
export function entryView(entry: Entry, transcript: Transcript, context: Context, nowSeconds: number): EntryView {
  switch (entry.kind) {
    case "call":
      return callView(entry, context, nowSeconds);
    case "end":
      return endView(entry, transcript, context);
    case "plan": {
      const plan = context.plan(entry.planId);
      return {
        kind: "plan",
        key: entry.key,
        id: entry.planId,
        title: plan ? oneLine(plan.title) : "plan",
        state: plan ? planState(plan) : "not known any more",
        waits: plan?.state === "proposed",
        facts: plan ? planFacts(plan) : [],
      };
    }
    case "list":
      return {
        kind: "list",
        key: entry.key,
        items: entry.items.map((item) => ({ text: oneLine(item.content), status: item.status })),
      };
    case "notice":
      return { kind: "notice", key: entry.key, level: entry.level, text: entry.text };
    case "user":
    case "heading":
    case "answer":
    case "thought":
    case "decisions":
      return { kind: entry.kind, key: entry.key, text: entry.text };
  }
}
