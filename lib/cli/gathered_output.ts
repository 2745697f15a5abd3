/**
 * Output that is written once for many small pieces: a model's words come in thousands of them, and
 * each write is a call of the system, and wakes up who reads it.
 *
 * @module
 */
import type { Io } from "./mode.ts";

/** Milliseconds that a piece is held back at most; shorter than what an eye can see. */
const HOLD_MS = 8;

/** Characters that are not held back any longer. */
const MAX_HELD = 64 * 1024;

/** Two streams whose pieces reach them in the order in which they were written. */
export interface GatheredOutput extends Pick<Io, "out" | "err"> {
  /** Writes what is held back now. To be called at the end. */
  readonly flush: () => void;
}

/** Gathers what follows quickly on something that was written; the first piece is written at once. */
export function gatherOutput(io: Pick<Io, "out" | "err">): GatheredOutput {
  let held = "";
  let side: "out" | "err" = "out";
  let timer: ReturnType<typeof setTimeout> | undefined;
  const write = () => {
    const text = held;
    held = "";
    if (text !== "") io[side](text);
  };
  const due = () => {
    timer = undefined;
    if (held === "") return;
    write();
    timer = setTimeout(due, HOLD_MS);
  };
  const take = (to: "out" | "err", text: string) => {
    if (to !== side) write();
    side = to;
    held += text;
    if (timer === undefined) {
      write();
      timer = setTimeout(due, HOLD_MS);
    } else if (held.length > MAX_HELD) {
      write();
    }
  };
  return {
    out: (text) => take("out", text),
    err: (text) => take("err", text),
    flush() {
      clearTimeout(timer);
      timer = undefined;
      write();
    },
  };
}
