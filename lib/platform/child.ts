/**
 * A child process that is talked to over its stdin and stdout.
 *
 * @module
 */
import type { Readable, Writable } from "node:stream";
import { setTimeout as delay } from "node:timers/promises";
import { within } from "../base/within.ts";
import { keepTail } from "./collect_output.ts";
import { drained } from "./drain.ts";
import { endGroup, groupGone, signalGroup } from "./group.ts";
import type { Child, ProcessEnd, StartChild, StartChildOptions } from "./process.ts";
import { createReaper, type Reaper } from "./reaper.ts";
import { spawnGroup } from "./spawn_group.ts";
import { endStrays, MARK_VARIABLE } from "./strays.ts";

/** Time a child has to end after its stdin was closed, in milliseconds; TERM comes at half of it. */
const STOP_GRACE_MS = 2000;

/** Time between TERM and KILL for what a child left behind when it ended. */
const LEFTOVER_GRACE_MS = 500;

/** Bytes of stdout held for a slow reader before the child has to wait. */
const STDOUT_HIGH_WATER = 256 * 1024;

/** The last bytes of a child that ended, where another process holds its stdout open. */
const DRAIN = { quietMs: 100, maxMs: 1000 };

/** Options of {@linkcode createStartChild}. */
export interface StartChildSetup {
  /** Ends the children when this process is killed. */
  readonly reaper: Reaper;
}

/** Returns a function that starts children in the care of a reaper; see {@linkcode StartChild}. */
export function createStartChild(setup: StartChildSetup): StartChild {
  return (options) => start(options, setup.reaper);
}

/** Starts a child in the care of a reaper that all callers of this function share. */
export const startChild: StartChild = createStartChild({ reaper: createReaper() });

async function start(options: StartChildOptions, reaper: Reaper): Promise<Child> {
  const [program, ...args] = options.command;
  const mark = `${reaper.mark}${crypto.randomUUID()}`;
  await reaper.ready();
  const leader = await spawnGroup({
    program,
    args,
    cwd: options.cwd,
    env: { ...options.env, [MARK_VARIABLE]: mark },
    stdio: ["pipe", "pipe", "pipe"],
  });
  const { pid, exited: ended, process } = leader;
  const { stdin, stdout, stderr } = process;
  if (stdin === null || stdout === null || stderr === null) {
    throw new Error(`Cannot talk to "${program}": it was started without pipes`);
  }
  reaper.add(pid);
  const tail = keepTail(stderr);
  ended.then(async () => {
    await drained(stderr, DRAIN);
    stderr.destroy();
  });

  // Whatever the child leaves ends with it, also what left its group.
  let over = false;
  const gone = ended.then(async (end) => {
    await endGroup(pid, LEFTOVER_GRACE_MS);
    over = true;
    reaper.del(pid);
    // One that ended well looked after its own; what is left all the same ends with mm.
    if (end.code !== 0) await endStrays(mark);
    return end;
  });

  return {
    pid,
    stdin: toWritable(stdin, ended),
    stdout: toReadable(stdout, ended),
    ended,
    stderrTail: tail,
    async stop({ graceMs = STOP_GRACE_MS } = {}) {
      stdin.end();
      if (await within(ended, graceMs / 2) === undefined) {
        signalGroup(pid, "SIGTERM");
        if (await within(ended, graceMs / 2) === undefined) signalGroup(pid, "SIGKILL");
      }
      return await Promise.race([gone, givenUp(pid, ended)]);
    },
    kill() {
      // The number of a group that is gone can be another's by now.
      if (!over) signalGroup(pid, "SIGKILL");
    },
  };
}

/** Settles where even KILL does not end a child: it hangs in the system, nothing can be done. */
async function givenUp(pid: number, ended: Promise<ProcessEnd>): Promise<ProcessEnd> {
  await groupGone(pid, STOP_GRACE_MS);
  const end: ProcessEnd = { code: null, signal: "SIGKILL" };
  return await Promise.race([ended, delay(STOP_GRACE_MS, end, { ref: false })]);
}

/** A chunk counts as written when the pipe took it, so a child that does not read slows us down. */
function toWritable(stdin: Writable, ended: Promise<ProcessEnd>): WritableStream<Uint8Array> {
  // Writing to a child that died is an error of that write, not of this process.
  stdin.on("error", () => {});
  let gone: Error | undefined;
  return new WritableStream<Uint8Array>({
    start(controller) {
      ended.then(() => {
        gone = new Error("Cannot write to the child: it ended");
        controller.error(gone);
        stdin.destroy();
      });
    },
    write(chunk) {
      return new Promise((resolve, reject) => {
        stdin.write(chunk, (error) => {
          // Node reports a write that waited as done when the pipe is destroyed.
          const failure = error ?? gone;
          if (failure) reject(failure);
          else resolve();
        });
      });
    },
    close() {
      stdin.end();
    },
    abort() {
      stdin.destroy();
    },
  });
}

/** The child waits while the reader does, until it ended: then its last bytes are all taken. */
function toReadable(stdout: Readable, ended: Promise<ProcessEnd>): ReadableStream<Uint8Array> {
  let over = false;
  let draining = false;
  return new ReadableStream<Uint8Array>({
    start(controller) {
      const close = () => {
        if (over) return;
        over = true;
        controller.close();
        stdout.destroy();
      };
      stdout.on("data", (chunk: Uint8Array) => {
        if (over) return;
        controller.enqueue(chunk);
        if ((controller.desiredSize ?? 0) <= 0 && !draining) stdout.pause();
      });
      stdout.once("end", close);
      stdout.once("close", close);
      stdout.on("error", close);
      ended.then(async () => {
        draining = true;
        stdout.resume();
        await drained(stdout, DRAIN);
        close();
      });
    },
    pull() {
      stdout.resume();
    },
    cancel() {
      over = true;
      stdout.destroy();
    },
  }, new ByteLengthQueuingStrategy({ highWaterMark: STDOUT_HIGH_WATER }));
}
