/**
 * Ending this process without losing what it wrote.
 *
 * @module
 */
import process from "node:process";
import { within } from "../base/within.ts";
import { textFlushed } from "./output.ts";
import { stdoutFlushed } from "./stdout_bytes.ts";

/** Options of {@linkcode exitProcess}. */
export interface ExitOptions {
  /**
   * Milliseconds after which a reader that does not read is given up. What was written to
   * `process.stdout` on Deno was written synchronously, so there it is over before this is called.
   *
   * @default {Infinity}
   */
  readonly flushMs?: number;
}

/**
 * Ends this process after everything written to stdout and stderr was taken by the system. Node
 * and Bun would cut a pipe at 64 KiB otherwise.
 */
export async function exitProcess(code: number, options: ExitOptions = {}): Promise<never> {
  const flushed = stdoutFlushed().then(() =>
    Promise.all([textFlushed(process.stdout), textFlushed(process.stderr)])
  );
  const { flushMs = Infinity } = options;
  // A timer takes no infinity.
  if (flushMs === Infinity) await flushed;
  else await within(flushed, flushMs);
  process.exit(code);
}
