/**
 * Notices a turn that goes in circles: the same call again and again, or nothing but calls that
 * cannot run.
 *
 * What a call gave does not count, since a result may differ in a time or a number each time; the
 * name and the arguments do.
 *
 * @module
 */
import { createHash } from "node:crypto";
import type { ToolCallRequest } from "../base/tool_call.ts";

/** The time the same call is made at which its result begins to carry a warning. */
export const WARN_AT = 3;

/** The time the same call is made at which the turn ends behind it. */
export const STOP_AT = 5;

/** Calls in a row that could not run, such as those of an unknown tool, at which the turn ends. */
export const MAX_WRONG = 10;

/** Different calls that are remembered. */
const MAX_KNOWN = 500;

/**
 * Counts the calls of one turn.
 *
 * A call that the turn has not made before is progress and begins all counts anew: running the tests
 * after each change of a file is no circle, reading two files in turn is one.
 */
export class LoopGuard {
  /** How often each call was made since the last new one; in the order of the first time. */
  readonly #counts = new Map<string, number>();
  #wrong = 0;
  #looping = false;

  /** Whether the turn has to end: it goes in circles. */
  get looping(): boolean {
    return this.#looping;
  }

  /** Notes a call that is about to run. Returns how often it was made, this time included. */
  note(call: ToolCallRequest): number {
    const key = keyOf(call);
    const before = this.#counts.get(key);
    if (before === undefined) this.#progress();
    const times = (before ?? 0) + 1;
    this.#counts.set(key, times);
    if (times >= STOP_AT) this.#looping = true;
    return times;
  }

  /** Notes whether a call could run at all: its tool exists and its arguments are right. */
  ran(could: boolean): void {
    this.#wrong = could ? 0 : this.#wrong + 1;
    if (this.#wrong >= MAX_WRONG) this.#looping = true;
  }

  #progress(): void {
    for (const key of this.#counts.keys()) this.#counts.set(key, 0);
    const [oldest] = this.#counts.keys();
    if (this.#counts.size >= MAX_KNOWN && oldest !== undefined) this.#counts.delete(oldest);
  }
}

/** Returns what the result of a repeated call says to the model beside itself; empty for no word. */
export function repetitionWarning(name: string, times: number): string {
  if (times < WARN_AT) return "";
  const stop = times < STOP_AT ? `; the turn is ended after ${STOP_AT}` : "";
  return `\n\n[mm: this is call number ${times} of ${name} with the same arguments${stop}. ` +
    `Do something else, or answer with what you know.]`;
}

/** Returns what tells a call from others; arguments are large at times, so not the call itself. */
function keyOf(call: ToolCallRequest): string {
  return createHash("sha256").update(`${call.name}\0${canonical(call.arguments)}`).digest("base64");
}

/** The arguments with their keys in order and without white space: models write them differently. */
function canonical(text: string): string {
  if (text.trim() === "") return "{}";
  try {
    return JSON.stringify(sorted(JSON.parse(text)));
  } catch {
    return text;
  }
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1).map(([key, one]) => [
      key,
      sorted(one),
    ]),
  );
}
