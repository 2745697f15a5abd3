/**
 * What Ctrl-C does: it cancels the turn that runs; a second one soon after leaves.
 *
 * @module
 */
import process from "node:process";

/** Two interrupts within this time mean that the person wants to leave. */
const TWICE_MS = 2000;

/** Options of {@linkcode createInterrupts}. */
export interface InterruptOptions {
  /** A first Ctrl-C. */
  readonly onFirst: () => void;
  /** A second one within two seconds. */
  readonly onSecond: () => void;
  /** @default {performance.now} */
  readonly now?: () => number;
}

/** Returns what is to be called at each Ctrl-C. */
export function createInterrupts(options: InterruptOptions): () => void {
  const { now = () => performance.now() } = options;
  let last = -Infinity;
  return () => {
    const at = now();
    const second = at - last < TWICE_MS;
    last = second ? -Infinity : at;
    if (second) options.onSecond();
    else options.onFirst();
  };
}

/** Calls `handler` at each SIGINT until the returned function is called; a lifetime can take it. */
export function onInterruptSignal(handler: () => void): () => Promise<void> {
  process.on("SIGINT", handler);
  return () => {
    process.off("SIGINT", handler);
    return Promise.resolve();
  };
}
