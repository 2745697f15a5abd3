/**
 * The answer of `-p` where several turns give one: what the last of them says, and nothing else, goes to
 * a script.
 *
 * @module
 */
import type { Emit, EngineEvent } from "../engine/events.ts";

/** Options of {@linkcode createLastAnswer}. */
export interface LastAnswerOptions {
  /** Takes the events, the text of the answer among them. */
  readonly show: Emit;
  /** Takes what a turn said that was not the last one. */
  readonly aside: (text: string) => void;
  /** Whether something runs in the background, also what no event told of yet. @default {nothing does} */
  readonly working?: () => boolean;
}

/** Holds text back from the moment on that another turn may follow. */
export interface LastAnswer {
  /** Takes an event. */
  readonly event: Emit;
  /** Another turn follows: what was held back is not the answer. */
  readonly followed: () => void;
  /** No other turn follows: what was held back is the answer. */
  readonly end: () => void;
}

/**
 * Creates it. As long as nothing runs in the background, the text passes as it comes: a turn that starts
 * nothing is the last one.
 */
export function createLastAnswer(
  { show, aside, working = () => false }: LastAnswerOptions,
): LastAnswer {
  let holding = false;
  const held: Extract<EngineEvent, { type: "text" }>[] = [];
  return {
    event(event) {
      const begins = event.type === "task" && event.state !== "ended";
      if (begins || working()) holding = true;
      if (holding && event.type === "text") held.push(event);
      else show(event);
    },
    followed() {
      let text = "";
      let messageId = held[0]?.messageId;
      for (const event of held.splice(0)) {
        // Another message begins on a line of its own.
        if (event.messageId !== messageId) text = `${text.trimEnd()}\n`;
        messageId = event.messageId;
        text += event.text;
      }
      if (text.trim() !== "") aside(text.trim());
    },
    end: () => held.splice(0).forEach(show),
  };
}
