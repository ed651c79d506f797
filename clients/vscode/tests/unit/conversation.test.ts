import assert from "node:assert/strict";
import { test } from "node:test";
import type { Approval, SessionUpdate, Transaction } from "redline-protocol";
import { entryView } from "../../src/conversation/entryView.ts";
import { type Context, Transcript, noChanges } from "../../src/conversation/transcript.ts";
import { addressOf, queryOf } from "../../src/files/uris.ts";

const APPROVAL: Approval = {
  id: "approval_1",
  sessionId: "se_1",
  tool: "workspace_command",
  kind: "command",
  class: "workspace",
  summary: "cargo test",
  why: "",
  command: ["cargo", "test", "a\u202eb"],
  program: "/usr/bin/cargo",
  cwd: "src",
  paths: [],
  hosts: [],
  state: "pending",
  createdAt: 1,
  expiresAt: 4_102_444_800,
};

const TRANSACTION: Transaction = {
  id: "tx_1",
  revision: 1,
  state: "pending",
  title: "Greet",
  proposedBy: "agent",
  createdAt: 1,
  files: [
    {
      path: "a.txt",
      uri: "file:///a.txt",
      operation: "edit",
      state: "pending",
      revision: 1,
      flags: [],
      hunks: ["h_1", "h_2"].map((id, index) => ({
        id,
        revision: 1,
        state: index === 0 ? ("accepted" as const) : ("pending" as const),
        index: index + 1,
        startLine: 3,
        removed: ["a"],
        added: ["b"],
        noNewlineAtEnd: false,
        match: "exact" as const,
        amended: false,
        unsaved: false,
        incomplete: false,
      })),
    },
  ],
};

const CONTEXT: Context = {
  approval: (id) => (id === APPROVAL.id ? APPROVAL : undefined),
  plan: () => undefined,
  job: () => undefined,
  jobOfCall: () => undefined,
  transaction: (id) => (id === TRANSACTION.id ? TRANSACTION : undefined),
};

function said(text: string, messageId = "m2"): SessionUpdate {
  return { sessionUpdate: "agent_message_chunk", messageId, content: { type: "text", text } };
}

function call(fields: object): SessionUpdate {
  return { sessionUpdate: "tool_call_update", toolCallId: "c1", ...fields };
}

function happened(updates: SessionUpdate[]): Transcript {
  const transcript = new Transcript();
  for (const update of updates) {
    transcript.apply(update, "turn_1", "mock/gpt", noChanges());
  }
  return transcript;
}

function views(transcript: Transcript, context = CONTEXT): ReturnType<typeof entryView>[] {
  return transcript.entries.map((entry) => entryView(entry, transcript, context, 10));
}

const ASKED: SessionUpdate = { sessionUpdate: "user_message", messageId: "m1", content: [{ type: "text", text: "Do it" }] };

test("a prompt, its heading and a streamed answer", () => {
  const transcript = happened([ASKED, ASKED, said("One "), said("two")]);
  assert.deepEqual(views(transcript), [
    { kind: "user", key: "user:m1", text: "Do it" },
    { kind: "heading", key: "heading:m1", text: "gpt · turn 1" },
    { kind: "answer", key: "answer:m2", text: "One two" },
  ]);
});

test("pieces of a message that is shown already are sent as pieces", () => {
  const transcript = happened([said("One ")]);
  const changes = noChanges();
  transcript.apply(said("two"), "turn_1", "", changes);
  assert.deepEqual([changes.puts.size, changes.appends], [0, [{ key: "answer:m2", text: "two" }]]);
  const both = noChanges();
  transcript.apply(said("three", "m3"), "turn_1", "", both);
  transcript.apply(said(" four", "m3"), "turn_1", "", both);
  assert.deepEqual([both.puts.size, both.appends], [1, []], "what is put whole holds all of it");
});

test("an approval is shown exactly, with what cannot be seen made visible", () => {
  const transcript = happened([call({ _tool: "workspace_command", title: "run", kind: "execute", status: "pending", _approvalId: "approval_1" })]);
  const [view] = views(transcript);
  assert.ok(view?.kind === "call" && view.approval);
  assert.deepEqual(view.approval.facts.slice(0, 3), [
    ["runs", "cargo test 'a·b'"],
    ["program", "/usr/bin/cargo"],
    ["in", "src"],
  ]);
  assert.equal(view.tone, "waits");
});

test("an absent field of an update says nothing: what was said before stays", () => {
  const transcript = happened([call({ _tool: "workspace_read", title: "read a.txt", status: "in_progress" }), call({ status: "completed", title: null })]);
  const [view] = views(transcript);
  assert.ok(view?.kind === "call");
  assert.deepEqual([view.title, view.state], ["read a.txt", "done"]);
});

test("a call that proposed shows its hunks and how they stand", () => {
  const made = call({ kind: "edit", title: "edit", status: "completed", content: [{ type: "_transaction", transactionId: "tx_1", hunkIds: [] }] });
  const [view] = views(happened([made]));
  assert.ok(view?.kind === "call");
  assert.equal(view.state, "1 pending, 1 accepted");
  assert.deepEqual(view.hunks.map(({ label }) => label), ["a.txt:3 +1 −1 · accepted", "a.txt:3 +1 −1 · pending"]);
});

test("a turn ends once, with its reason, its calls and what it proposed", () => {
  const end: SessionUpdate = { sessionUpdate: "state_update", state: "idle", stopReason: "end_turn" };
  const transcript = happened([ASKED, call({ title: "read", status: "completed" }), { sessionUpdate: "_transaction", transactionId: "tx_1" }, end, end]);
  const ends = views(transcript).filter(({ kind }) => kind === "end");
  assert.deepEqual(ends, [
    { kind: "end", key: "end:turn_1", text: "done · 1 tool call", failed: false, hint: "", transaction: { id: "tx_1", label: "1 pending, 1 accepted in 1 file" } },
  ]);
});

test("a failed turn says what to do", () => {
  const error = { code: "PROVIDER", message: "it is down", hint: "Start it", retryable: true };
  const [view] = views(happened([{ sessionUpdate: "state_update", state: "idle", stopReason: "_error", _error: error }]));
  assert.ok(view?.kind === "end");
  assert.deepEqual([view.text, view.failed, view.hint], ["failed: PROVIDER: it is down", true, "Start it"]);
});

test("addresses of texts under review are read as they were written", () => {
  const address = { kind: "proposed", file: "file:///a b/ü&x=1.ts", id: "tx_1" } as const;
  assert.deepEqual(addressOf(queryOf(address)), address);
  assert.equal(addressOf("kind=anything&file=x"), undefined);
  assert.equal(addressOf(""), undefined);
});
