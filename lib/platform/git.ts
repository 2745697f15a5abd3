/**
 * Running git: with arguments, never through a shell, and so that neither the repository nor the
 * environment of mm decides what else is run.
 *
 * @module
 */
import type { Readable } from "node:stream";
import { clearTimeout, setTimeout } from "node:timers";
import { messageOf } from "../base/errors.ts";
import { collectText, keepTail } from "./collect_output.ts";
import { drained } from "./drain.ts";
import { findOutside } from "./find_outside.ts";
import { gitEnvironment } from "./git_environment.ts";
import { endGroup } from "./group.ts";
import type { Reaper } from "./reaper.ts";
import { type GroupLeader, spawnGroup } from "./spawn_group.ts";
import { MARK_VARIABLE } from "./strays.ts";

/** The longest time of one run, in milliseconds. */
const TIME_LIMIT_MS = 60_000;

/** Bytes of stdout above which git is ended: the list of half a million files is smaller. */
const MAX_STDOUT_BYTES = 64 * 1024 * 1024;

/** Time between TERM and KILL, in milliseconds: git takes back what it began when it is told to end. */
const GRACE_MS = 2000;

/** The last bytes of git after its end, where a process that it started holds its outputs open. */
const DRAIN = { quietMs: 50, maxMs: 500 };

/**
 * Given with each run. A repository's own configuration names commands that git runs by itself: hooks
 * and the file monitor. They are the project's, and nobody permitted them.
 */
const OWN_ARGUMENTS: readonly string[] = [
  "--no-pager",
  "--no-optional-locks",
  "-c",
  "core.hooksPath=/dev/null",
  "-c",
  "core.fsmonitor=false",
  "-c",
  "log.showSignature=false",
];

/** Options of {@linkcode createRunGit}. */
export interface RunGitSetup {
  readonly reaper: Reaper;
  /** The environment of mm. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The longest time of one run, in milliseconds. @default {60000} */
  readonly timeoutMs?: number;
  /** Bytes of stdout above which git is ended. @default {67108864} */
  readonly maxBytes?: number;
}

/** How a run of git ended. */
export interface GitResult {
  /**
   * The exit status; `null` where it was ended by a signal or a limit, or never started. `stderr` says
   * then, in mm's words, what happened.
   */
  readonly code: number | null;
  /** Empty where the status is `null`. */
  readonly stdout: string;
  /** At most 4000 UTF-16 units, from the end. */
  readonly stderr: string;
}

/**
 * Runs git in a directory, absolute: stdin closed, no terminal, no network transport of git's own, a
 * minute at most. Never rejects for how git ends.
 *
 * @throws the signal's reason when it is aborted, after git is gone.
 */
export type RunGit = (
  args: readonly string[],
  options: { readonly cwd: string; readonly signal: AbortSignal },
) => Promise<GitResult>;

/** Returns a function that runs git in the care of a reaper; see {@linkcode RunGit}. */
export function createRunGit(setup: RunGitSetup): RunGit {
  const env = gitEnvironment(setup.env);
  return async (args, { cwd, signal }) => {
    signal.throwIfAborted();
    const program = await findOutside("git", { env, cwd });
    if (program === undefined) return unusable("there is no git on the PATH");
    await setup.reaper.ready();
    signal.throwIfAborted();
    let leader: GroupLeader;
    try {
      leader = await spawnGroup({
        program,
        args: [...OWN_ARGUMENTS, ...args],
        cwd,
        env: { ...env, [MARK_VARIABLE]: `${setup.reaper.mark}${crypto.randomUUID()}` },
        stdio: ["ignore", "pipe", "pipe"],
      });
    } catch (error) {
      return unusable(messageOf(error));
    }
    setup.reaper.add(leader.pid);
    try {
      return await ended(leader, setup, signal);
    } finally {
      for (const stream of [leader.process.stdout, leader.process.stderr]) stream?.destroy();
      setup.reaper.del(leader.pid);
    }
  };
}

/** Waits for the end of git, or ends it; nothing of its group is left then. */
async function ended(
  leader: GroupLeader,
  setup: RunGitSetup,
  signal: AbortSignal,
): Promise<GitResult> {
  const { timeoutMs = TIME_LIMIT_MS, maxBytes = MAX_STDOUT_BYTES } = setup;
  const { stdout, stderr } = leader.process;
  const stop = Promise.withResolvers<{ readonly why: string }>();
  const onAbort = () => stop.resolve({ why: "aborted" });
  const timer = setTimeout(
    () => stop.resolve({ why: `git was ended: it took longer than ${timeoutMs / 1000} s` }),
    timeoutMs,
  );
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  const out = collectText(stdout, {
    maxBytes,
    onTooMuch: () => stop.resolve({ why: `git was ended: it wrote more than ${maxBytes} bytes` }),
  });
  const said = keepTail(stderr);
  try {
    let end = await Promise.race([leader.exited, stop.promise]);
    if (!("why" in end)) {
      const left = await Promise.race([rest([stdout, stderr]), stop.promise]);
      if (left !== undefined) end = left;
    }
    await endGroup(leader.pid, GRACE_MS);
    signal.throwIfAborted();
    if ("why" in end) return unusable(end.why);
    if (end.code === null) return unusable(`git was ended by ${end.signal}`);
    return { code: end.code, stdout: out(), stderr: said() };
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

function unusable(why: string): GitResult {
  return { code: null, stdout: "", stderr: why };
}

async function rest(streams: readonly (Readable | null)[]): Promise<undefined> {
  await Promise.all(streams.map((stream) => stream === null ? true : drained(stream, DRAIN)));
}
