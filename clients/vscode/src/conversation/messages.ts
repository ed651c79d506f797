/** What the extension and its conversation view say to each other. Types only. */

import type { Mode, SessionState } from "redline-protocol";

export type Fact = readonly [name: string, value: string];

/** A hunk that a tool call made. */
export interface HunkLink {
  readonly id: string;
  readonly label: string;
}

export interface CallView {
  readonly kind: "call";
  readonly key: string;
  readonly title: string;
  readonly state: string;
  /** How it is marked, beside its words. */
  readonly tone: "quiet" | "running" | "failed" | "waits";
  /** The approval that it waits for, exactly. */
  readonly approval?: { readonly id: string; readonly facts: readonly Fact[]; readonly until: string };
  readonly hunks: readonly HunkLink[];
  readonly facts: readonly Fact[];
  readonly details: readonly string[];
  readonly job?: { readonly id: string; readonly label: string };
  readonly place?: { readonly path: string; readonly line: number };
}

/** One entry of a conversation, as it is shown. */
export type EntryView =
  | { readonly kind: "user"; readonly key: string; readonly text: string }
  | { readonly kind: "heading"; readonly key: string; readonly text: string }
  | { readonly kind: "answer" | "thought"; readonly key: string; readonly text: string }
  | CallView
  | {
      readonly kind: "list";
      readonly key: string;
      readonly items: readonly { readonly text: string; readonly status: "pending" | "in_progress" | "completed" }[];
    }
  | {
      readonly kind: "plan";
      readonly key: string;
      readonly id: string;
      readonly title: string;
      readonly state: string;
      readonly waits: boolean;
      readonly facts: readonly Fact[];
    }
  | { readonly kind: "notice"; readonly key: string; readonly level: "info" | "warning"; readonly text: string }
  | { readonly kind: "decisions"; readonly key: string; readonly text: string }
  | {
      readonly kind: "end";
      readonly key: string;
      readonly text: string;
      readonly failed: boolean;
      readonly hint: string;
      readonly transaction?: { readonly id: string; readonly label: string };
    };

/** What is shown around the entries. */
export interface Bar {
  readonly title: string;
  readonly state: SessionState;
  readonly activity: string;
  readonly mode: Mode;
  readonly model: string;
  readonly usage: string;
  readonly attachments: readonly string[];
  /** Why nothing can be asked; empty when it can. */
  readonly unavailable: string;
}

export type ToView =
  | { readonly type: "reset"; readonly entries: readonly EntryView[]; readonly bar: Bar }
  | {
      readonly type: "patch";
      readonly puts: readonly EntryView[];
      readonly appends: readonly { readonly key: string; readonly text: string }[];
    }
  | { readonly type: "bar"; readonly bar: Bar }
  | { readonly type: "prompt"; readonly text: string };

export type FromView =
  | { readonly type: "ready" }
  | { readonly type: "send"; readonly text: string }
  | { readonly type: "stop" }
  | { readonly type: "approve" | "deny" | "denyWithReason"; readonly id: string }
  | { readonly type: "acceptPlan" | "rejectPlan" | "openPlan"; readonly id: string }
  | { readonly type: "openHunk" | "openTransaction" | "openJob"; readonly id: string }
  | { readonly type: "openPlace"; readonly path: string; readonly line: number }
  | { readonly type: "openLink"; readonly url: string }
  | { readonly type: "mode"; readonly mode: Mode }
  | { readonly type: "pickModel" }
  | { readonly type: "attach"; readonly what: "selection" | "file" | "problem" }
  | { readonly type: "detach"; readonly index: number }
  | { readonly type: "copy"; readonly text: string };
