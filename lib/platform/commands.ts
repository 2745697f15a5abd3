/**
 * Running shell commands for one session.
 *
 * @module
 */
import type { Readable } from "node:stream";
import { clearInterval, clearTimeout, setInterval, setTimeout } from "node:timers";
import { drained } from "./drain.ts";
import { endGroup, groupMembers, isGone } from "./group.ts";
import { OutputBuffer } from "./output_buffer.ts";
import type { CommandResult, Commands, ProcessEnd, RunOptions } from "./process.ts";
import type { Reaper } from "./reaper.ts";
import { shellCall } from "./shell.ts";
import { spawnGroup } from "./spawn_group.ts";
import { endStrays, MARK_VARIABLE } from "./strays.ts";

/** Time between TERM and KILL, in milliseconds. */
const GRACE_MS = 500;

/** After the command ended, its last bytes are waited for: this long in all, ... */
const DRAIN_MAX_MS = 200;

/** ... and no longer than this without a byte. */
const DRAIN_QUIET_MS = 50;

/** How often groups left in the background are looked at, to forget those that are gone. */
const FORGET_MS = 2000;

/** What was left in the background and says nothing for this long, in milliseconds, is ended. */
const BACKGROUND_SILENCE_MS = 8 * 3_600_000;

/** Longer timers would fire at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Options of {@linkcode createCommands}. */
export interface CommandsOptions {
  /** Ends the groups when this process is killed. */
  readonly reaper: Reaper;
  /** Milliseconds of silence after which what is left in the background is ended. @default {8 h} */
  readonly backgroundSilenceMs?: number;
}

/** A group that may still have processes. */
interface Group {
  readonly command: string;
  readonly since: number;
  /** When it last wrote something. */
  heard: number;
  /** Whether its command ended. */
  left: boolean;
}

/** Creates the runner of one session; see {@linkcode Commands}. */
export function createCommands(options: CommandsOptions): Commands {
  const { reaper, backgroundSilenceMs = BACKGROUND_SILENCE_MS } = options;
  const groups = new Map<number, Group>();
  /** Outputs that processes in the background may still write to. */
  const outputs = new Set<Readable>();
  /** Commands that run now. */
  const running = new Set<Promise<unknown>>();
  const ending = new AbortController();
  /** Begins the marks of this session's commands. */
  const marks = `${reaper.mark}${crypto.randomUUID()}.`;
  let commands = 0;
  let sweep: ReturnType<typeof setInterval> | undefined;

  const hold = (pgid: number, command: string) => {
    const since = performance.now();
    groups.set(pgid, { command, since, heard: since, left: false });
    reaper.add(pgid);
  };
  const forget = (pgid: number) => {
    groups.delete(pgid);
    reaper.del(pgid);
  };

  /** A number of a group can be given out again, so none is kept longer than its group lives. */
  function watchBackground(): void {
    if (sweep !== undefined) return;
    sweep = setInterval(async () => {
      for (const [pgid, { left, heard }] of [...groups]) {
        const silent = left && performance.now() - heard > backgroundSilenceMs;
        if (silent) await endGroup(pgid, GRACE_MS);
        if (silent || await isGone(pgid)) forget(pgid);
      }
      if (groups.size === 0) stopWatching();
    }, FORGET_MS);
    sweep.unref();
  }

  function stopWatching(): void {
    clearInterval(sweep);
    sweep = undefined;
  }

  /** Reads on for nobody: a server in the background would die of writing to a closed pipe. */
  function readOn(stdout: Readable, group: Group | undefined): void {
    if (stdout.destroyed || stdout.readableEnded) return;
    outputs.add(stdout);
    stdout.on("data", () => {
      if (group !== undefined) group.heard = performance.now();
    });
    stdout.once("close", () => outputs.delete(stdout));
    stdout.resume();
    (stdout as { unref?: () => void }).unref?.();
  }

  async function runOne(command: string, options: RunOptions): Promise<CommandResult> {
    const { signal } = options;
    const shell = await shellCall(command, options.env);
    const mark = `${marks}${++commands}`;
    await reaper.ready();
    const leader = await spawnGroup({
      ...shell,
      cwd: options.cwd,
      env: { ...options.env, [MARK_VARIABLE]: mark },
      stdio: ["ignore", "pipe", "pipe"],
    });
    hold(leader.pid, command);
    /** Ends the command with all it started, also what left its group. */
    const endAll = async () => {
      await endGroup(leader.pid, GRACE_MS);
      await endStrays(mark);
    };
    const kept = new OutputBuffer(options.keep);
    const reader = readOutput(leader.process.stdout, leader.process.stderr, (text) => {
      kept.push(text);
      options.onOutput(text);
    });
    try {
      const stop = AbortSignal.any([signal, ending.signal]);
      const why = await firstOf(leader.exited, stop, options.timeoutMs);
      if (why !== "exited") await endAll();
      const end = await endOf(leader.exited);
      await reader.rest();
      if (signal.aborted && why === "exited") await endAll();
      signal.throwIfAborted();
      return {
        output: kept.text(),
        total: kept.total,
        end,
        timedOut: why === "timeout",
        background: await groupMembers(leader.pid),
      };
    } finally {
      reader.stop();
      const group = groups.get(leader.pid);
      if (group !== undefined) group.left = true;
      for (const stream of [leader.process.stdout, leader.process.stderr]) {
        if (stream !== null) readOn(stream, group);
      }
      if (await isGone(leader.pid)) forget(leader.pid);
      else watchBackground();
    }
  }

  return {
    async run(command, options) {
      options.signal.throwIfAborted();
      if (ending.signal.aborted) throw new Error("Cannot run a command: the session is closed");
      const result = runOne(command, options);
      running.add(result);
      try {
        return await result;
      } finally {
        running.delete(result);
      }
    },
    background() {
      return [...groups.values()].filter(({ left }) => left)
        .map(({ command, since }) => ({ command, since }));
    },
    async close() {
      ending.abort();
      await Promise.allSettled(running);
      await Promise.all([...groups.keys()].map(async (pgid) => {
        await endGroup(pgid, GRACE_MS);
        forget(pgid);
      }));
      if (commands > 0) await endStrays(marks);
      stopWatching();
      for (const output of outputs) output.destroy();
    },
  };
}

/** Waits for whatever comes first and leaves no timer and no listener behind. */
async function firstOf(
  exited: Promise<ProcessEnd>,
  signal: AbortSignal,
  timeoutMs: number,
): Promise<"exited" | "timeout" | "aborted"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let onAbort = () => {};
  const timeout = new Promise<"timeout">((resolve) => {
    timer = setTimeout(() => resolve("timeout"), Math.min(timeoutMs, MAX_TIMER_MS));
  });
  const aborted = new Promise<"aborted">((resolve) => {
    onAbort = () => resolve("aborted");
    if (signal.aborted) onAbort();
    signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    return await Promise.race([exited.then(() => "exited" as const), timeout, aborted]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

/** The end of a process that ended or was killed; one that even KILL does not end is given up. */
async function endOf(exited: Promise<ProcessEnd>): Promise<ProcessEnd> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const givenUp = new Promise<ProcessEnd>((resolve) => {
    timer = setTimeout(() => resolve({ code: null, signal: "SIGKILL" }), GRACE_MS);
  });
  try {
    return await Promise.race([exited, givenUp]);
  } finally {
    clearTimeout(timer);
  }
}

/** Decodes one or two outputs as they come. */
function readOutput(
  stdout: Readable | null,
  stderr: Readable | null,
  onText: (text: string) => void,
): { rest(): Promise<void>; stop(): void } {
  const readers = [stdout, stderr].filter((stream) => stream !== null).map((stream) => {
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const onData = (chunk: Uint8Array) => {
      const text = decoder.decode(chunk, { stream: true });
      if (text !== "") onText(text);
    };
    stream.on("data", onData);
    stream.on("error", () => {}); // Its end is all that matters.
    return { stream, decoder, onData };
  });
  return {
    async rest() {
      await Promise.all(
        readers.map(({ stream }) =>
          drained(stream, { quietMs: DRAIN_QUIET_MS, maxMs: DRAIN_MAX_MS })
        ),
      );
      for (const { decoder } of readers) {
        const text = decoder.decode(); // A character that was cut off.
        if (text !== "") onText(text);
      }
    },
    stop() {
      for (const { stream, onData } of readers) stream.off("data", onData);
    },
  };
}
