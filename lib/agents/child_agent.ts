/**
 * The process of one asked agent: started at the first ask, reused by later ones, started again
 * after it died.
 *
 * @module
 */
import { describeEnd, type End } from "../base/ends.ts";
import { messageOf } from "../base/errors.ts";
import { untilAborted } from "../base/until_aborted.ts";
import { within } from "../base/within.ts";
import type { Child, ProcessEnd, StartChild } from "../platform/process.ts";
import { type ChildConnection, ChildError, type ConnectChild } from "./child_connection.ts";

/** A child that said hello. */
export interface RunningChild {
  readonly child: Child;
  readonly connection: ChildConnection;
}

/** What `/agents` says of a child. */
export type ChildState = "not started" | "starting" | "running";

/** Options of {@linkcode ChildAgent}. */
export interface ChildAgentOptions {
  readonly name: string;
  /** Program and arguments. */
  readonly command: readonly [string, ...string[]];
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly start: StartChild;
  readonly connect: ConnectChild;
  /** Takes secrets out of what the child wrote on stderr. */
  readonly redact: (text: string) => string;
}

/** An asked agent that could not be started or asked; `end` says how that ended. */
export class AskError extends Error {
  readonly end: End;

  /** Creates the error for an end. */
  constructor(agent: string, end: End, options: ErrorOptions = {}) {
    super(describeEnd(end, agent), options);
    this.name = "AskError";
    this.end = end;
  }
}

/** How long a closed connection's process may take to be gone, in milliseconds. */
const DEATH_GRACE_MS = 1000;

/** How long a process may take to end by itself when mm ends, in milliseconds. */
const STOP_GRACE_MS = 1500;

/** The child of one asked agent. */
export class ChildAgent {
  readonly #options: ChildAgentOptions;
  #starting: Promise<RunningChild> | undefined;
  #running: RunningChild | undefined;
  /** The process, from its start on, so that a stop reaches it while it is starting. */
  #child: Child | undefined;
  #closed = false;

  /** Creates the agent; nothing is started. */
  constructor(options: ChildAgentOptions) {
    this.#options = options;
  }

  /** Whether its process runs. */
  get state(): ChildState {
    if (this.#running !== undefined) return "running";
    return this.#starting === undefined ? "not started" : "starting";
  }

  /** What the agent calls itself, once it said so. */
  get title(): string | undefined {
    return this.#running?.connection.title;
  }

  /**
   * Returns the running child, starting it where there is none. Asks that come while it starts wait
   * for the same start, which outlives the cancel of one of them.
   *
   * @param options `cwd` is where a new process starts, absolute; `helloMs` how long it may take to
   * say hello, in milliseconds.
   * @throws {AskError} when it cannot be started or speaks no ACP.
   * @throws the signal's reason when it was aborted.
   */
  async running(options: {
    readonly cwd: string;
    readonly helloMs: number;
    readonly signal: AbortSignal;
  }): Promise<RunningChild> {
    const { cwd, helloMs, signal } = options;
    signal.throwIfAborted();
    if (this.#running !== undefined) return this.#running;
    this.#starting ??= this.#start(cwd, helloMs).finally(() => this.#starting = undefined);
    return await untilAborted(this.#starting, signal);
  }

  /** Returns how the process of a lost connection ended, bounded in time. */
  async death(running: RunningChild): Promise<End> {
    running.connection.close();
    let end = await within(running.child.ended, DEATH_GRACE_MS);
    if (end === undefined) {
      // It closed its stdout but lives: of no use any more.
      running.child.kill();
      end = await running.child.ended;
    }
    return this.#died(running.child, end);
  }

  /** Ends the process at once; the next ask starts another. */
  kill(): void {
    this.#running?.connection.close();
    this.#child?.kill();
    this.#running = undefined;
  }

  /** Ends the process with a grace, for good. */
  async stop(): Promise<void> {
    this.#closed = true;
    this.#running?.connection.close();
    await this.#child?.stop({ graceMs: STOP_GRACE_MS });
  }

  async #start(cwd: string, helloMs: number): Promise<RunningChild> {
    const { name, command, env, start, connect } = this.#options;
    let child: Child;
    try {
      child = await start({ command, cwd, env });
    } catch (thrown) {
      throw new AskError(name, failed(`it could not start: ${messageOf(thrown)}`, thrown));
    }
    this.#child = child;
    if (this.#closed) {
      child.kill();
      throw new AskError(name, { kind: "cancelled" });
    }
    try {
      const connection = await connect(child, { signal: AbortSignal.timeout(helloMs) });
      const running: RunningChild = { child, connection };
      this.#running = running;
      const gone = () => {
        if (this.#running === running) this.#running = undefined;
      };
      child.ended.then(gone);
      connection.closed.then(gone, gone);
      return running;
    } catch (thrown) {
      const closed = thrown instanceof ChildError && thrown.kind === "closed";
      const end = closed ? await within(child.ended, DEATH_GRACE_MS) : undefined;
      child.kill();
      if (end !== undefined) throw new AskError(name, this.#couldNotStart(child, end));
      const noAcp = closed || thrown instanceof ChildError && thrown.kind === "protocol";
      const words = `${noAcp ? "it speaks no ACP" : "it could not start"}: ${messageOf(thrown)}`;
      throw new AskError(name, failed(words, thrown), { cause: thrown });
    }
  }

  #couldNotStart(child: Child, end: ProcessEnd): End {
    const died = this.#died(child, end);
    return failed(`it could not start: ${describeEnd(died, "its process")}`);
  }

  #died(child: Child, end: ProcessEnd): End {
    return { kind: "died", ...end, stderr: this.#options.redact(child.stderrTail()) };
  }
}

function failed(reason: string, cause?: unknown): End {
  return { kind: "failed", reason, ...(cause === undefined ? {} : { cause }) };
}
