/**
 * Matching lines with a regular expression, without ever hanging on one.
 *
 * @module
 */
import { clearTimeout, setTimeout } from "node:timers";
import { Worker } from "node:worker_threads";

/** Matches lines. */
export interface LineMatcher {
  /**
   * Returns the indexes of the lines that match, or `undefined` when time ran out.
   *
   * @throws the signal's reason when it is aborted.
   */
  match(lines: readonly string[]): Promise<readonly number[] | undefined>;
  /** Frees what the matcher holds. */
  close(): Promise<void>;
}

/** Options of {@linkcode lineMatcher}. */
export interface LineMatcherOptions {
  readonly expression: RegExp;
  readonly signal: AbortSignal;
  /** As `performance.now()` counts. */
  readonly deadline: number;
}

/**
 * Returns a matcher. An expression that repeats something could take very long on one line, so it
 * runs in a thread that can be ended in the middle of it; all others run in this one.
 */
export function lineMatcher(options: LineMatcherOptions): LineMatcher {
  const { expression } = options;
  if (isRisky(expression.source)) return new ThreadMatcher(options);
  return {
    match: (lines) => Promise.resolve(matchAll(expression, lines)),
    close: () => Promise.resolve(),
  };
}

/** Choices (`a?`, `a|b`) in one expression up to which trying all of them takes no time. */
const MAX_CHOICES = 12;

/**
 * Says whether an expression may backtrack for long: it repeats something, refers back to a group, or
 * has many choices, each of which can double the time. Even a single `.*` takes time with the square
 * of a line's length.
 */
export function isRisky(source: string): boolean {
  const plain = source.replace(/\\[^1-9k]/gu, "x").replace(/\[(?:[^\]\\]|\\.)*\]/gu, "x");
  if (/[*+]|\{\d+(?:,\d*)?\}|\\[1-9k]/u.test(plain)) return true;
  return (plain.match(/(?<!\()\?|\|/gu)?.length ?? 0) > MAX_CHOICES;
}

function matchAll(expression: RegExp, lines: readonly string[]): number[] {
  const found: number[] = [];
  for (const [index, line] of lines.entries()) if (expression.test(line)) found.push(index);
  return found;
}

/** The whole program of the thread; it has to be text, so that it also runs in one bundled file. */
const THREAD = `
const { parentPort, workerData } = require("node:worker_threads");
const expression = new RegExp(workerData.source, workerData.flags);
parentPort.on("message", (lines) => {
  const found = [];
  for (let i = 0; i < lines.length; i++) if (expression.test(lines[i])) found.push(i);
  parentPort.postMessage(found);
});
`;

/** Matches in a thread of its own. */
class ThreadMatcher implements LineMatcher {
  readonly #options: LineMatcherOptions;
  readonly #worker: Worker;

  constructor(options: LineMatcherOptions) {
    this.#options = options;
    const { source, flags } = options.expression;
    this.#worker = new Worker(THREAD, { eval: true, workerData: { source, flags } });
  }

  async match(lines: readonly string[]): Promise<readonly number[] | undefined> {
    const { signal, deadline } = this.#options;
    signal.throwIfAborted();
    const worker = this.#worker;
    const cleanUp: (() => void)[] = [];
    try {
      return await new Promise<readonly number[] | undefined>((resolve, reject) => {
        const timer = setTimeout(
          () => resolve(undefined),
          Math.max(0, deadline - performance.now()),
        );
        const onAbort = () => reject(signal.reason);
        worker.once("message", resolve);
        worker.once("error", reject);
        signal.addEventListener("abort", onAbort, { once: true });
        cleanUp.push(
          () => clearTimeout(timer),
          () => worker.off("message", resolve),
          () => worker.off("error", reject),
          () => signal.removeEventListener("abort", onAbort),
        );
        worker.postMessage(lines);
      });
    } finally {
      for (const undo of cleanUp) undo();
    }
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }
}
