/**
 * Running a command line that reads an input and answers on its outputs, kept apart.
 *
 * @module
 */
import type { Readable } from "node:stream";
import { clearTimeout, setTimeout } from "node:timers";
import { collectText, keepTail } from "./collect_output.ts";
import { drained } from "./drain.ts";
import { endGroup } from "./group.ts";
import type { ProcessEnd } from "./process.ts";
import type { Reaper } from "./reaper.ts";
import { shellCall } from "./shell.ts";
import { spawnGroup } from "./spawn_group.ts";
import { MARK_VARIABLE } from "./strays.ts";

/** Bytes of stdout above which the command is ended. */
export const MAX_FILTER_BYTES = 8 * 1024 * 1024;

/** Time between TERM and KILL, in milliseconds. */
const GRACE_MS = 200;

/** The last bytes of a command that ended, where another process holds its outputs open. */
const DRAIN = { quietMs: 50, maxMs: 500 };

/** Options of {@linkcode RunFilter}. */
export interface FilterOptions {
  /** Absolute. */
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** All of its stdin. */
  readonly input: string;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
}

/** What came of a command. */
export interface FilterResult {
  /** `stopped` when it took too long or wrote too much. */
  readonly end: ProcessEnd | { readonly stopped: "timeout" | "output" };
  readonly stdout: string;
  /** At most 4000 UTF-16 units, from the end. */
  readonly stderr: string;
}

/**
 * Runs a command line to its end; whatever it leaves in its group ends with it.
 *
 * @throws the signal's reason when it is aborted, after the group is gone.
 * @throws {Error} when it cannot be started.
 */
export type RunFilter = (command: string, options: FilterOptions) => Promise<FilterResult>;

/** Returns a function that runs commands in the care of a reaper; see {@linkcode RunFilter}. */
export function createRunFilter(setup: { readonly reaper: Reaper }): RunFilter {
  return async (command, options) => {
    const { cwd, env, signal } = options;
    signal.throwIfAborted();
    const call = await shellCall(command, env, { apart: true });
    await setup.reaper.ready();
    const leader = await spawnGroup({
      ...call,
      cwd,
      env: { ...env, [MARK_VARIABLE]: `${setup.reaper.mark}${crypto.randomUUID()}` },
      stdio: ["pipe", "pipe", "pipe"],
    });
    setup.reaper.add(leader.pid);
    const { stdin, stdout, stderr } = leader.process;
    const stop = Promise.withResolvers<"timeout" | "output" | "aborted">();
    const onAbort = () => stop.resolve("aborted");
    const timer = setTimeout(() => stop.resolve("timeout"), options.timeoutMs);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
    const out = collectText(stdout, {
      maxBytes: MAX_FILTER_BYTES,
      onTooMuch: () => stop.resolve("output"),
    });
    const said = keepTail(stderr);
    // A command may answer without reading; that is its own affair.
    stdin?.on("error", () => {});
    stdin?.end(options.input);
    try {
      const end = await Promise.race([
        leader.exited,
        stop.promise.then((stopped) => ({ stopped })),
      ]);
      if (!("stopped" in end)) await Promise.all([rest(stdout), rest(stderr)]);
      await endGroup(leader.pid, GRACE_MS);
      if ("stopped" in end) {
        if (end.stopped === "aborted") throw signal.reason;
        return { end: { stopped: end.stopped }, stdout: "", stderr: said() };
      }
      return { end, stdout: out(), stderr: said() };
    } finally {
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      for (const stream of [stdin, stdout, stderr]) stream?.destroy();
      setup.reaper.del(leader.pid);
    }
  };
}

async function rest(stream: Readable | null): Promise<void> {
  if (stream !== null) await drained(stream, DRAIN);
}
