/**
 * Ending this process without losing what it wrote.
 *
 * @module
 */
import process from "node:process";
import { clearTimeout, setTimeout } from "node:timers";
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
  let timer: ReturnType<typeof setTimeout> | undefined;
  const { flushMs = Infinity } = options;
  if (flushMs !== Infinity) {
    const givenUp = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, flushMs);
    });
    await Promise.race([flushed, givenUp]);
    clearTimeout(timer);
  } else {
    await flushed;
  }
  process.exit(code);
}
