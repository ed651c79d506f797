/** Conversations: which there are, which one is current, what the user asks of them. No UI. */

import * as vscode from "vscode";
import type {
  ContentBlock,
  Mode,
  PromptContext,
  SessionState,
  SessionUpdate,
  SessionUpdateNotification,
  UsageUpdate,
} from "redline-protocol";
import { type Changes, Transcript, noChanges } from "./transcript.ts";
import { attempt, failureOf } from "../failure.ts";
import type { Folder } from "../folder.ts";
import type { Folders } from "../folders.ts";

/** Something that goes with the next prompt. */
export interface Attachment {
  readonly label: string;
  /** What the prompt carries of it; a link is left out where the place itself is what the prompt is about. */
  readonly block?: ContentBlock;
  /** A place: the first one that is attached is what the prompt is about. */
  readonly context?: PromptContext;
}

export interface Conversation {
  readonly folder: Folder;
  sessionId: string | undefined;
  title: string;
  model: string;
  mode: Mode | undefined;
  state: SessionState;
  activity: string;
  usage: UsageUpdate | undefined;
  turnId: string | undefined;
  /** Its history arrives. */
  loading: boolean;
  /** What arrives next takes the place of what is shown. */
  stale: boolean;
  transcript: Transcript;
  attachments: Attachment[];
}

export interface Happened {
  readonly conversation: Conversation;
  readonly changes: Changes;
  /** All that was shown goes. */
  readonly reset: boolean;
}

export class Conversations implements vscode.Disposable {
  readonly #folders: Folders;
  readonly #all: Conversation[] = [];
  readonly #current = new Map<Folder, Conversation>();
  readonly #happened = new vscode.EventEmitter<Happened>();
  readonly #subscriptions: vscode.Disposable[];
  readonly onDidHappen = this.#happened.event;

  constructor(folders: Folders) {
    this.#folders = folders;
    this.#subscriptions = [
      this.#happened,
      folders.onDidAdd((folder) => {
        folder.on("redline/session/update", (params) => {
          this.#update(folder, params);
        });
      }),
      folders.onDidRenew((folder) => {
        this.#reattach(folder);
      }),
    ];
  }

  #make(folder: Folder): Conversation {
    const conversation: Conversation = {
      folder,
      sessionId: undefined,
      title: "",
      model: "",
      mode: undefined,
      state: "idle",
      activity: "",
      usage: undefined,
      turnId: undefined,
      loading: false,
      stale: false,
      transcript: new Transcript(),
      attachments: [],
    };
    this.#all.push(conversation);
    return conversation;
  }

  /** The conversation that prompts of a folder go to; made when there is none. */
  current(folder: Folder): Conversation {
    const present = this.#current.get(folder) ?? this.#make(folder);
    this.#current.set(folder, present);
    return present;
  }

  /** Like `current`, but makes none. */
  present(folder: Folder): Conversation | undefined {
    return this.#current.get(folder);
  }

  /** Tells those who show it. */
  touch(conversation: Conversation, changes = noChanges(), reset = false): void {
    this.#happened.fire({ conversation, changes, reset });
  }

  /** Begins another conversation, which takes the folder's prompts from now on. */
  begin(folder: Folder): Conversation {
    const conversation = this.#make(folder);
    this.#current.set(folder, conversation);
    this.touch(conversation, noChanges(), true);
    return conversation;
  }

  #find(folder: Folder, sessionId: string): Conversation | undefined {
    return this.#all.find((each) => each.folder === folder && each.sessionId === sessionId);
  }

  #update(folder: Folder, { sessionId, turnId, updates }: SessionUpdateNotification): void {
    let conversation = this.#find(folder, sessionId);
    if (!conversation) {
      // Begun elsewhere for this editor, by a code action.
      const present = this.#current.get(folder);
      conversation = present && present.sessionId === undefined ? present : this.#make(folder);
      conversation.sessionId = sessionId;
      if (!this.#current.has(folder)) {
        this.#current.set(folder, conversation);
      }
    }
    const reset = conversation.stale;
    if (reset) {
      conversation.stale = false;
      conversation.transcript = new Transcript();
      conversation.usage = undefined;
      conversation.activity = "";
    }
    const changes = noChanges();
    conversation.turnId = turnId ?? conversation.turnId;
    for (const update of updates) {
      this.#take(conversation, update, turnId ?? undefined, changes);
    }
    this.touch(conversation, changes, reset);
  }

  #take(conversation: Conversation, update: SessionUpdate, turnId: string | undefined, changes: Changes): void {
    const { transcript } = conversation;
    switch (update.sessionUpdate) {
      case "state_update":
        conversation.state = update.state;
        conversation.activity = update.state === "idle" ? "" : conversation.activity;
        break;
      case "usage_update":
        conversation.usage = update;
        break;
      case "current_mode_update":
        if (conversation.mode !== undefined && conversation.mode !== update.currentModeId) {
          transcript.notice("info", `the mode is now ${update.currentModeId}`, turnId, changes);
        }
        conversation.mode = update.currentModeId;
        break;
      case "current_model_update":
        if (conversation.model !== "" && conversation.model !== update.currentModelId) {
          transcript.notice("info", `the model is now ${update.currentModelId}`, turnId, changes);
        }
        conversation.model = update.currentModelId;
        break;
      case "session_info_update":
        conversation.title = update.title ?? conversation.title;
        break;
      case "tool_call_update":
        if (update.status === "in_progress") {
          conversation.activity = update.title ?? update._tool ?? conversation.activity;
        } else if (update.status != null) {
          conversation.activity = "";
        }
        break;
      case "replay_complete":
        conversation.loading = false;
        break;
      case "user_message":
      case "agent_message_chunk":
      case "agent_thought_chunk":
      case "plan_update":
      case "_transaction":
      case "_decisions":
      case "_notice":
        break;
    }
    const model = conversation.model === "" ? conversation.folder.model : conversation.model;
    transcript.apply(update, turnId, model, changes);
  }

  /** Sends a prompt with what is attached to it. */
  async send(conversation: Conversation, text: string): Promise<void> {
    const { folder, attachments } = conversation;
    const wasIdle = conversation.state === "idle";
    if (wasIdle) {
      conversation.state = "running";
      conversation.activity = "asking";
      this.touch(conversation);
    }
    const context = attachments.find((each) => each.context)?.context ?? null;
    const prompt = attachments.flatMap(({ block, context: own }) =>
      block && (block.type === "text" || own !== context) ? [block] : [],
    );
    try {
      const sessionId = await this.#session(conversation);
      const result = await folder.request("redline/session/prompt", { sessionId, prompt, text, context });
      conversation.attachments = conversation.attachments.filter((each) => !attachments.includes(each));
      const changes = noChanges();
      if (result.turnId !== "") {
        conversation.turnId = result.turnId;
      } else if (wasIdle) {
        conversation.state = "idle";
        conversation.activity = "";
      }
      if (result.message != null && result.message !== "") {
        conversation.transcript.notice("info", result.message, undefined, changes);
      }
      this.touch(conversation, changes);
    } catch (error) {
      const failure = failureOf(error);
      const changes = noChanges();
      if (wasIdle) {
        conversation.state = "idle";
        conversation.activity = "";
      }
      conversation.transcript.notice("warning", `${failure.code}: ${failure.message}. ${failure.hint}`, undefined, changes);
      this.touch(conversation, changes);
      throw failure;
    }
  }

  async #session(conversation: Conversation): Promise<string> {
    if (conversation.sessionId !== undefined) {
      return conversation.sessionId;
    }
    const { sessionId } = await conversation.folder.request("redline/session/new", {
      model: conversation.model === "" ? null : conversation.model,
      mode: conversation.mode ?? null,
      // That of `redline lsp`, which the sidecar reduces to what programs need: keys are not among it.
      env: null,
    });
    // An update of it may have been faster.
    conversation.sessionId ??= sessionId;
    return conversation.sessionId;
  }

  async stop(conversation: Conversation): Promise<void> {
    await conversation.folder.request("redline/session/cancel", { sessionId: conversation.sessionId ?? null });
  }

  async setMode(conversation: Conversation, modeId: Mode): Promise<void> {
    const sessionId = conversation.sessionId ?? null;
    const result = await conversation.folder.request("redline/session/set_mode", { sessionId, modeId });
    conversation.mode = result.modeId;
    if (sessionId === null) {
      conversation.folder.mode = result.modeId;
      conversation.folder.touch();
    }
    this.touch(conversation);
  }

  async setModel(conversation: Conversation, modelId: string): Promise<void> {
    if (conversation.sessionId !== undefined) {
      await conversation.folder.request("redline/session/set_model", { sessionId: conversation.sessionId, modelId });
    }
    conversation.model = modelId;
    this.touch(conversation);
  }

  /** Takes part in a session: its history is sent, and what happens from now on. */
  async load(folder: Folder, sessionId: string): Promise<Conversation> {
    const conversation = this.#find(folder, sessionId) ?? this.#make(folder);
    // What is shown stays until its history arrives, or for good when it does not.
    conversation.sessionId = sessionId;
    conversation.loading = true;
    conversation.stale = true;
    this.#current.set(folder, conversation);
    this.touch(conversation, noChanges(), true);
    const changes = noChanges();
    try {
      const { session, repaired } = await folder.request("redline/session/load", { sessionId, replay: true });
      conversation.title = session.title ?? "";
      conversation.model = session.model;
      conversation.mode = session.mode;
      conversation.state = session.state;
      if (repaired != null) {
        conversation.transcript.notice("warning", repaired, undefined, changes);
      }
    } catch (error) {
      conversation.state = "idle";
      conversation.activity = "";
      const { message } = failureOf(error);
      conversation.transcript.notice("warning", `this conversation could not be loaded: ${message}`, undefined, changes);
      throw error;
    } finally {
      conversation.loading = false;
      conversation.stale = false;
      this.touch(conversation, changes);
    }
    return conversation;
  }

  /** Takes part again in what this editor shows, after the sidecar was replaced. */
  #reattach(folder: Folder): void {
    for (const conversation of this.#all.filter((each) => each.folder === folder)) {
      if (folder.isRunning && conversation.sessionId !== undefined) {
        const current = this.#current.get(folder);
        void attempt(async () => {
          await this.load(folder, conversation.sessionId ?? "");
          if (current) {
            this.#current.set(folder, current);
          }
        });
      } else {
        conversation.state = "idle";
        conversation.activity = "";
        this.touch(conversation);
      }
    }
  }

  /** What the current conversation of a folder does, for status lines. */
  activity(folder: Folder): string {
    const conversation = this.#current.get(folder);
    if (!conversation || conversation.state === "idle") {
      return "";
    }
    return conversation.state === "requires_action" ? "waits for you" : conversation.activity || "running";
  }

  get folders(): Folders {
    return this.#folders;
  }

  dispose(): void {
    vscode.Disposable.from(...this.#subscriptions).dispose();
  }
}
