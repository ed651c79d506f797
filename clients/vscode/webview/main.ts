/** The page of the conversation: takes entries and shows them; keeps what is typed; follows the end while it is seen. */

import { type Drawn, draw } from "./entries.ts";
import { button, element } from "./render.ts";
import type { Bar, EntryView, FromView, ToView } from "../src/conversation/messages.ts";

interface State {
  readonly typed: string;
}

declare function acquireVsCodeApi(): {
  postMessage(message: FromView): void;
  getState(): State | undefined;
  setState(state: State): void;
};

const host = acquireVsCodeApi();
const send = (message: FromView): void => {
  host.postMessage(message);
};
const actions = {
  link: (url: string): void => {
    send({ type: "openLink", url });
  },
  copy: (text: string): void => {
    send({ type: "copy", text });
  },
};

function find<T extends HTMLElement>(id: string, type: new () => T): T {
  const found = document.getElementById(id);
  if (!(found instanceof type)) {
    throw new Error(`the page has no ${id}`);
  }
  return found;
}

const log = find("log", HTMLElement);
const latest = find("latest", HTMLButtonElement);
const status = find("status", HTMLElement);
const form = find("form", HTMLFormElement);
const prompt = find("prompt", HTMLTextAreaElement);
const attachments = find("attachments", HTMLElement);
const mode = find("mode", HTMLSelectElement);
const model = find("model", HTMLButtonElement);
const stop = find("stop", HTMLButtonElement);
const submit = find("send", HTMLButtonElement);

/** Entries are put into the page, and taken out of it, so many at a time: those around what is seen. */
const PAGE = 400;

const entries = new Map<string, Drawn | EntryView>();
/** Keys in order; those from `from` to `to` are in the page. */
let keys: string[] = [];
let from = 0;
let to = 0;
let queue: ToView[] = [];
let scheduled = false;
let following = true;

function isDrawn(entry: Drawn | EntryView | undefined): entry is Drawn {
  return entry !== undefined && "root" in entry;
}

function drawn(key: string): Drawn | undefined {
  const entry = entries.get(key);
  if (entry === undefined || isDrawn(entry)) {
    return entry;
  }
  const made = draw(entry, send, actions);
  entries.set(key, made);
  return made;
}

/** Puts older entries before those in the page, without moving what is seen. */
function earlier(): void {
  if (from === 0) {
    return;
  }
  const next = Math.max(0, from - PAGE);
  const before = log.scrollHeight - log.scrollTop;
  log.prepend(...keys.slice(next, from).flatMap((key) => drawn(key)?.root ?? []));
  from = next;
  log.scrollTop = log.scrollHeight - before;
  lastTop = log.scrollTop;
}

/** Puts newer entries after those in the page. */
function later(): void {
  const next = Math.min(keys.length, to + PAGE);
  log.append(...keys.slice(to, next).flatMap((key) => drawn(key)?.root ?? []));
  to = next;
}

/** Shows the end, and nothing that lies far before it. */
function showEnd(): void {
  for (const key of keys.slice(from, to)) {
    const entry = entries.get(key);
    if (isDrawn(entry)) {
      entry.root.remove();
    }
  }
  from = Math.max(0, keys.length - PAGE);
  to = from;
  later();
}

function put(view: EntryView): void {
  const present = entries.get(view.key);
  if (present === undefined) {
    entries.set(view.key, view);
    keys.push(view.key);
    // Who reads above gets what comes when they scroll down to it.
    const near = to === keys.length - 1 && (following || to - from < 2 * PAGE);
    if (near) {
      const made = drawn(view.key);
      to = keys.length;
      if (made) {
        log.append(made.root);
      }
    }
    return;
  }
  if (!isDrawn(present)) {
    entries.set(view.key, view);
    return;
  }
  if (JSON.stringify(present.view) === JSON.stringify(view)) {
    return;
  }
  const made = draw(view, send, actions);
  // What was unfolded stays so, and what has the focus keeps it where it can.
  const open = present.root.querySelector("details")?.open === true;
  const focused = present.root.contains(document.activeElement);
  entries.set(view.key, made);
  present.root.replaceWith(made.root);
  const details = made.root.querySelector("details");
  if (details && open) {
    details.open = true;
  }
  if (focused) {
    (made.root.querySelector<HTMLElement>("button, summary") ?? prompt).focus();
  }
}

function append(key: string, text: string): void {
  const entry = entries.get(key);
  if (isDrawn(entry)) {
    entry.append(text);
  } else if (entry && "text" in entry) {
    entries.set(key, { ...entry, text: entry.text + text });
  }
}

/** Takes the oldest out of the page while its end is followed. */
function trim(): void {
  if (following && to - from > 2 * PAGE) {
    showEnd();
  }
}

function reset(all: readonly EntryView[]): void {
  entries.clear();
  log.replaceChildren();
  keys = all.map((view) => view.key);
  for (const view of all) {
    entries.set(view.key, view);
  }
  from = Math.max(0, keys.length - PAGE);
  to = from;
  later();
  following = true;
  if (keys.length === 0) {
    log.append(
      element(
        "div",
        { class: "empty" },
        element("p", { text: "Ask for a change: what an agent proposes waits in your files until you accept it." }),
        element("p", { text: "Enter sends, Shift+Enter begins a new line, Escape stops the turn." }),
      ),
    );
  }
}

let told = "";

function setBar(bar: Bar): void {
  const running = bar.state !== "idle";
  const states = { running: bar.activity === "" ? "running" : bar.activity, idle: "idle", requires_action: "waits for you" };
  const text = bar.unavailable === "" ? [states[bar.state], bar.usage].filter((part) => part !== "").join(" · ") : bar.unavailable;
  // A live region is read aloud whenever it is set.
  if (text !== told) {
    told = text;
    status.textContent = text;
  }
  status.className = bar.unavailable === "" ? bar.state : "unavailable";
  mode.value = bar.mode;
  model.textContent = bar.model.split("/").at(-1) ?? "model";
  model.ariaLabel = `Model: ${bar.model}. Choose another`;
  // One takes the other's place: nothing moves under the pointer.
  stop.hidden = !running;
  submit.hidden = running;
  submit.disabled = bar.unavailable !== "";
  attachments.replaceChildren(
    ...bar.attachments.map((label, index) => {
      const drop = button("×", `Leave out ${label}`, () => {
        send({ type: "detach", index });
      });
      drop.ariaLabel = `Leave out ${label}`;
      return element("li", {}, element("span", { text: label }), drop);
    }),
  );
}

function handle(message: ToView): void {
  switch (message.type) {
    case "reset":
      reset(message.entries);
      setBar(message.bar);
      break;
    case "patch":
      if (keys.length === 0 && message.puts.length > 0) {
        log.replaceChildren();
      }
      message.puts.forEach(put);
      for (const { key, text } of message.appends) {
        append(key, text);
      }
      trim();
      break;
    case "bar":
      setBar(message.bar);
      break;
    case "prompt":
      prompt.value = message.text;
      prompt.focus();
      break;
  }
}

function flush(): void {
  scheduled = false;
  const messages = queue;
  queue = [];
  messages.forEach(handle);
  if (following) {
    toEnd();
    // What comes into view takes its real height only now.
    requestAnimationFrame(toEnd);
  }
  latest.hidden = following;
}

let lastTop = 0;

function toEnd(): void {
  if (following) {
    log.scrollTop = log.scrollHeight;
    lastTop = log.scrollTop;
  }
}

window.addEventListener("message", (event: MessageEvent<ToView>) => {
  queue.push(event.data);
  if (!scheduled) {
    scheduled = true;
    requestAnimationFrame(flush);
  }
});

log.addEventListener("scroll", () => {
  const left = log.scrollHeight - log.scrollTop - log.clientHeight;
  // Entries that grow move nothing up: only a reader does.
  if (left < 24 && to === keys.length) {
    following = true;
  } else if (log.scrollTop < lastTop) {
    following = false;
  }
  lastTop = log.scrollTop;
  latest.hidden = following;
  if (log.scrollTop < 200 && !following) {
    earlier();
  }
  if (left < 200 && to < keys.length) {
    later();
  }
});

latest.addEventListener("click", () => {
  following = true;
  if (to < keys.length) {
    showEnd();
  }
  toEnd();
  latest.hidden = true;
});

function ask(): void {
  const text = prompt.value.trim();
  if (text !== "" && !submit.disabled) {
    send({ type: "send", text });
    prompt.value = "";
    host.setState({ typed: "" });
    following = true;
  }
}

form.addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});

prompt.addEventListener("keydown", (event) => {
  // While an input method composes, Enter belongs to it.
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    ask();
  }
});

prompt.addEventListener("input", () => {
  host.setState({ typed: prompt.value });
});

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape" && !stop.hidden) {
    send({ type: "stop" });
  }
});

stop.addEventListener("click", () => {
  send({ type: "stop" });
});
mode.addEventListener("change", () => {
  const chosen = mode.value;
  if (chosen === "manual" || chosen === "plan" || chosen === "auto") {
    send({ type: "mode", mode: chosen });
  }
});
model.addEventListener("click", () => {
  send({ type: "pickModel" });
});
for (const what of ["selection", "file", "problem"] as const) {
  find(`attach-${what}`, HTMLButtonElement).addEventListener("click", () => {
    send({ type: "attach", what });
  });
}

// What was typed before this ran stays.
prompt.value ||= host.getState()?.typed ?? "";
send({ type: "ready" });
