/**
 * Noticing that the process that started this one is gone.
 *
 * @module
 */
import process from "node:process";
import { clearInterval, setInterval } from "node:timers";
import { isWindows } from "./runtime.ts";

/** Options of {@linkcode watchParent}. */
export interface ParentWatchOptions {
  /** Called once. */
  onGone(): void;
  /** Milliseconds between two looks. @default {250} */
  readonly intervalMs?: number;
}

/**
 * Calls `onGone` when this process got another parent, which happens to orphans only. Keeps no
 * event loop alive. Does nothing on Windows, where the number of a dead parent stays.
 *
 * @returns a function that ends the watch.
 */
export function watchParent(options: ParentWatchOptions): () => void {
  if (isWindows) return () => {};
  const parent = process.ppid;
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    clearInterval(timer);
    options.onGone();
  }, options.intervalMs ?? 250);
  timer.unref();
  return () => clearInterval(timer);
}
