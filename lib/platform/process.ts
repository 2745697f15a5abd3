/**
 * What mm needs from the operating system's processes. Every process mm starts runs in a group of
 * its own that ends with mm, in whatever way mm ends.
 *
 * @module
 */

/** How a process ended: an exit code, or the signal that killed it. */
export interface ProcessEnd {
  /** `null` when a signal killed it. */
  readonly code: number | null;
  /** `null` when it ended by itself. */
  readonly signal: string | null;
}

/** Options of {@linkcode Commands.run}. */
export interface RunOptions {
  /** Absolute. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** Ends the whole group: TERM, then KILL after a grace. */
  readonly signal: AbortSignal;
  /** Budget in milliseconds; at its end the whole group is ended. */
  readonly timeoutMs: number;
  /** UTF-16 units of output kept in memory: half from the beginning, half from the end. */
  readonly keep: number;
  /** A piece of output (stdout and stderr as they come), for the person. */
  readonly onOutput: (text: string) => void;
}

/** What a command did. */
export interface CommandResult {
  /** The output that was kept; where something was left out, a line in between says how much. */
  readonly output: string;
  /** UTF-16 units the command wrote in all. */
  readonly total: number;
  readonly end: ProcessEnd;
  readonly timedOut: boolean;
  /** Processes of the group that still run; they are ended with the session. */
  readonly background: readonly number[];
}

/** What a command left running when it ended. */
export interface BackgroundCommand {
  /** The command line. */
  readonly command: string;
  /** When it was started: milliseconds as `performance.now()` counts them. */
  readonly since: number;
}

/** Runs shell commands for one session. */
export interface Commands {
  /**
   * Runs a command line with `bash` (else `sh`), its stdin closed. Returns when the command ends,
   * whatever it left running in the background.
   *
   * @throws the signal's reason when it was aborted, after the group is gone.
   * @throws {Error} when no process can be started: no shell, no such directory.
   */
  run(command: string, options: RunOptions): Promise<CommandResult>;
  /** The commands whose processes go on in the background, the oldest first. */
  background(): readonly BackgroundCommand[];
  /** Ends every group that still has a process. */
  close(): Promise<void>;
}

/** Options of {@linkcode StartChild}. */
export interface StartChildOptions {
  /** Program and arguments. */
  readonly command: readonly [string, ...string[]];
  /** Absolute. */
  readonly cwd: string;
  /** The whole environment; a mark is added by which what leaves the group is found. */
  readonly env: Readonly<Record<string, string>>;
}

/** A child that is talked to over its stdin and stdout. */
export interface Child {
  readonly pid: number;
  readonly stdin: WritableStream<Uint8Array>;
  readonly stdout: ReadableStream<Uint8Array>;
  /** Settles when the process ended; never rejects. */
  readonly ended: Promise<ProcessEnd>;
  /** The last lines the child wrote on stderr, at most 4000 UTF-16 units. */
  stderrTail(): string;
  /** Closes its stdin, then TERM, then KILL of its group; returns when it is gone. */
  stop(options?: { readonly graceMs?: number }): Promise<ProcessEnd>;
  /** KILL of its group at once. */
  kill(): void;
}

/**
 * Starts a child in a group of its own.
 *
 * @throws {Error} when the program cannot be started, with its name and the reason.
 */
export type StartChild = (options: StartChildOptions) => Promise<Child>;
