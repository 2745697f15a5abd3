/**
 * mm as a process: started for real, spoken to by its terminal lines, seen by its streams and its
 * exit status.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { bounded, DEFAULT_WAIT_MS } from "./bounded.ts";
import { type Program, programUnderTest } from "./program.ts";

/** How a process ended. */
export interface Exit {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

/** What a whole run of mm gave. */
export interface RunResult extends Exit {
  readonly stdout: string;
  readonly stderr: string;
}

/** Options of {@linkcode startMm}. */
export interface StartMmOptions {
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Written to stdin, which is then closed. @default {stdin stays open} */
  readonly stdin?: string | Uint8Array;
  /** Another program than the mm under test. */
  readonly program?: Program;
}

/** A stream of a process, or both mixed as they came. */
export type StreamName = "stdout" | "stderr" | "both";

/** Where an expected piece of output was found. */
export interface Found {
  /** The matched text, then its groups. */
  readonly match: readonly string[];
  readonly index: number;
  /** The offset after the match: the `from` of the next wait. */
  readonly end: number;
}

/** Options of {@linkcode MmProcess.waitForOutput}. */
export interface WaitForOutputOptions {
  /** @default {"both"} */
  readonly stream?: StreamName;
  /** Looks only from this offset on. @default {0} */
  readonly from?: number;
  /** @default {20000} */
  readonly timeoutMs?: number;
}

/** A running mm. */
export class MmProcess {
  readonly pid: number;
  readonly args: readonly string[];
  readonly #child: ChildProcess;
  readonly #seen: Record<StreamName, string> = { stdout: "", stderr: "", both: "" };
  readonly #bytes: Record<"stdout" | "stderr", Uint8Array[]> = { stdout: [], stderr: [] };
  readonly #ended: Promise<Exit>;
  readonly #lookAgain = new Set<() => void>();
  #exit: Exit | undefined;

  /** Use {@linkcode startMm}. */
  constructor(child: ChildProcess, args: readonly string[]) {
    this.#child = child;
    this.pid = child.pid ?? -1;
    this.args = args;
    this.#collect("stdout");
    this.#collect("stderr");
    this.#ended = new Promise((resolve, reject) => {
      child.once("error", reject);
      // `close` comes after the last output, `exit` may come before it.
      child.once("close", (code, signal) => {
        this.#exit = { code, signal };
        resolve(this.#exit);
        for (const look of this.#lookAgain) look();
      });
    });
    // Whoever waits hears of it; nobody has to.
    this.#ended.catch(() => {});
    child.stdin?.on("error", () => {});
  }

  /** What came on stdout so far, as text. */
  get stdout(): string {
    return this.#seen.stdout;
  }

  /** What came on stderr so far, as text. */
  get stderr(): string {
    return this.#seen.stderr;
  }

  /** Both streams mixed as they came. */
  get output(): string {
    return this.#seen.both;
  }

  /** What came on a stream so far, as bytes. */
  bytesOf(stream: "stdout" | "stderr"): Uint8Array {
    return Buffer.concat(this.#bytes[stream]);
  }

  /** Whether the process ended, and how. */
  get ended(): Exit | undefined {
    return this.#exit;
  }

  /** Waits for the end, at most 20 s. */
  get exit(): Promise<Exit> {
    return this.waitForExit();
  }

  /**
   * Waits for the end of the process and of its output.
   *
   * @throws {Error} after `timeoutMs` (20 s), with the output.
   */
  waitForExit(options: { readonly timeoutMs?: number } = {}): Promise<Exit> {
    return bounded(
      this.#ended,
      options.timeoutMs ?? DEFAULT_WAIT_MS,
      () => `mm did not end. ${this.report()}`,
    );
  }

  /**
   * Waits until the output contains (or matches) `what`.
   *
   * @throws {Error} after `timeoutMs` (20 s), or when the process ended without it; with the output.
   */
  waitForOutput(what: string | RegExp, options: WaitForOutputOptions = {}): Promise<Found> {
    const { stream = "both", from = 0, timeoutMs = DEFAULT_WAIT_MS } = options;
    const find = () => findIn(this.#seen[stream], what, from);
    const missing = () => `${describe(what)} did not come on ${stream}. ${this.report()}`;
    const { promise, resolve, reject } = Promise.withResolvers<Found>();
    const look = () => {
      const found = find();
      if (found !== undefined) resolve(found);
      else if (this.#exit !== undefined) reject(new Error(`mm ended; ${missing()}`));
      else return;
      this.#lookAgain.delete(look);
    };
    this.#lookAgain.add(look);
    look();
    return bounded(promise, timeoutMs, missing).finally(() => this.#lookAgain.delete(look));
  }

  /** Gives each further piece of output of a stream to `listener`. */
  onOutput(stream: "stdout" | "stderr", listener: (bytes: Uint8Array) => void): void {
    this.#child[stream]?.on("data", listener);
  }

  /** Settles with the end, however late; rejects when the program could not be started. */
  waitForEnd(): Promise<Exit> {
    return this.#ended;
  }

  /** Writes to stdin. */
  write(text: string | Uint8Array): void {
    this.#child.stdin?.write(text);
  }

  /** Writes one line to stdin. */
  writeLine(line: string): void {
    this.write(`${line}\n`);
  }

  /** Closes stdin. */
  endInput(): void {
    this.#child.stdin?.end();
  }

  /** Closes the reading end of stdout, as `head` does when it has seen enough. */
  closeStdout(): void {
    this.#child.stdout?.destroy();
  }

  /** Stops to read stdout, which stays open, or goes on. */
  readStdout(reading: boolean): void {
    if (reading) this.#child.stdout?.resume();
    else this.#child.stdout?.pause();
  }

  /** Sends a signal to the process, not to its group. */
  signal(name: NodeJS.Signals): void {
    if (this.#exit !== undefined) return;
    // After `ChildProcess.kill`, Deno reports the signal as the end even of a process that handled it.
    process.kill(this.pid, name);
  }

  /** Sends a signal to the process's group, as a terminal does on Ctrl-C. */
  signalGroup(name: NodeJS.Signals): void {
    process.kill(-this.pid, name);
  }

  /**
   * Ends the process as a careful user does: end of input, then TERM after `graceMs` (5 s).
   *
   * @throws {Error} when neither ends it; it is then killed.
   */
  async stop(options: { readonly graceMs?: number } = {}): Promise<void> {
    const timeoutMs = options.graceMs ?? 5000;
    if (this.#child.pid === undefined) return;
    this.endInput();
    if (await this.#endsWithin(timeoutMs)) return;
    this.signal("SIGTERM");
    if (await this.#endsWithin(timeoutMs)) return;
    const report = this.report();
    this.signal("SIGKILL");
    await this.waitForExit();
    throw new Error(`Neither the end of its input nor SIGTERM ended ${report}`);
  }

  #endsWithin(timeoutMs: number): Promise<boolean> {
    return this.waitForExit({ timeoutMs }).then(() => true, () => false);
  }

  /** The call and its output so far, for a message. */
  report(): string {
    const state = this.#exit === undefined
      ? "still running"
      : `ended with ${this.#exit.signal ?? `status ${this.#exit.code}`}`;
    return `mm ${this.args.join(" ")} (${state})\n--- stdout\n${tail(this.stdout)}` +
      `\n--- stderr\n${tail(this.stderr)}\n---`;
  }

  #collect(name: "stdout" | "stderr"): void {
    const decoder = new TextDecoder();
    this.#child[name]?.on("data", (bytes: Uint8Array) => {
      const text = decoder.decode(bytes, { stream: true });
      this.#bytes[name].push(bytes);
      this.#seen[name] += text;
      this.#seen.both += text;
      for (const look of this.#lookAgain) look();
    });
  }
}

/** Starts the mm under test in a process group of its own. */
export function startMm(args: readonly string[], options: StartMmOptions): MmProcess {
  const [program, ...first] = options.program ?? programUnderTest();
  const child = spawn(program, [...first, ...args], {
    cwd: options.cwd,
    env: options.env,
    stdio: ["pipe", "pipe", "pipe"],
    detached: true,
  });
  const mm = new MmProcess(child, args);
  if (options.stdin !== undefined) {
    mm.write(options.stdin);
    mm.endInput();
  }
  return mm;
}

/** Runs mm to its end; stdin is empty unless given. */
export async function runMm(
  args: readonly string[],
  options: StartMmOptions & { readonly timeoutMs?: number },
): Promise<RunResult> {
  const mm = startMm(args, { ...options, stdin: options.stdin ?? "" });
  const exit = await mm.waitForExit(
    options.timeoutMs === undefined ? {} : { timeoutMs: options.timeoutMs },
  );
  return { ...exit, stdout: mm.stdout, stderr: mm.stderr };
}

function findIn(text: string, what: string | RegExp, from: number): Found | undefined {
  if (typeof what === "string") {
    const index = text.indexOf(what, from);
    return index < 0 ? undefined : { match: [what], index, end: index + what.length };
  }
  // Without `g`: a shared `lastIndex` would make the result depend on earlier searches.
  const match = new RegExp(what.source, what.flags.replace("g", "")).exec(text.slice(from));
  if (match === null) return undefined;
  const index = from + match.index;
  return { match: [...match], index, end: index + match[0].length };
}

function describe(what: string | RegExp): string {
  return typeof what === "string" ? JSON.stringify(what) : String(what);
}

function tail(text: string): string {
  return text.length <= 4000 ? text : `[…]${text.slice(-4000)}`;
}
