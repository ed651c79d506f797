/** What was said and done in a conversation: entries, in order. Pure: knows no editor and asks nobody. */

import type {
  Approval,
  ContentBlock,
  Job,
  Plan,
  PlanEntry,
  SessionUpdate,
  StateUpdate,
  ToolCallUpdate,
  Transaction,
  UsageUpdate,
} from "redline-protocol";

interface Of<K extends string> {
  readonly kind: K;
  readonly key: string;
  readonly turnId: string | undefined;
}

export type TextEntry = Of<"user" | "answer" | "thought" | "heading" | "decisions"> & { text: string };
export type CallEntry = Of<"call"> & { call: ToolCallUpdate };
export type EndEntry = Of<"end"> & {
  readonly ended: StateUpdate;
  readonly usage: UsageUpdate | undefined;
  readonly calls: number;
};

export type Entry =
  | TextEntry
  | CallEntry
  | (Of<"list"> & { items: readonly PlanEntry[] })
  | (Of<"plan"> & { readonly planId: string })
  | (Of<"notice"> & { readonly level: "info" | "warning"; readonly text: string })
  | EndEntry;

/** What an entry refers to. */
export interface Context {
  approval(id: string): Approval | undefined;
  plan(id: string): Plan | undefined;
  job(id: string): Job | undefined;
  jobOfCall(toolCallId: string): Job | undefined;
  transaction(id: string): Transaction | undefined;
}

/** What changed by an update: entries to be shown (again), and text that was added to one. */
export interface Changes {
  readonly puts: Set<Entry>;
  readonly appends: { key: string; text: string }[];
}

export function noChanges(): Changes {
  return { puts: new Set(), appends: [] };
}

function textOf(content: ContentBlock): string {
  return content.type === "text" ? content.text : `[${content.name === "" ? content.uri : content.name}](${content.uri})`;
}

export class Transcript {
  readonly #entries: Entry[] = [];
  readonly #byKey = new Map<string, Entry>();
  readonly #transactions = new Map<string, string>();
  #usage: UsageUpdate | undefined;
  #turns = 0;

  get entries(): readonly Entry[] {
    return this.#entries;
  }

  /** The transaction that a turn made. */
  transactionOf(turnId: string | undefined): string | undefined {
    return turnId === undefined ? undefined : this.#transactions.get(turnId);
  }

  #add<E extends Entry>(entry: E, changes: Changes): E {
    this.#entries.push(entry);
    this.#byKey.set(entry.key, entry);
    changes.puts.add(entry);
    return entry;
  }

  notice(level: "info" | "warning", text: string, turnId: string | undefined, changes: Changes): void {
    this.#add({ kind: "notice", key: `notice:${this.#entries.length}`, turnId, level, text }, changes);
  }

  /** Shows a plan where the conversation stands now, once. */
  plan(planId: string, changes: Changes): void {
    const key = `plan:${planId}`;
    const present = this.#byKey.get(key);
    if (present) {
      changes.puts.add(present);
    } else {
      this.#add({ kind: "plan", key, turnId: undefined, planId }, changes);
    }
  }

  /** Calls that a condition holds for: those whose approval or job is another one now. */
  touchCalls(concerned: (call: ToolCallUpdate) => boolean, changes: Changes): void {
    for (const entry of this.#entries) {
      if (entry.kind === "call" && concerned(entry.call)) {
        changes.puts.add(entry);
      }
    }
  }

  /** The ends of turns that made this transaction, and the calls that did. */
  touchTransaction(id: string, changes: Changes): void {
    this.touchCalls((call) => call.content?.some((each) => each.type === "_transaction" && each.transactionId === id) ?? false, changes);
    for (const entry of this.#entries) {
      if (entry.kind === "end" && this.transactionOf(entry.turnId) === id) {
        changes.puts.add(entry);
      }
    }
  }

  #append(kind: "answer" | "thought", messageId: string, turnId: string | undefined, text: string, changes: Changes): void {
    const key = `${kind}:${messageId}`;
    const present = this.#byKey.get(key);
    if (present?.kind !== kind) {
      this.#add({ kind, key, turnId, text }, changes);
      return;
    }
    present.text += text;
    // What is put whole in the same batch holds the text already.
    if (!changes.puts.has(present)) {
      changes.appends.push({ key, text });
    }
  }

  #call(update: ToolCallUpdate, turnId: string | undefined, changes: Changes): void {
    const key = `call:${update.toolCallId}`;
    const present = this.#byKey.get(key);
    const entry = present?.kind === "call" ? present : this.#add({ kind: "call", key, turnId, call: { toolCallId: update.toolCallId } }, changes);
    // An absent field says nothing: what was said before stays.
    const said = Object.entries(update).filter(([name, value]) => name !== "sessionUpdate" && value != null);
    entry.call = { ...entry.call, ...Object.fromEntries(said) };
    changes.puts.add(entry);
  }

  #end(ended: StateUpdate, turnId: string | undefined, changes: Changes): void {
    const key = `end:${turnId ?? this.#entries.length}`;
    if (!this.#byKey.has(key)) {
      const calls = this.#entries.filter((entry) => entry.kind === "call" && entry.turnId === turnId).length;
      this.#add({ kind: "end", key, turnId, ended, usage: this.#usage, calls }, changes);
    }
  }

  /** Takes over one update; `model` is the one that answers. */
  apply(update: SessionUpdate, turnId: string | undefined, model: string, changes: Changes): void {
    switch (update.sessionUpdate) {
      case "user_message": {
        const key = `user:${update.messageId}`;
        if (!this.#byKey.has(key)) {
          this.#turns++;
          this.#usage = undefined;
          this.#add({ kind: "user", key, turnId, text: update.content.map(textOf).join("\n") }, changes);
          const name = model.split("/").at(-1) ?? "";
          const text = `${name === "" ? "Redline" : name} · turn ${this.#turns}`;
          this.#add({ kind: "heading", key: `heading:${update.messageId}`, turnId, text }, changes);
        }
        break;
      }
      case "agent_message_chunk":
        this.#append("answer", update.messageId, turnId, textOf(update.content), changes);
        break;
      case "agent_thought_chunk":
        this.#append("thought", update.messageId, turnId, textOf(update.content), changes);
        break;
      case "tool_call_update":
        this.#call(update, turnId, changes);
        break;
      case "plan_update": {
        const key = `list:${update.plan.planId}`;
        const present = this.#byKey.get(key);
        if (present?.kind === "list") {
          present.items = update.plan.entries;
          changes.puts.add(present);
        } else {
          this.#add({ kind: "list", key, turnId, items: update.plan.entries }, changes);
        }
        break;
      }
      case "usage_update":
        this.#usage = update;
        break;
      case "state_update":
        if (update.state === "idle" && update.stopReason != null) {
          this.#end(update, turnId, changes);
        }
        break;
      case "_decisions":
        this.#add({ kind: "decisions", key: `decisions:${this.#entries.length}`, turnId, text: update.text }, changes);
        break;
      case "_notice":
        this.notice(update.level, update.text, turnId, changes);
        break;
      case "_transaction":
        if (turnId !== undefined) {
          this.#transactions.set(turnId, update.transactionId);
        }
        break;
      case "current_mode_update":
      case "current_model_update":
      case "session_info_update":
      case "replay_complete":
        break;
    }
  }
}
