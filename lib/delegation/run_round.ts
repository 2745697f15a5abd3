/**
 * One round of a run: its hooks, its slot, its prompts to the child, until it has nothing more to do.
 *
 * @module
 */
import { ask, type ResidentAskResult, type ResidentSession } from "../agents/ask.ts";
import { AskRelay } from "../agents/ask_relay.ts";
import type { ChildCallPart } from "../agents/child_connection.ts";
import type { AgentPool } from "../agents/pool.ts";
import { relayedAsk, type ShownCall } from "../agents/relayed_ask.ts";
import type { End } from "../base/ends.ts";
import { messageOf } from "../base/errors.ts";
import type { Emit } from "../engine/events.ts";
import type { Gate } from "../gate/gate.ts";
import type { AskHooks } from "../hooks/ask_hooks.ts";
import type { AfterRun, HookedRun, SubagentHooks } from "../hooks/subagent_hooks.ts";
import { childKeyOf } from "./child_key.ts";
import { MAX_SENT_BACK } from "./delegation_limits.ts";
import { conversationLost, openingOf, type OpenRunSetup } from "./open_run.ts";
import { canGoOn, type Run, type RunResult } from "./run.ts";
import type { RunSlots } from "./run_slots.ts";
import type { SubagentChildren } from "./subagent_children.ts";
import { type TimeLimit, timeLimit } from "./time_limit.ts";

/** What the rounds of one session share. */
export interface RoundSetup extends OpenRunSetup {
  readonly pool: AgentPool;
  readonly children: SubagentChildren;
  readonly slots: RunSlots;
  readonly gate: Gate;
  readonly emit: Emit;
  /** Whether gated calls of this agent run without a question. */
  readonly yolo: () => boolean;
  readonly askHooks?: AskHooks | undefined;
  readonly hooks?: SubagentHooks | undefined;
  /** The directory of the session, absolute. */
  readonly cwd: string;
  /** Longest silence of a run in the background, in milliseconds. */
  readonly silenceMs: number;
  /** How long a tool call of a subagent may run without a word, in milliseconds. */
  readonly callBudgetMs: number;
}

/** Options of {@linkcode runRound}. */
export interface RoundOptions {
  readonly run: Run;
  readonly prompt: string;
  readonly signal: AbortSignal;
  /** Present for a run that a turn waits for. */
  readonly call?: ShownCall | undefined;
  /** Told when it waits for a slot, with how many wait before it, and when it has one. */
  readonly onQueued: (before: number) => void;
  readonly onStarted: () => void;
  /** Takes over giving the slot back; absent: the round gives it back when it is over. */
  readonly keepSlot?: (release: () => void) => void;
  /** Told when it has a session in its child that it did not have before. */
  readonly onOpened?: () => void;
  /** Told of what the person should know. */
  readonly onWarning: (text: string) => void;
}

/** Runs a round. Never rejects: every failure is an end. */
export async function runRound(setup: RoundSetup, options: RoundOptions): Promise<RunResult> {
  const round = new Round(setup, options);
  try {
    return { ...await round.run(), durationMs: round.workedMs };
  } catch (thrown) {
    const end: End = options.signal.aborted
      ? { kind: "cancelled" }
      : { kind: "failed", reason: messageOf(thrown), cause: thrown };
    return { end, answer: "", toolCalls: 0, durationMs: round.workedMs, notes: [] };
  }
}

class Round {
  readonly #setup: RoundSetup;
  readonly #options: RoundOptions;
  readonly #notes: string[] = [];
  #toolCalls = 0;
  /** Runs from the moment it has a slot. */
  #clock: TimeLimit | undefined;

  constructor(setup: RoundSetup, options: RoundOptions) {
    this.#setup = setup;
    this.#options = options;
  }

  /** Milliseconds that it worked: neither in the queue, nor while a person or a hook was waited for. */
  get workedMs(): number {
    return Math.round(this.#clock?.elapsedMs ?? 0);
  }

  async run(): Promise<RunResult> {
    const { run, signal, keepSlot } = this.#options;
    const { hooks } = this.#setup;
    let { prompt } = this.#options;
    const before = await this.#unwatched(async () =>
      await hooks?.before(this.#hooked(), { signal })
    );
    if (before !== undefined && "refused" in before) {
      const end: End = { kind: "refused", by: "hook", reason: before.refused };
      return { end, answer: "", toolCalls: 0, durationMs: 0, notes: [] };
    }
    const context = before?.context ?? "";
    if (context.trim() !== "") prompt += `\n\n[added by a subagentStart hook]\n${context}`;
    const release = await this.#slot();
    const definition = run.target.kind === "definition" ? run.target.definition : undefined;
    const limit = timeLimit({ ms: definition?.maxTimeMs, signal });
    this.#clock = limit;
    try {
      this.#options.onStarted();
      const result = await this.#rounds(prompt, limit.signal);
      const end = limit.end ?? result.end;
      return { ...result, end, toolCalls: this.#toolCalls, notes: this.#notes };
    } finally {
      limit.stop();
      if (keepSlot === undefined) release();
      else keepSlot(release);
    }
  }

  /** Asks until neither a message nor a hook wants more. */
  async #rounds(first: string, signal: AbortSignal): Promise<ResidentAskResult> {
    const { run } = this.#options;
    const { hooks } = this.#setup;
    let prompt = first;
    for (let again = 0;;) {
      const result = await this.#ask(prompt, signal);
      this.#toolCalls += result.toolCalls;
      if (signal.aborted) return result;
      // What came too late for the prompt that ran: in order, and before anyone is told of an end.
      const message = canGoOn(result) ? run.messages.shift() : undefined;
      if (message !== undefined) {
        prompt = message;
        continue;
      }
      if (hooks === undefined) return result;
      const { answer, end: { kind: end } } = result;
      let after: AfterRun;
      try {
        after = await this.#unwatched(() =>
          hooks.after(this.#hooked(), { answer, end, again }, { signal })
        );
      } catch (thrown) {
        // What the agent said is there, whatever became of the hook.
        if (signal.aborted) return { ...result, end: { kind: "cancelled" } };
        this.#options.onWarning(`a subagentStop hook could not be run: ${messageOf(thrown)}`);
        return result;
      }
      for (const warning of after.warnings) this.#options.onWarning(warning);
      if (after.again === undefined || !canGoOn(result)) return result;
      if (again === MAX_SENT_BACK) {
        this.#notes.push(
          `[a subagentStop hook wanted more ${again + 1} times, which is once more than it may]`,
        );
        return result;
      }
      again++;
      prompt = after.again;
    }
  }

  async #slot(): Promise<() => void> {
    const { slots } = this.#setup;
    const { signal, onQueued } = this.#options;
    return await this.#unwatched(() => slots.take({ signal, onQueued }));
  }

  /** The time of hooks, queues and people is not the subagent's. */
  async #unwatched<T>(task: () => Promise<T>): Promise<T> {
    const resume = this.#pause();
    try {
      return await task();
    } finally {
      resume();
    }
  }

  /** Stops the turn's watchdog and the run's own clock until the returned function is called. */
  #pause(): () => void {
    const watched = this.#options.call?.pauseWatchdog();
    const timed = this.#clock?.pause();
    return () => {
      watched?.();
      timed?.();
    };
  }

  #hooked(): HookedRun {
    const { run, prompt } = this.#options;
    const { id: taskId, agent, description, background, cwd } = run;
    return { taskId, agent, description, prompt, background, cwd };
  }

  async #ask(prompt: string, signal: AbortSignal): Promise<ResidentAskResult> {
    const { run } = this.#options;
    const result = run.target.kind === "entry"
      ? await this.#askEntry(run.target.agent, prompt, signal)
      : await this.#askSubagent(prompt, signal);
    run.resident = result.resident;
    run.sessionId = result.resident?.session.id ?? run.sessionId;
    return result;
  }

  async #askEntry(agent: string, prompt: string, signal: AbortSignal): Promise<ResidentAskResult> {
    const { run, call } = this.#options;
    const { pool, gate, emit, yolo, askHooks, silenceMs } = this.#setup;
    return await relayedAsk({
      agent,
      prompt,
      by: "model",
      pool,
      gate,
      yolo,
      hooks: askHooks,
      emit: call === undefined ? () => {} : emit,
      cwd: run.cwd,
      signal,
      silenceMs: call === undefined ? silenceMs : Infinity,
      ...(call === undefined ? { taskId: run.id } : { call }),
      onDid: (what) => run.did(what),
      pause: () => this.#pause(),
      keep: true,
      ...(run.resident === undefined ? {} : { resident: run.resident, open: conversationLost }),
      onSession: (resident) => run.resident = resident,
    });
  }

  async #askSubagent(prompt: string, signal: AbortSignal): Promise<ResidentAskResult> {
    const { run, call } = this.#options;
    const { gate, emit, yolo, silenceMs, callBudgetMs } = this.#setup;
    const { agent } = run;
    const relay = new AskRelay({
      agent,
      emit: call === undefined ? () => {} : emit,
      gate,
      // An entry of `mmConfigs` that has the same name is somebody else.
      yolo,
      cwd: run.cwd,
      ...(call === undefined ? { taskId: run.id } : { callId: call.id, output: call.output }),
    });
    let resume = () => {};
    try {
      const key = childKeyOf(run.target, this.#setup.cwd);
      return await this.#setup.children.use(key, (child) =>
        ask({
          agent,
          child,
          prompt,
          cwd: run.cwd,
          signal,
          silenceMs: call === undefined ? silenceMs : Infinity,
          callBudgetMs,
          keep: true,
          ...(run.resident === undefined ? {} : { resident: run.resident }),
          open: openingOf(run, this.#setup),
          onSession: (resident) => this.#opened(resident),
          onUpdate: (update) => {
            call?.alive();
            if (update.type === "tool_call") run.did(update.call.title ?? update.call.name ?? "");
            relay.update(update);
          },
          onBusy: (busy) => {
            resume();
            resume = busy ? call?.pauseWatchdog() ?? (() => {}) : () => {};
          },
          onPermission: (childCall: ChildCallPart, permission) =>
            this.#unwatched(() => relay.permission(childCall, permission)),
        }));
    } finally {
      resume();
      relay.close();
    }
  }

  #opened(resident: ResidentSession): void {
    const { run } = this.#options;
    const { id } = resident.session;
    run.resident = resident;
    if (run.sessionId === id) return;
    run.sessionId = id;
    this.#options.onOpened?.();
  }
}
