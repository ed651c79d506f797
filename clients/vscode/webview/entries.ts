/** Entries of the conversation as elements. What is folded is built when it is opened. */

import { Streamed } from "./markdown.ts";
import { type Actions, blocks, button, element } from "./render.ts";
import type { CallView, EntryView, Fact, FromView } from "../src/conversation/messages.ts";

export type Send = (message: FromView) => void;

/** An entry on the page. */
export interface Drawn {
  readonly root: HTMLElement;
  view: EntryView;
  /** Adds text to an answer or a thought. */
  append(text: string): void;
}

function facts(pairs: readonly Fact[]): HTMLElement {
  const list = element("dl", { class: "facts" });
  for (const [name, value] of pairs) {
    list.append(element("dt", { text: name }), element("dd", { text: value }));
  }
  return list;
}

/** A line that unfolds; the rest is built once it is wanted. */
function folded(head: (Node | string)[], rest: () => (Node | string)[], name: string): HTMLDetailsElement {
  const made = element("details", { class: name }, element("summary", {}, ...head));
  let built = false;
  made.addEventListener("toggle", () => {
    if (made.open && !built) {
      built = true;
      made.append(...rest());
    }
  });
  return made;
}

const SIGNS = { quiet: "", running: "▶ ", failed: "✗ ", waits: "⏸ " } as const;

function approvalCard(view: CallView, send: Send): HTMLElement {
  const approval = view.approval;
  const card = element("section", { class: "card waits" });
  card.ariaLabel = `Approval: ${view.title}`;
  if (approval) {
    card.append(
      element("strong", { text: view.title }),
      element("span", { class: "state", text: ` · ${view.state} until ${approval.until}` }),
      facts(approval.facts),
      element(
        "div",
        { class: "buttons" },
        button("Approve once", "Let exactly this run, once", () => {
          send({ type: "approve", id: approval.id });
        }, "primary"),
        button("Deny", "It does not run", () => {
          send({ type: "deny", id: approval.id });
        }),
        button("Deny, say why", "It does not run, and the model is told why", () => {
          send({ type: "denyWithReason", id: approval.id });
        }),
      ),
    );
  }
  return card;
}

function call(view: CallView, send: Send): HTMLElement {
  if (view.approval) {
    return approvalCard(view, send);
  }
  const links = view.hunks.map((hunk) =>
    button(hunk.label, "Show this hunk", () => {
      send({ type: "openHunk", id: hunk.id });
    }, "link"),
  );
  const head = [element("span", { class: "title", text: SIGNS[view.tone] + view.title }), element("span", { class: `state ${view.tone}`, text: ` · ${view.state}` })];
  const { job, place } = view;
  const rest = (): Node[] => [
    ...links,
    ...(place ? [button(`${place.path}:${place.line}`, "Open the file", () => {
      send({ type: "openPlace", ...place });
    }, "link")] : []),
    ...(job ? [button(job.label, "Show the output", () => {
      send({ type: "openJob", id: job.id });
    }, "link")] : []),
    ...(view.facts.length > 0 ? [facts(view.facts)] : []),
    ...view.details.map((text) => element("pre", { class: "detail", text })),
  ];
  return folded(head, rest, "call");
}

function markdown(kind: "answer" | "thought", text: string, actions: Actions): { body: HTMLElement; append: (text: string) => void } {
  const body = element("div", { class: `markdown ${kind}` });
  const streamed = new Streamed();
  let open: HTMLElement[] = [];
  const append = (piece: string): void => {
    const next = streamed.append(piece);
    for (const each of open) {
      each.remove();
    }
    open = blocks(next.open, actions);
    body.append(...blocks(next.done, actions), ...open);
  };
  append(text);
  return { body, append };
}

function plan(view: Extract<EntryView, { kind: "plan" }>, send: Send): HTMLElement {
  const head = [
    element("strong", { text: `Plan: ${view.title}` }),
    element("span", { class: "state", text: ` · ${view.state}` }),
  ];
  const read = button("Read it", "Open the plan as a document", () => {
    send({ type: "openPlan", id: view.id });
  }, "link");
  if (!view.waits) {
    return folded(head, () => [read, facts(view.facts)], "call");
  }
  const card = element("section", { class: "card waits" }, ...head, facts(view.facts));
  card.ariaLabel = `Plan: ${view.title}`;
  card.append(
    element(
      "div",
      { class: "buttons" },
      button("Accept plan", "Let through what it names", () => {
        send({ type: "acceptPlan", id: view.id });
      }, "primary"),
      button("Reject", "Nothing of it runs", () => {
        send({ type: "rejectPlan", id: view.id });
      }),
      read,
    ),
  );
  return card;
}

function end(view: Extract<EntryView, { kind: "end" }>, send: Send): HTMLElement {
  const made = element("div", { class: view.failed ? "end failed" : "end" }, element("span", { text: `■ ${view.text}` }));
  if (view.hint !== "") {
    made.append(element("p", { text: view.hint }));
  }
  const { transaction } = view;
  if (transaction) {
    made.append(
      " ",
      button(transaction.label, "Show the transaction", () => {
        send({ type: "openTransaction", id: transaction.id });
      }, "link"),
    );
  }
  return made;
}

function list(view: Extract<EntryView, { kind: "list" }>): HTMLElement {
  const signs = { pending: "☐", in_progress: "▶", completed: "☑" } as const;
  const done = view.items.filter((item) => item.status === "completed").length;
  const made = element("div", { class: "todo" }, element("strong", { text: `Plan · ${done} of ${view.items.length} done` }));
  const items = view.items.map((item) =>
    element("li", { class: item.status, text: `${signs[item.status]} ${item.text}${item.status === "in_progress" ? " · under way" : ""}` }),
  );
  made.append(element("ul", {}, ...items));
  return made;
}

function body(view: EntryView, send: Send, actions: Actions): { body: HTMLElement; append?: (text: string) => void } {
  switch (view.kind) {
    case "user":
      return { body: element("div", { class: "user" }, element("h2", { text: "You" }), element("div", { class: "said", text: view.text })) };
    case "heading":
      return { body: element("h2", { text: view.text }) };
    case "answer":
      return markdown("answer", view.text, actions);
    case "thought": {
      const words = view.text.split(/\s+/).length;
      const inner = markdown("thought", view.text, actions);
      const made = element("details", { class: "call" }, element("summary", { text: `reasoning · ${words} words` }), inner.body);
      return { body: made, append: inner.append };
    }
    case "call":
      return { body: call(view, send) };
    case "list":
      return { body: list(view) };
    case "plan":
      return { body: plan(view, send) };
    case "notice":
      return { body: element("p", { class: `notice ${view.level}`, text: `${view.level === "warning" ? "Warning" : "Note"}: ${view.text}` }) };
    case "decisions":
      return { body: folded(["your decisions · told to the model"], () => [element("pre", { class: "detail", text: view.text })], "call") };
    case "end":
      return { body: end(view, send) };
  }
}

export function draw(view: EntryView, send: Send, actions: Actions): Drawn {
  const made = body(view, send, actions);
  const root = element("article", { class: `entry ${view.kind}-entry` }, made.body);
  return { root, view, append: made.append ?? ((): void => undefined) };
}
