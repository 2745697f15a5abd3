/**
 * What happens in a session, as the updates an editor gets.
 *
 * @module
 */
import { randomUUID } from "node:crypto";
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { headOf } from "../base/cut.ts";
import type { EngineEvent } from "../engine/events.ts";
import { type TaskEvent, taskWords } from "../engine/task_words.ts";
import { CallUpdates } from "./call_updates.ts";
import { compactionUpdate } from "./compaction_updates.ts";
import { boundTitle, MAX_PART } from "./limits.ts";
import { metaOf } from "./meta.ts";

/** Options of {@linkcode SessionUpdates}. */
export interface SessionUpdatesOptions {
  /** Sends one update; must not throw. */
  readonly send: (update: SessionUpdate) => void;
  /** Whether the client takes `notice` updates. */
  readonly notices: boolean;
  /** Whether the client takes updates about compressions. @default {false} */
  readonly compactions?: boolean;
  /** The session's directory, for a client that draws terminals. @default {it does not} */
  readonly terminals?: string;
}

type EventOf<Type extends EngineEvent["type"]> = Extract<EngineEvent, { type: Type }>;

/** Turns the events of one session into updates, in order. */
export class SessionUpdates {
  readonly #options: SessionUpdatesOptions;
  readonly #calls: CallUpdates;
  /** Updates that happened before the client knew the session; `undefined` once it does. */
  #held: SessionUpdate[] | undefined = [];
  /** The first half of a character whose second half is in the next piece. */
  #half = { messageId: "", unit: "" };
  /** The `ask_agent` call of each ask that the model made. */
  readonly #asks = new Map<string, string>();
  /** Notices that came between prompts, for a client that has a place for them only in an answer. */
  readonly #later: SessionUpdate[] = [];
  /** What the session has cost in US dollars, where the server says so. */
  #cost: number | undefined;
  #prompting = false;
  #shown = false;
  #speaker: string | undefined;

  /** Creates the updates of one session. */
  constructor(options: SessionUpdatesOptions) {
    this.#options = options;
    this.#calls = new CallUpdates({
      send: (update) => this.send(update),
      ...(options.terminals === undefined ? {} : { terminals: options.terminals }),
    });
  }

  /** Whether the person was shown any text since the prompt began. */
  get shown(): boolean {
    return this.#shown;
  }

  /** The asked agent of a typed ask in this prompt, where there was one. */
  get speaker(): string | undefined {
    return this.#speaker;
  }

  /** The client knows the session now: everything that waited goes out. */
  open(): void {
    const held = this.#held;
    this.#held = undefined;
    for (const update of held ?? []) this.#options.send(update);
  }

  /** A prompt begins. */
  begin(): void {
    this.open();
    this.#prompting = true;
    this.#shown = false;
    this.#speaker = undefined;
    for (const update of this.#later.splice(0)) this.send(update);
  }

  /** A prompt ended: nothing of it may follow its reply, and no call stays open. */
  end(): void {
    this.#prompting = false;
    this.#calls.end();
  }

  /** Stops what is due later. */
  close(): void {
    this.#calls.close();
  }

  /** Sends an update in its place. */
  send(update: SessionUpdate): void {
    if (this.#held !== undefined) this.#held.push(update);
    else this.#options.send(update);
  }

  /** Takes one event of the engine. */
  take(event: EngineEvent): void {
    switch (event.type) {
      case "user":
        return this.#chunk("user_message_chunk", event);
      case "text":
        this.#shown = true;
        return this.#chunk("agent_message_chunk", event);
      case "thought":
        return this.#chunk("agent_thought_chunk", event);
      case "tool_call":
        return this.#calls.announce(event.call);
      case "tool_update":
        return this.#calls.update(event);
      case "tool_output":
        return this.#calls.output(event);
      case "plan":
        return this.send({ sessionUpdate: "plan", entries: [...event.entries] });
      case "usage":
        return this.#usage(event);
      case "alive":
        // Says nothing to an editor; an asking mm counts it as a sign of life.
        return this.send({ sessionUpdate: "session_info_update" });
      case "notice":
        return this.#notice(event);
      case "compaction_start":
      case "compaction_text":
      case "compaction_end":
        if (this.#options.compactions === true) this.send(compactionUpdate(event));
        return;
      case "ask_start":
        return this.#askStart(event);
      case "ask_end":
        return this.#askEnd(event);
      case "task":
        return this.#task(event);
    }
  }

  /** Shows text of mm itself as part of the answer. */
  say(text: string): void {
    this.#shown = true;
    this.send({
      sessionUpdate: "agent_message_chunk",
      messageId: randomUUID(),
      content: { type: "text", text },
    });
  }

  #chunk(
    sessionUpdate: "user_message_chunk" | "agent_message_chunk" | "agent_thought_chunk",
    event: EventOf<"user"> | EventOf<"text"> | EventOf<"thought">,
  ): void {
    const { messageId } = event;
    const agent = event.type === "user" ? undefined : event.agent;
    let rest = this.#half.messageId === messageId ? this.#half.unit + event.text : event.text;
    const last = rest.charCodeAt(rest.length - 1);
    const split = last >= 0xd800 && last <= 0xdbff;
    this.#half = { messageId, unit: split ? rest.slice(-1) : "" };
    if (split) rest = rest.slice(0, -1);
    while (rest !== "") {
      const text = headOf(rest, MAX_PART);
      rest = rest.slice(text.length);
      this.send({
        sessionUpdate,
        messageId,
        content: { type: "text", text },
        ...(agent === undefined ? {} : { _meta: metaOf({ agent }) }),
      });
    }
  }

  #askStart(event: EventOf<"ask_start">): void {
    const { askId, agent, title, callId } = event;
    if (callId === undefined) {
      this.#speaker = agent;
      return;
    }
    this.#asks.set(askId, callId);
    if (title !== agent) this.#calls.retitle(callId, title);
  }

  #askEnd(event: EventOf<"ask_end">): void {
    const callId = this.#asks.get(event.askId);
    this.#asks.delete(event.askId);
    if (callId !== undefined && event.label !== undefined) {
      this.#calls.retitle(callId, event.label);
    }
  }

  /** Work in the background has no place in the protocol, and between prompts nothing has. */
  #task(event: TaskEvent): void {
    if (!this.#prompting || event.state !== "ended") return;
    this.#notice({ type: "notice", severity: "info", text: boundTitle(taskWords(event)) });
  }

  #usage(event: EventOf<"usage">): void {
    const { used, size, cost } = event;
    if (cost !== undefined) this.#cost = (this.#cost ?? 0) + cost;
    // The protocol has no usage without a window: where none is known there is nothing to send.
    if (size === undefined) return;
    this.send({
      sessionUpdate: "usage_update",
      used,
      size,
      // Of the whole session, as the protocol wants it.
      ...(this.#cost === undefined ? {} : { cost: { amount: this.#cost, currency: "USD" } }),
    });
  }

  #notice(event: EventOf<"notice">): void {
    const text = headOf(event.text, MAX_PART);
    if (text === "") return;
    // An asked agent's notice belongs to the call that asks it, as its words do.
    if (event.callId !== undefined) {
      return this.#calls.output({
        type: "tool_output",
        callId: event.callId,
        text: `${text}\n`,
        thought: true,
      });
    }
    if (this.#prompting) this.#shown ||= event.severity !== "info";
    if (this.#options.notices) {
      return this.send({ sessionUpdate: "notice", severity: event.severity, title: text });
    }
    // An older client has no place for notices: information goes where thoughts go, a warning has to
    // be seen and goes where the answer goes.
    const update: SessionUpdate = {
      sessionUpdate: event.severity === "info" ? "agent_thought_chunk" : "agent_message_chunk",
      messageId: randomUUID(),
      content: { type: "text", text: `${text}\n\n` },
      _meta: metaOf({ notice: event.severity }),
    };
    // Between prompts there is no answer to put it into.
    if (this.#prompting) this.send(update);
    else this.#later.push(update);
  }
}
