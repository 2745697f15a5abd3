/**
 * Pieces that the results of several tools share.
 *
 * @module
 */
import type { FileDiff } from "../base/tool_call.ts";
import { FileProblem, whyNot } from "./file_problem.ts";

/** Texts above this many UTF-16 units in all are not shown as a diff: 256 KiB. */
const MAX_DIFF = 256 * 1024;

/** Returns the diff for people, nothing when it would be too large to show. */
export function diffsOf(path: string, oldText: string | null, newText: string): FileDiff[] {
  const size = (oldText?.length ?? 0) + newText.length;
  return size > MAX_DIFF ? [] : [{ path, oldText, newText }];
}

/**
 * Runs `work` and puts what was to be done in front of its failure.
 *
 * @param what for example `Cannot read "x.ts"`.
 * @throws {FileProblem} `Cannot read "x.ts": permission denied`.
 */
export async function explaining<T>(what: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new FileProblem(`${what}: ${whyNot(error)}`, { cause: error });
  }
}

/** Returns `1 line`, `2 lines`. */
export function count(number: number, noun: string, plural = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : plural}`;
}
