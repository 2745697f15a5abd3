/**
 * Holding back text that may turn out to be a call, so that nobody is shown the notation.
 *
 * @module
 */
import { beginsLikeCall } from "./text_calls.ts";

/** Takes the text of an answer piece by piece. */
export interface CallHolder {
  /** Takes the next piece. Text that cannot be part of a call is passed on at once. */
  push(text: string): void;
  /** Returns what was held back and is not passed on. To be called at the end. */
  take(): string;
}

/** Creates a holder that passes text on to `onText`. */
export function createCallHolder(onText: (text: string) => void): CallHolder {
  let held = "";
  let first = true;
  let lineStart = true;
  let caught = false;

  return {
    push(text) {
      held += text;
      if (!caught) release();
    },
    take() {
      const rest = held;
      held = "";
      return rest;
    },
  };

  /** Passes on all that stands before the first line that may begin a call. */
  function release(): void {
    let at = lineStart ? 0 : nextLine(0);
    while (at >= 0 && at < held.length) {
      // White space before the first word does not end the beginning.
      const begins = beginsLikeCall(held.slice(at), first);
      if (begins !== "no") {
        caught = begins === "yes";
        pass(at);
        return;
      }
      first = false;
      at = nextLine(at);
    }
    pass(held.length);
  }

  function nextLine(from: number): number {
    return held.indexOf("\n", from) + 1 || -1;
  }

  function pass(end: number): void {
    const text = held.slice(0, end);
    held = held.slice(end);
    if (text === "") return;
    lineStart = text.endsWith("\n");
    onText(text);
  }
}
