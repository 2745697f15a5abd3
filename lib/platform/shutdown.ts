/**
 * What happens when the system, a person or a closed pipe tells mm to end.
 *
 * @module
 */
import { constants } from "node:os";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { exitProcess } from "./exit.ts";
import { outputFailure } from "./output.ts";

/** Signals that ask a program to end. */
export type ShutdownSignal = "SIGINT" | "SIGTERM" | "SIGHUP";

/** Options of {@linkcode installShutdown}. */
export interface ShutdownOptions {
  /**
   * Ends what was started. Called once, with the signal's name, or `stdout` when nobody reads the
   * output any more.
   */
  onShutdown(reason: string): Promise<void>;
  /**
   * Takes, as a sentence without a final period, why the output could not be written where somebody
   * could still read it: a full disk. Called before `onShutdown`.
   */
  readonly onOutputFailure?: (sentence: string) => void;
  /** Milliseconds `onShutdown` may take before the process ends all the same. */
  readonly graceMs: number;
  /** @default {["SIGTERM", "SIGHUP"]} */
  readonly signals?: readonly ShutdownSignal[];
  /** Status where nobody reads the output any more. @default {141} */
  readonly closedOutputStatus?: number;
}

/**
 * A second signal ends the process at once, but not one that comes right behind the first: closing
 * a terminal and `timeout` both send theirs twice, to the process and to its group.
 */
const SAME_SIGNAL_MS = 250;

/** Output that nobody takes is given up after this time. */
const FLUSH_MS = 500;

/** The status of a program that writes to a closed pipe, by convention. */
const EXIT_BROKEN_PIPE = 128 + 13;

/** The status where an output could not be written. */
const EXIT_FAILED = 1;

/**
 * Makes the first signal run `onShutdown` and end the process with 128 plus the signal's number.
 * An output that nobody reads any more ends it quietly in the same way, with 141 unless said otherwise;
 * one that cannot be written, with 1 and the reason.
 *
 * @returns a function that takes the handlers away again.
 */
export function installShutdown(options: ShutdownOptions): () => void {
  const { signals = ["SIGTERM", "SIGHUP"], graceMs } = options;
  const { closedOutputStatus = EXIT_BROKEN_PIPE } = options;
  let first: number | undefined;

  async function shutDown(reason: string, code: number): Promise<void> {
    const now = performance.now();
    if (first !== undefined) {
      if (now - first > SAME_SIGNAL_MS) process.exit(code);
      return;
    }
    first = now;
    try {
      await Promise.race([options.onShutdown(reason), delay(graceMs)]);
    } catch {
      // Nothing is left that could be told of it; the process has to end.
    }
    await exitProcess(code, { flushMs: FLUSH_MS });
  }

  const handlers = signals.map((signal) => {
    const handler = () => void shutDown(signal, 128 + constants.signals[signal]);
    process.on(signal, handler);
    return { signal, handler };
  });
  const onOutputError = (error: Error & { readonly code?: string }) => {
    if (first !== undefined) return;
    // EIO: the terminal is gone.
    const unread = error.code === "EPIPE" || error.code === "EIO";
    if (!unread) options.onOutputFailure?.(outputFailure(error));
    void shutDown("stdout", unread ? closedOutputStatus : EXIT_FAILED);
  };
  process.stdout.on("error", onOutputError);
  // Losing stderr loses messages, not the work.
  const ignore = () => {};
  process.stderr.on("error", ignore);

  return () => {
    for (const { signal, handler } of handlers) process.off(signal, handler);
    process.stdout.off("error", onOutputError);
    process.stderr.off("error", ignore);
  };
}
