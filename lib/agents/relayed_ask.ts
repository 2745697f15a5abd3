/**
 * An ask whose work is shown: events to the front end of who asks, questions to its gate.
 *
 * @module
 */
import { describeEnd } from "../base/ends.ts";
import { messageOf } from "../base/errors.ts";
import type { Emit } from "../engine/events.ts";
import type { Gate } from "../gate/gate.ts";
import type { AskedBy, AskHooks, BeforeAsk, HookedAsk } from "../hooks/ask_hooks.ts";
import type { AskResult, ResidentAskResult } from "./ask.ts";
import { AskRelay } from "./ask_relay.ts";
import type { AgentPool, PoolAskOptions } from "./pool.ts";

/** The call of a tool that an ask is, and how the agent's work is shown there. */
export interface ShownCall {
  readonly id: string;
  readonly output: (text: string, options?: { readonly thought?: boolean }) => void;
  /** Told of each thing the asked agent does. */
  readonly alive: () => void;
  /** Stops the turn's watchdog until the returned function is called. */
  readonly pauseWatchdog: () => () => void;
}

/** Options of {@linkcode relayedAsk}. */
export interface RelayedAskOptions extends
  Pick<
    PoolAskOptions,
    | "agent"
    | "prompt"
    | "transcript"
    | "cwd"
    | "signal"
    | "silenceMs"
    | "onQueued"
    | "onBusy"
    | "open"
    | "resident"
    | "keep"
    | "onSession"
  > {
  /** The run in the background that asks; absent for the work of a turn. */
  readonly taskId?: string;
  /** Told of each call of the asked agent, in a few words. */
  readonly onDid?: (what: string) => void;
  /**
   * Told that a hook or a person is waited for, until the returned function is called.
   *
   * @default {the watchdog of `call` is paused}
   */
  readonly pause?: () => () => void;
  /** Who asks. */
  readonly by: AskedBy;
  /** What is run around the ask; absent where nothing is. */
  readonly hooks?: AskHooks | undefined;
  readonly pool: AgentPool;
  readonly gate: Gate;
  readonly emit: Emit;
  /** Whether gated calls of the agent that asks run without a question. */
  readonly yolo: () => boolean;
  /** The call that this ask is; absent for one that a person typed, or that runs in the background. */
  readonly call?: ShownCall;
}

/** How an ask with its work shown went. */
export interface RelayedResult extends ResidentAskResult {
  /** What the agent was asked: the prompt, as hooks left it. */
  readonly asked: string;
}

/** Asks and shows the work. Never rejects: every failure is an end. */
export async function relayedAsk(options: RelayedAskOptions): Promise<RelayedResult> {
  const { agent, by, cwd, prompt, transcript, pool, hooks, signal, emit } = options;
  // An ask that does not take place has no hooks.
  if (hooks === undefined || pool.limit !== undefined || pool.entry(agent) === undefined) {
    return { ...await shownAsk(options), asked: prompt };
  }
  const started = performance.now();
  const ended = (end: AskResult["end"]): RelayedResult => ({
    end,
    answer: "",
    toolCalls: 0,
    durationMs: Math.round(performance.now() - started),
    asked: prompt,
  });
  const hooked: HookedAsk = {
    agent,
    prompt,
    ...(transcript === undefined || transcript.trim() === "" ? {} : { transcript }),
    by,
    cwd,
  };
  let before: BeforeAsk;
  const resume = paused(options);
  try {
    before = await hooks.before(hooked, { signal });
  } catch (thrown) {
    if (signal.aborted) return ended({ kind: "cancelled" });
    before = { refused: `a hook could not be run: ${messageOf(thrown)}` };
  } finally {
    resume?.();
  }
  if ("refused" in before) return ended({ kind: "refused", by: "hook", reason: before.refused });
  if (before.changed) {
    emit({
      type: "notice",
      severity: "info",
      text: `a preAsk hook changed what ${agent} is asked`,
    });
  }
  const { changed: _, ...asked } = before;
  const result = await shownAsk({ ...options, ...asked, hooked: { ...hooked, ...asked } });
  return { ...result, asked: before.prompt };
}

function paused({ pause, call }: RelayedAskOptions): (() => void) | undefined {
  return pause === undefined ? call?.pauseWatchdog() : pause();
}

/** Asks, with the hooks on the answer. */
async function shownAsk(
  options: RelayedAskOptions & { readonly hooked?: HookedAsk },
): Promise<ResidentAskResult> {
  const { agent, pool, emit, call, hooks, hooked } = options;
  const askId = crypto.randomUUID();
  const relay = new AskRelay({
    agent,
    emit,
    gate: options.gate,
    yolo: () => pool.yolo(agent, options.yolo()),
    cwd: pool.entry(agent)?.cwd ?? options.cwd,
    ...(options.taskId === undefined ? {} : { taskId: options.taskId }),
    ...(call === undefined ? {} : { callId: call.id, output: call.output }),
  });
  const title = pool.title(agent);
  emit({
    type: "ask_start",
    askId,
    agent,
    title,
    ...(call === undefined ? {} : { callId: call.id }),
  });
  const answered = await pool.ask({
    ...options,
    onUpdate: (update) => {
      call?.alive();
      if (update.type === "tool_call") {
        options.onDid?.(update.call.title ?? update.call.name ?? "");
      }
      relay.update(update);
    },
    onPermission: async (childCall, permission) => {
      // While a person is asked, the turn's watchdog waits as it does for the agent's own calls.
      const resume = paused(options);
      try {
        return await relay.permission(childCall, permission);
      } finally {
        resume?.();
      }
    },
  });
  relay.close();
  const result = hooks === undefined || hooked === undefined
    ? answered
    : await checkedAnswer(answered, { ...options, hooks, hooked });
  const { end, label } = result;
  emit({ type: "ask_end", askId, agent, end, ...(label === undefined ? {} : { label }) });
  return result;
}

/**
 * Lets the hooks see an answer. What none of them let through goes nowhere: not the text of an ask
 * that was cancelled either.
 */
async function checkedAnswer(
  result: ResidentAskResult,
  options: RelayedAskOptions & { readonly hooks: AskHooks; readonly hooked: HookedAsk },
): Promise<ResidentAskResult> {
  const { agent, hooks, hooked, signal, emit, call } = options;
  const { end, label } = result;
  if (!hooks.reads(agent)) return result;
  if (end.kind === "cancelled") return { ...result, answer: "" };
  if (end.kind !== "answered" && result.answer.trim() === "") return result;
  const resume = paused(options);
  try {
    const after = await hooks.after(hooked, {
      answer: result.answer,
      end: end.kind,
      ...(label === undefined ? {} : { label }),
    }, { signal });
    if ("refused" in after) return withheld(after.refused);
    if (!after.changed) return result;
    warn(`a postAsk hook replaced ${agent}'s answer; what was shown before does not count`);
    if (call === undefined) {
      emit({ type: "text", messageId: crypto.randomUUID(), text: after.answer, agent });
    } else {
      call.output(`\n${after.answer}\n`);
    }
    return { ...result, answer: after.answer };
  } catch (thrown) {
    if (signal.aborted) return { ...result, end: { kind: "cancelled" }, answer: "" };
    return withheld(`a hook could not be run: ${messageOf(thrown)}`);
  } finally {
    resume?.();
  }

  function warn(text: string): void {
    emit({ type: "notice", severity: "warning", text });
  }

  function withheld(reason: string): ResidentAskResult {
    const refused = { kind: "refused", by: "hook", reason } as const;
    warn(`${describeEnd(refused, agent)}; what was shown before does not count`);
    return { ...result, end: refused, answer: "" };
  }
}
