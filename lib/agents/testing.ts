/**
 * For tests of asks and runs: a child that is no process, and agents of whom none is started.
 *
 * @module
 */
import type { AgentEntry } from "../config/types.ts";
import type { Child, ProcessEnd } from "../platform/process.ts";
import { AgentPool } from "./pool.ts";

/** A child that is no process; being stopped or killed ends it, once. */
export function playedChild(killed: ProcessEnd = { code: 0, signal: null }): Child {
  const { promise: ended, resolve } = Promise.withResolvers<ProcessEnd>();
  return {
    pid: 1,
    stdin: new WritableStream(),
    stdout: new ReadableStream(),
    ended,
    stderrTail: () => "",
    stop: () => {
      resolve({ code: 0, signal: null });
      return ended;
    },
    kill: () => resolve(killed),
  };
}

/** Agents that can be asked, as far as the depth allows; starting one is a failure of the test. */
export function idlePool(
  { entries = [], depth = 0 }: {
    readonly entries?: readonly AgentEntry[];
    readonly depth?: number;
  } = {},
): AgentPool {
  const never = () => Promise.reject(new Error("No process is started in this test"));
  return new AgentPool({
    entries,
    depth,
    env: {},
    self: ["mm"],
    start: never,
    connect: never,
    redact: (text) => text,
    silenceMs: 60_000,
    callBudgetMs: 60_000,
  });
}
