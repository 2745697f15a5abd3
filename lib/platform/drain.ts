/**
 * The rest of an output after its writer ended.
 *
 * @module
 */
import type { Readable } from "node:stream";
import { clearTimeout, setImmediate, setTimeout } from "node:timers";

/** Options of {@linkcode drained}. */
export interface DrainOptions {
  /** Milliseconds without a byte after which the rest is taken to be nothing. */
  readonly quietMs: number;
  /** Milliseconds in all, however much still comes. */
  readonly maxMs: number;
}

/**
 * Waits for the end of a stream that is being read, but not for ever: a process in the background
 * may hold the pipe open long after the one that was waited for ended. Returns whether the end came.
 */
export async function drained(stream: Readable, options: DrainOptions): Promise<boolean> {
  if (stream.readableEnded || stream.destroyed) return true;
  const start = performance.now();
  let last = start;
  const { promise, resolve } = settle();
  const seen = () => {
    last = performance.now();
  };
  const ended = () => resolve(true);
  let timer: ReturnType<typeof setTimeout> | undefined;
  const look = () => {
    // Bytes that lie in the pipe are delivered after the timers of the same round.
    setImmediate(() => {
      const now = performance.now();
      if (now - last >= options.quietMs || now - start >= options.maxMs) return resolve(false);
      timer = setTimeout(look, Math.min(last + options.quietMs, start + options.maxMs) - now);
    });
  };
  stream.on("data", seen);
  for (const event of ENDS) stream.once(event, ended);
  timer = setTimeout(look, options.quietMs);
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    stream.off("data", seen);
    for (const event of ENDS) stream.off(event, ended);
  }
}

const ENDS = ["end", "close", "error"] as const;

function settle(): { promise: Promise<boolean>; resolve: (value: boolean) => void } {
  let resolve: (value: boolean) => void = () => {};
  const promise = new Promise<boolean>((r) => {
    resolve = r;
  });
  return { promise, resolve };
}
