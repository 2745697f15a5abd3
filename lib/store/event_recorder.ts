/**
 * From the events of a front end to what is saved of them: pieces of text joined, calls with how they
 * ended, nothing that only mattered while it happened.
 *
 * @module
 */
import { clearTimeout, setTimeout } from "node:timers";
import type { EngineEvent } from "../engine/events.ts";
import type { SavedEvent } from "./record.ts";

/**
 * Text that streams is saved at least this often, in milliseconds, so that a long answer is not lost
 * when mm is killed in the middle of it.
 */
const TEXT_INTERVAL_MS = 1000;

type TextEvent = Extract<SavedEvent, { type: "text" | "thought" }>;

/** Saves events. */
export class EventRecorder {
  readonly #save: (event: SavedEvent) => void;
  /** Text that was shown and is not saved yet. */
  #text: TextEvent | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Creates the recorder; `save` must not throw. */
  constructor(save: (event: SavedEvent) => void) {
    this.#save = save;
  }

  /** Takes an event. */
  take(event: EngineEvent): void {
    switch (event.type) {
      case "text":
      case "thought":
        return this.#takeText(event);
      case "tool_update":
        // A call is saved when it is announced and when it is over.
        if (event.status === "completed" || event.status === "failed") {
          const { call: _, ...end } = event;
          this.#takeWhole(end);
        }
        return;
      case "ask_end":
        return this.#takeWhole(withoutCause(event));
      case "user":
      case "tool_call":
      case "plan":
      case "notice":
      case "ask_start":
        return this.#takeWhole(event);
      default:
        // Output of a running call, counts of tokens, signs of life: of no use afterwards.
        return;
    }
  }

  /** Saves the text that was held back. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const text = this.#text;
    this.#text = undefined;
    if (text !== undefined) this.#save(text);
  }

  #takeWhole(event: SavedEvent): void {
    this.flush();
    this.#save(event);
  }

  #takeText(event: TextEvent): void {
    const held = this.#text;
    if (held !== undefined && held.type === event.type && held.messageId === event.messageId) {
      this.#text = { ...held, text: held.text + event.text };
      return;
    }
    this.flush();
    if (event.text === "") return;
    this.#text = event;
    this.#timer = setTimeout(() => this.flush(), TEXT_INTERVAL_MS);
    this.#timer.unref();
  }
}

/** What was thrown is for messages of this process, and may hold anything. */
function withoutCause(event: Extract<EngineEvent, { type: "ask_end" }>): SavedEvent {
  if (event.end.kind !== "failed") return event;
  return { ...event, end: { kind: "failed", reason: event.end.reason } };
}
