/**
 * A turn: from a prompt to its end, through as many model requests and tool calls as it takes.
 *
 * @module
 */
import type { End } from "../base/ends.ts";
import { messageOf } from "../base/errors.ts";
import type { ToolCallRequest, ToolCallView } from "../base/tool_call.ts";
import type { JsonSchema } from "../config/output_schema.ts";
import type { Image, ModelClient, ModelReply, Usage } from "../model/types.ts";
import { ModelError } from "../model/types.ts";
import { addUsage } from "../model/usage.ts";
import { type CallEnvironment, type CallOutcome, namedIn, runCall } from "./call_runner.ts";
import type { Compaction, CompactionContext } from "./compaction.ts";
import type { Conversation } from "./conversation.ts";
import { LoopGuard, repetitionWarning, STOP_AT } from "./loop_guard.ts";
import { completeOnce } from "./model_request.ts";
import type { Steering } from "./steering.ts";
import { StructuredAnswer } from "./structured_answer.ts";
import { Watchdog } from "./watchdog.ts";

/** Options of {@linkcode runTurn}. */
export interface TurnOptions extends Omit<CallEnvironment, "watchdog"> {
  readonly conversation: Conversation;
  readonly model: ModelClient;
  readonly text: string;
  readonly images?: readonly Image[];
  /** Longest silence, in milliseconds. */
  readonly watchdogTimeoutMs: number;
  /** Model requests in this turn; absent for no limit. */
  readonly maxTurns?: number;
  /** A valid JSON Schema that the answer has to satisfy; absent for an answer in words. */
  readonly outputSchema?: JsonSchema;
  /** Compresses the conversation where it outgrows the window; absent where nothing does. */
  readonly compaction?: Compaction;
  /** Messages that come while the turn runs; it tells where it looks for them no more. */
  readonly steering?: Pick<Steering, "take" | "end">;
  /** Begins the turn in place of adding the text: the conversation then waits for an answer. */
  readonly begin?: (conversation: Conversation) => void;
}

/** How a turn went. */
export interface TurnOutcome {
  readonly end: End;
  /** The text of the last answer, or what there is of it. */
  readonly text: string;
  readonly usage?: Usage;
  readonly toolCalls: number;
}

/** The reason the watchdog ends a turn with; its message names who was silent. */
class Silence extends Error {}

/**
 * Runs a turn. Never rejects: every failure is an end. Afterwards the conversation is closed, so
 * that the next prompt is accepted by strict templates.
 */
export async function runTurn(options: TurnOptions): Promise<TurnOutcome> {
  const { conversation, signal, outputSchema } = options;
  const answer = outputSchema && await StructuredAnswer.of(outputSchema, options.emit);
  const silence = new AbortController();
  const watchdog = new Watchdog({
    timeoutMs: options.watchdogTimeoutMs,
    onTimeout: () => silence.abort(new Silence(turn.silentOnes())),
  });
  const either = AbortSignal.any([signal, silence.signal]);
  const onAbort = () => options.steering?.end();
  either.addEventListener("abort", onAbort, { once: true });
  const turn = new Turn({
    ...options,
    watchdog,
    signal: either,
    ...(answer === undefined ? {} : { answer, emit: answer.emit }),
  });
  let end: End;
  try {
    if (options.begin === undefined) conversation.addUser(options.text, options.images);
    else options.begin(conversation);
    end = await turn.run();
  } catch (thrown) {
    end = turn.endOf(thrown, { cancelled: signal.aborted, silence: silence.signal });
  } finally {
    watchdog.stop();
    either.removeEventListener("abort", onAbort);
  }
  answer?.end(end);
  conversation.close(closingMark(end, turn.partial));
  return {
    end,
    text: turn.text,
    toolCalls: turn.toolCalls,
    ...(turn.usage === undefined ? {} : { usage: turn.usage }),
  };
}

/** What a closed turn says in the history in place of an answer. */
function closingMark(end: End, partial: string): string {
  const words: Record<End["kind"], string> = {
    answered: "no answer",
    incomplete: "stopped at a limit",
    refused: "refused",
    cancelled: "cancelled by the user",
    timed_out: "timed out",
    died: "failed",
    failed: "failed",
  };
  const mark = `[${words[end.kind]}]`;
  return partial === "" ? mark : `${partial}\n${mark}`;
}

interface TurnParts extends TurnOptions, CallEnvironment {
  /** Present for an answer that has to satisfy a schema. */
  readonly answer?: StructuredAnswer;
}

class Turn {
  readonly #options: TurnParts;
  readonly #running = new Map<ToolCallRequest, ToolCallView>();
  readonly #guard = new LoopGuard();
  /** What the request under way has shown so far. */
  partial = "";
  text = "";
  usage: Usage | undefined;
  toolCalls = 0;

  constructor(options: TurnParts) {
    this.#options = options;
  }

  async run(): Promise<End> {
    try {
      return await this.#requests();
    } finally {
      this.#options.steering?.end();
    }
  }

  async #requests(): Promise<End> {
    const { conversation, answer, steering, maxTurns = Infinity } = this.#options;
    for (let requests = 0; requests < maxTurns; requests++) {
      // What comes from now on no request of this turn could tell the model.
      if (requests + 1 >= maxTurns) steering?.end();
      const reply = await this.#ask();
      const calls = reply.message.toolCalls ?? [];
      if (reply.finish === "length") {
        // Arguments that were cut must not run; close() gives the calls their result.
        conversation.addAssistant(reply.message);
        return { kind: "incomplete", limit: "output" };
      }
      if (reply.finish === "refusal") {
        conversation.addAssistant(
          reply.message.text === "" ? { ...reply.message, text: "[refused]" } : reply.message,
        );
        return { kind: "incomplete", limit: "refusal" };
      }
      conversation.addAssistant(reply.message);
      if (calls.length > 0) {
        answer?.calls();
        await this.#runCalls(calls);
        if (this.#guard.looping) return { kind: "incomplete", limit: "loop" };
        continue;
      }
      const message = steering?.take();
      if (message !== undefined) {
        answer?.calls();
        conversation.addUser(message);
        continue;
      }
      if (answer === undefined) return { kind: "answered" };
      const verdict = answer.judge(reply);
      if (verdict.kind === "failed") return verdict.end;
      if (verdict.kind === "answer") {
        this.text = verdict.text;
        return { kind: "answered" };
      }
      conversation.addUser(verdict.prompt);
    }
    return { kind: "incomplete", limit: "turns" };
  }

  /** Sends the conversation; an answer without text and calls is asked for once more. */
  async #ask(): Promise<ModelReply> {
    for (let attempt = 0;; attempt++) {
      const reply = await this.#complete();
      this.#count(reply.usage);
      const { message, finish } = reply;
      this.text = message.text;
      const empty = message.text.trim() === "" && (message.toolCalls?.length ?? 0) === 0;
      if (!empty || finish === "refusal") return reply;
      if (finish === "length") {
        return { ...reply, message: { ...message, text: "[the output limit left no answer]" } };
      }
      if (attempt > 0) throw new Error(`${this.#options.model.label} gave an empty answer twice`);
      this.#options.emit({
        type: "notice",
        severity: "warning",
        text: `${this.#options.model.label} gave an empty answer; asking once more`,
      });
    }
  }

  /** Sends the conversation; where it does not fit the window, it is compressed once and sent again. */
  async #complete(): Promise<ModelReply> {
    const { answer, conversation, compaction, ...options } = this.#options;
    const tools = options.declared ?? options.tools;
    const context: CompactionContext = {
      ...options,
      tools,
      onLife: () => options.watchdog.touch(),
      onUsage: (usage) => this.#count(usage),
    };
    await compaction?.before(context);
    for (let again = false;; again = true) {
      const request = { ...options, tools, conversation, ...answer?.request(tools) };
      this.partial = "";
      try {
        const reply = await completeOnce({ ...request, onText: (text) => this.partial += text });
        this.partial = "";
        const { message, usage } = reply;
        const { messages } = conversation;
        compaction?.observe({ messages, tools: request.tools, reply: message, usage });
        return reply;
      } catch (thrown) {
        const exceeded = thrown instanceof ModelError && thrown.kind === "context_exceeded";
        if (!exceeded || again || !await compaction?.exceeded(context)) throw thrown;
      }
    }
  }

  /** Runs the calls of one answer: those that may run at the same time together, others in order. */
  async #runCalls(calls: readonly ToolCallRequest[]): Promise<void> {
    const { conversation, tools, steering, signal } = this.#options;
    const parallel = new Set(tools.filter((tool) => tool.parallel).map((tool) => tool.name));
    for (let next = 0; next < calls.length;) {
      let after = next + 1;
      if (parallel.has(calls[next]?.name ?? "")) {
        while (after < calls.length && parallel.has(calls[after]?.name ?? "")) after++;
      }
      const group = calls.slice(next, after);
      // All are waited for, also when one fails, so that nothing runs on behind the turn's end.
      const settled = await Promise.allSettled(group.map((call) => this.#runOne(call)));
      const failed = settled.find((result) => result.status === "rejected");
      // With the last result, which no request has told yet: what was told stays as it is.
      const last = after === calls.length && failed === undefined && !signal.aborted;
      const message = last && !this.#guard.looping ? steering?.take() : undefined;
      for (const [at, { id, name }] of group.entries()) {
        const result = settled[at];
        const text = result?.status === "fulfilled" ? result.value.text : "[cancelled]";
        const told = message !== undefined && at === group.length - 1 ? `\n\n${message}` : "";
        conversation.addToolResult({ callId: id, name, text: text + told });
      }
      if (failed !== undefined) throw failed.reason;
      // Some results are told though the turn was cancelled.
      signal.throwIfAborted();
      next = after;
    }
  }

  async #runOne(call: ToolCallRequest): Promise<CallOutcome> {
    this.#options.signal.throwIfAborted();
    const polls = namedIn(call.name, this.#options.tools)?.repeatable === true;
    const times = polls ? 1 : this.#guard.note(call);
    // Many of the same in one answer: the turn ends behind them.
    if (times > STOP_AT) return { ok: false, text: `Not run: the same call ran ${STOP_AT} times` };
    this.toolCalls++;
    const outcome = await runCall(call, this.#options, (view) => {
      if (view === undefined) this.#running.delete(call);
      else this.#running.set(call, view);
    });
    if (outcome.barred !== true) this.#guard.ran(outcome.wrong !== true);
    return { ...outcome, text: outcome.text + repetitionWarning(call.name, times) };
  }

  #count(usage: Usage | undefined): void {
    if (usage === undefined) return;
    this.usage = addUsage(this.usage, usage);
  }

  /** Returns the end for something that was thrown. */
  endOf(
    thrown: unknown,
    why: { readonly cancelled: boolean; readonly silence: AbortSignal },
  ): End {
    if (this.partial !== "") this.text = this.partial;
    if (why.cancelled) return { kind: "cancelled" };
    if (why.silence.aborted) {
      const from = messageOf(why.silence.reason);
      return { kind: "timed_out", afterMs: this.#options.watchdogTimeoutMs, from };
    }
    if (thrown instanceof ModelError && thrown.partial !== undefined && this.text === "") {
      this.text = thrown.partial.text;
    }
    return { kind: "failed", reason: messageOf(thrown), cause: thrown };
  }

  /** Names who is waited for: the asked agents and tools under way, else the model. */
  silentOnes(): string {
    const names = [...this.#running.values()].map((view) => {
      const agent = (view.input as { readonly agent?: unknown } | null)?.agent;
      return typeof agent === "string" ? agent : view.name;
    });
    return names.length > 0 ? [...new Set(names)].join(", ") : this.#options.model.label;
  }
}
