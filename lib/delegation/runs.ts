/**
 * The runs of one session: started, followed, told, continued, stopped.
 *
 * @module
 */
import type { ShownCall } from "../agents/relayed_ask.ts";
import { settledOrAborted } from "../base/until_aborted.ts";
import { within } from "../base/within.ts";
import type { Emit } from "../engine/events.ts";
import { MAX_KEPT_RUNS, STOP_GRACE_MS } from "./delegation_limits.ts";
import type { Notification } from "./notification.ts";
import { canGoOn, Run, type RunResult, type RunTarget } from "./run.ts";
import { newRunId } from "./run_id.ts";
import { type RoundSetup, runRound } from "./run_round.ts";
import type { RunReports } from "./run_report.ts";
import type { RunRecords } from "./run_record.ts";
import type { Worktree, Worktrees } from "./worktree.ts";

/** Options of {@linkcode Runs}. */
export interface RunsOptions {
  readonly setup: RoundSetup;
  readonly emit: Emit;
  readonly worktrees: Worktrees | undefined;
  readonly reports: RunReports;
  /** Where the runs of the session are kept; absent where nothing is. */
  readonly records: RunRecords | undefined;
  /** Tells the person something. */
  readonly warn: (text: string) => void;
}

/** Options of {@linkcode Runs.start}. */
export interface StartRun {
  readonly target: RunTarget;
  readonly description: string;
  readonly prompt: string;
  /** The directory it works in, absolute. */
  readonly cwd: string;
  readonly worktree?: Worktree | undefined;
}

/** What the prompts of a round share. */
interface PromptOptions {
  readonly signal: AbortSignal;
  /** Gives back the slot that the last prompt left taken. */
  readonly slot: { release: () => void };
}

/** The runs of one session. */
export class Runs {
  readonly #options: RunsOptions;
  /** Those in the background, in the order they were started. */
  readonly #runs = new Map<string, Run>();
  readonly #rounds = new Map<Run, Promise<void>>();
  readonly #watchers = new Set<() => void>();
  #closed = false;

  /** Creates the registry, empty. */
  constructor(options: RunsOptions) {
    this.#options = options;
  }

  /** The runs in the background, in the order they were started. */
  get list(): readonly Run[] {
    return [...this.#runs.values()];
  }

  /** Their ids, likewise. */
  get ids(): readonly string[] {
    return [...this.#runs.keys()];
  }

  /** How many of them work, or wait to. */
  get active(): number {
    return this.list.filter((run) => run.active).length;
  }

  /** Whether the model has yet to be told of an end. */
  get pending(): boolean {
    return this.list.some((run) => run.untold.length > 0);
  }

  /** Returns a run in the background. */
  get(id: string): Run | undefined {
    return this.#runs.get(id.trim());
  }

  /** Calls back after each change; returns a function that ends it. */
  watch(onChange: () => void): () => void {
    this.#watchers.add(onChange);
    return () => this.#watchers.delete(onChange);
  }

  /** Runs in the foreground: returns when it is over. Never rejects: every failure is an end. */
  async carryOut(
    start: StartRun,
    options: {
      readonly signal: AbortSignal;
      readonly call: ShownCall;
      /** Whether a run that is cut short can be told to go on. @default {false} */
      readonly goesOn?: boolean;
    },
  ): Promise<{ readonly run: Run; readonly result: RunResult }> {
    const run = new Run({ ...start, id: newRunId(), background: false });
    const { call, signal, goesOn = false } = options;
    run.rounds = 1;
    const round = await runRound(this.#options.setup, {
      run,
      prompt: start.prompt,
      signal,
      call,
      onQueued: (before) => call.output(`[waits for ${otherRuns(before + 1)}]\n`),
      onStarted: () => {},
      onWarning: this.#options.warn,
    });
    const place = run.worktree;
    const result = await this.#settled(run, round);
    this.#tellKept(run);
    const lost = run.resident === undefined || run.worktree !== place || this.#closed;
    if (result.end.kind === "answered" || lost || !goesOn) {
      void run.resident?.session.close();
      return { run, result };
    }
    // What it knows by now is not to be found out again.
    run.background = true;
    run.cutShort = true;
    run.state = "ended";
    run.since = performance.now();
    run.result = result;
    this.#runs.set(run.id, run);
    this.#evict();
    this.#changed();
    const note = `[send_message with the task_id ${run.id} makes it go on]`;
    return { run, result: { ...result, notes: [...result.notes, note] } };
  }

  /** Starts a run in the background; returns at once. */
  start(start: StartRun): Run {
    const { target, prompt: task } = start;
    const run = new Run({
      ...start,
      id: newRunId(),
      background: true,
      // An asked agent goes on as long as its process, or not at all.
      ...(target.kind === "entry" ? {} : { task }),
    });
    this.#runs.set(run.id, run);
    this.#begin(run, task);
    return run;
  }

  /** Takes over the runs of a conversation that is gone on with. */
  restore(runs: readonly Run[]): void {
    for (const run of runs) this.#runs.set(run.id, run);
    this.#changed();
  }

  /** Goes on with a run that ended or was paused; `prompt` is what it is told. */
  goOn(run: Run, prompt: string): void {
    // What did not begin has its task still before it.
    if (run.task !== undefined) run.task += `\n\n${prompt}`;
    this.#begin(run, run.task ?? prompt);
  }

  /** Whether the model was not told yet of a run that is there to be gone on with. */
  get unreminded(): boolean {
    return this.list.some((run) => !run.active && !run.reminded);
  }

  /** Notes that the model was told which runs are there to be gone on with. */
  reminded(): void {
    for (const run of this.list) {
      if (run.active || run.reminded) continue;
      run.reminded = true;
      this.#options.records?.save(run);
    }
  }

  /** Notes that a run waits for a person, or does no longer. */
  park(id: string, waits: boolean): void {
    const run = this.#runs.get(id);
    if (run === undefined || !run.active) return;
    this.#set(run, waits ? "parked" : "running");
  }

  /**
   * Stops a run and waits until it is over, a few seconds at most. One that does not end in time is
   * given up: its end is told when it comes.
   *
   * @returns what is to be said of a paused run besides; its end is told by nobody.
   */
  async stop(run: Run): Promise<readonly string[]> {
    if (run.state === "paused") {
      run.giveUp();
      const notes = await this.#released(run);
      this.#set(run, "ended");
      this.#options.records?.save(run);
      return notes;
    }
    run.stop();
    await within(this.#rounds.get(run) ?? Promise.resolve(), STOP_GRACE_MS);
    return [];
  }

  /** Waits until a run's round is over, or the signal is aborted. */
  async ended(run: Run, signal: AbortSignal): Promise<void> {
    const round = this.#rounds.get(run);
    if (round !== undefined) await settledOrAborted(round, signal);
  }

  /** Returns the ends of a run that the model does not know yet, and notes that it knows them now. */
  tell(run: Run): Notification[] {
    const ends = run.untold;
    if (ends.length === 0) return [];
    run.untold = [];
    this.#options.records?.save(run);
    this.#evict();
    this.#changed();
    return ends;
  }

  /** Returns every end that the model does not know yet, and notes that it knows them now. */
  tellAll(): Notification[] {
    return this.list.flatMap((run) => this.tell(run));
  }

  /** Stops all runs and forgets them; what was saved of them stays. */
  async clear(): Promise<void> {
    const runs = this.list;
    this.#runs.clear();
    for (const run of runs) run.stop();
    await within(Promise.all(this.#rounds.values()), STOP_GRACE_MS);
    for (const run of runs) void run.resident?.session.close();
    this.#changed();
  }

  /** Ends with the session: what works is stopped, and can be gone on with where it was saved. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.clear();
  }

  #begin(run: Run, prompt: string): void {
    run.rounds++;
    run.cutShort = false;
    run.reminded = false;
    run.result = undefined;
    run.finishing = false;
    run.state = "queued";
    run.since = performance.now();
    const { signal, done } = run.stopSignal();
    const round = this.#round(run, prompt, signal).finally(() => {
      done();
      if (this.#rounds.get(run) === round) this.#rounds.delete(run);
    });
    this.#rounds.set(run, round);
    this.#options.records?.save(run);
    this.#changed();
  }

  async #round(run: Run, prompt: string, signal: AbortSignal): Promise<void> {
    // Whoever started it is told so first.
    await Promise.resolve();
    const slot = { release: () => {} };
    try {
      await this.#prompts(run, prompt, { signal, slot });
    } finally {
      // Who sees another run begin has seen this one end.
      slot.release();
    }
  }

  async #prompts(run: Run, prompt: string, options: PromptOptions): Promise<void> {
    const { signal, slot } = options;
    let result = await this.#prompt(run, prompt, options);
    while (canGoOn(result) && run.messages.length > 0 && !signal.aborted) {
      slot.release();
      result = await this.#prompt(run, run.messages.shift() ?? "", options);
    }
    run.finishing = true;
    const lost = run.messages.splice(0).length;
    if (lost > 0) {
      const notes = [`[${lost === 1 ? "one message" : `${lost} messages`} came too late for it]`];
      result = { ...result, notes: [...result.notes, ...notes] };
    }
    run.result = await this.#settled(run, result);
    // A session that ends tells nobody; on disk the run is still under way, so that it can go on.
    if (this.#closed || !this.#runs.has(run.id)) return;
    const notification = await this.#options.reports.of(run, run.result);
    if (this.#closed || !this.#runs.has(run.id)) return;
    run.untold.push(notification);
    this.#set(run, "ended");
    this.#options.records?.save(run);
    this.#evict();
  }

  async #prompt(
    run: Run,
    prompt: string,
    { signal, slot }: PromptOptions,
  ): Promise<RunResult> {
    return await runRound(this.#options.setup, {
      run,
      prompt,
      signal,
      keepSlot: (release) => slot.release = release,
      onQueued: () => this.#emit(run),
      onStarted: () => {
        this.#set(run, "running");
        this.#options.records?.save(run);
      },
      // From now on it can go on where it was saved.
      onOpened: () => {
        run.task = undefined;
        this.#options.records?.save(run);
      },
      onWarning: this.#options.warn,
    });
  }

  async #settled(run: Run, result: RunResult): Promise<RunResult> {
    return { ...result, notes: [...result.notes, ...await this.#released(run)] };
  }

  /** Sees to what a round leaves, its worktree; returns what is to be said of it. */
  async #released(run: Run): Promise<readonly string[]> {
    const { worktree } = run;
    if (worktree === undefined) return [];
    const end = await this.#options.worktrees?.release(worktree);
    if (end === undefined) return [];
    if (end.kept) return [`[${end.words}]`];
    run.worktree = undefined;
    return [];
  }

  /** Says on the screen where a kept worktree is: the words about it are in a result that only its line shows. */
  #tellKept({ agent, worktree }: Run): void {
    if (worktree === undefined) return;
    const { path, branch } = worktree;
    const text = `The worktree of ${agent} is kept: "${path}" on the branch "${branch}"`;
    quietly(() => this.#options.emit({ type: "notice", severity: "info", text }));
  }

  #evict(): void {
    const ended = this.list.filter((run) => run.state === "ended" && run.untold.length === 0);
    for (const run of ended.slice(0, Math.max(0, ended.length - MAX_KEPT_RUNS))) {
      this.#runs.delete(run.id);
      void run.resident?.session.close();
      run.resident = undefined;
    }
  }

  #set(run: Run, state: Run["state"]): void {
    if (run.state === state) return;
    run.state = state;
    run.since = performance.now();
    this.#emit(run);
    this.#changed();
  }

  #emit(run: Run): void {
    const { id: taskId, agent, description, state, result } = run;
    if (state === "paused") return;
    const end = state === "ended" && result !== undefined ? { end: result.end } : {};
    quietly(() => this.#options.emit({ type: "task", taskId, agent, description, state, ...end }));
  }

  #changed(): void {
    for (const watcher of this.#watchers) quietly(watcher);
  }
}

/** Tells a front end. What goes wrong there is no failure of a run. */
function quietly(tell: () => void): void {
  try {
    tell();
  } catch {
    // It has nobody else to be told to.
  }
}

/** `3 other runs`. */
function otherRuns(count: number): string {
  return `${count} other run${count === 1 ? "" : "s"}`;
}
