/**
 * Compression of a conversation: its older part becomes a summary, its latest turns stay as they are.
 * The only place where what was sent once is not the beginning of the next request.
 *
 * @module
 */
import { messageOf } from "../base/errors.ts";
import type { CompactionConfig } from "../config/types.ts";
import type { Message, ModelClient, ToolDeclaration, Usage } from "../model/types.ts";
import { chooseCut, type Cut } from "./compaction_cut.ts";
import { CompactionReport } from "./compaction_report.ts";
import { shortenResults } from "./compaction_shorten.ts";
import { ContextSize, type Observation } from "./compaction_size.ts";
import { summarise } from "./compaction_summary.ts";
import { summaryAndRequest, summaryPair } from "./compaction_words.ts";
import type { Conversation } from "./conversation.ts";
import type { Emit } from "./events.ts";

/** Attempts in a row that do not help, after which there is no other one. */
const MAX_STALLED = 2;

/**
 * Share of the window that a compression has to gain, and that has to be used anew before the next one:
 * a conversation that stays near the threshold must not be compressed at every step.
 */
const MIN_GAIN = 0.1;

/** Share of what is left beside system prompt and tools that the kept turns may take. */
const MAX_KEPT = 0.5;

/** Share of the window from which on the next compression does not wait for that. */
const NEARLY_FULL = 0.95;

/** Share of the window below which a part is not worth a request of its own. */
const MIN_OLD_SHARE = 0.05;

/** Options of {@linkcode Compaction}. */
export interface CompactionOptions {
  readonly conversation: Conversation;
  readonly model: ModelClient;
  readonly settings: CompactionConfig;
  /** How long a server that is not up is waited for, in milliseconds. */
  readonly patienceMs: number;
  /**
   * Whether the history is one that fitted the window before: it is then not compressed for an estimate,
   * but only once a request was answered. @default {false}
   */
  readonly fitted?: boolean;
}

/** What a compression needs from who asks for it. */
export interface CompactionContext {
  /** The tools of the conversation: their declarations take room. */
  readonly tools: readonly ToolDeclaration[];
  readonly emit: Emit;
  /** Called at every sign of life of the model. */
  readonly onLife: () => void;
  /** Told what the server counted. */
  readonly onUsage: (usage: Usage) => void;
  readonly signal: AbortSignal;
}

/** What came of a compression. */
export type CompactionOutcome =
  /** Tokens before and after. */
  | { readonly kind: "done"; readonly before: number; readonly after: number }
  /** There is nothing that could be summarised. */
  | { readonly kind: "nothing" }
  /** Nothing was changed. */
  | { readonly kind: "failed"; readonly reason: string };

/** Compresses one conversation, by itself or when it is told to. */
export class Compaction {
  readonly #options: CompactionOptions;
  readonly #size = new ContextSize();
  /** Attempts in a row that did not help. */
  #stalled = 0;
  /** Tokens after the last attempt. */
  #attempted = -Infinity;
  /** The person knows that there is nothing to compress. */
  #toldNothing = false;
  /** A request was answered. */
  #answered = false;

  /** Creates the compression of a conversation; nothing is measured yet. */
  constructor(options: CompactionOptions) {
    this.#options = options;
  }

  /** Takes what a request and its answer tell about the size of things. */
  observe(observation: Observation): void {
    this.#answered = true;
    this.#size.observe(observation);
  }

  /** Another conversation begins, or an earlier one is gone on with. */
  reset(): void {
    this.#size.reset();
    this.#begin();
  }

  /**
   * Compresses when the next request takes more of the window than the threshold allows. Whatever comes
   * of it, the request can be sent.
   *
   * @throws the signal's reason when it was aborted.
   */
  async before(context: CompactionContext): Promise<void> {
    const window = this.#window;
    const { enabled, threshold } = this.#options.settings;
    if (!enabled || window === undefined) return;
    if (this.#options.fitted === true && !this.#answered) return;
    const used = this.#used(context);
    const limit = threshold * window;
    if (used <= limit || this.#stalled >= MAX_STALLED) return;
    if (used < Math.min(this.#attempted + MIN_GAIN * window, NEARLY_FULL * window)) return;
    const report = new CompactionReport({ emit: context.emit, window });
    const cut = this.#cut(window, context);
    const old = this.#history.slice(0, cut?.at ?? 0);
    if (cut === undefined || this.#size.of(old) < MIN_OLD_SHARE * window) {
      if (!this.#toldNothing) report.nothingToGain(used, this.#fixed(context));
      this.#toldNothing = true;
      return;
    }
    const outcome = await this.#run(cut, { ...context, focus: "", report });
    this.#attempted = this.#used(context);
    const helped = outcome.kind === "done" && outcome.after <= limit &&
      outcome.before - outcome.after >= MIN_GAIN * window;
    this.#stalled = helped ? 0 : this.#stalled + 1;
    if (this.#stalled < MAX_STALLED) return;
    report.stopped(MAX_STALLED, this.#attempted, this.#fixed(context));
  }

  /**
   * Compresses because the server said that the request does not fit. Returns whether it is worth trying
   * again.
   *
   * @throws the signal's reason when it was aborted.
   */
  async exceeded(context: CompactionContext): Promise<boolean> {
    const { enabled } = this.#options.settings;
    const used = this.#used(context);
    const report = new CompactionReport({ emit: context.emit, window: this.#window });
    if (!enabled) {
      report.off();
      return false;
    }
    // Whatever is declared or told, the window is smaller than this.
    const window = Math.min(this.#window ?? used, used);
    const cut = this.#cut(window, context);
    const outcome = cut && await this.#run(cut, { ...context, focus: "", report, room: window });
    const helped = outcome?.kind === "done";
    if (this.#shorten(window, context, report) || helped) return true;
    if (cut === undefined) report.nothingToGain(used, this.#fixed(context));
    return false;
  }

  /**
   * Compresses because a person said so.
   *
   * @param options.focus what shall be kept above all; empty for nothing in particular.
   * @throws the signal's reason when it was aborted.
   */
  async byHand(
    options: CompactionContext & { readonly focus: string },
  ): Promise<CompactionOutcome> {
    const cut = this.#cut(this.#used(options), options);
    if (cut === undefined) return { kind: "nothing" };
    this.#begin();
    const report = new CompactionReport({
      emit: options.emit,
      window: this.#window,
      byHand: true,
    });
    return await this.#run(cut, { ...options, report });
  }

  #begin(): void {
    this.#stalled = 0;
    this.#attempted = -Infinity;
    this.#toldNothing = false;
  }

  async #run(
    cut: Cut,
    options: CompactionContext & {
      readonly focus: string;
      readonly report: CompactionReport;
      /** Tokens that the request for a summary may take, where it is not the window. */
      readonly room?: number;
    },
  ): Promise<CompactionOutcome> {
    const { conversation, model, patienceMs } = this.#options;
    const { report, signal, onLife } = options;
    const history = this.#history;
    const before = this.#used(options);
    report.begins(before);
    try {
      signal.throwIfAborted();
      const summary = await summarise({
        messages: history.slice(0, cut.at),
        focus: options.focus,
        model,
        size: this.#size,
        room: options.room ?? this.#window ?? before,
        patienceMs,
        signal,
        onEvent: (event) => {
          onLife();
          report.model(event);
        },
        onUsage: options.onUsage,
      });
      const next = [...summaryMessages(summary, history, cut), ...history.slice(cut.at)];
      const after = this.#size.of(next) + this.#fixed(options);
      if (after >= before) throw new Error("the summary is as long as what it stands for");
      conversation.replace(next);
      this.#size.replaced();
      report.done(before, after, summary);
      return { kind: "done", before, after };
    } catch (error) {
      if (signal.aborted) {
        report.cancelled();
        throw signal.reason;
      }
      const reason = messageOf(error);
      report.failed(reason);
      return { kind: "failed", reason };
    }
  }

  /** Cuts results of calls where what is kept is still too much. Returns whether that made room. */
  #shorten(window: number, context: CompactionContext, report: CompactionReport): boolean {
    const { conversation, settings } = this.#options;
    const used = this.#used(context);
    const limit = settings.threshold * window;
    if (used <= limit) return false;
    const history = this.#history;
    const rest = this.#size.of(history.filter((message) => message.role !== "tool"));
    const room = limit - this.#fixed(context) - rest;
    const next = shortenResults(history, this.#size.characters(Math.max(0, room)));
    const gained = this.#size.of(history) - this.#size.of(next);
    if (gained < MIN_GAIN * used) return false;
    conversation.replace(next);
    this.#size.replaced();
    report.shortened(used, used - gained);
    return true;
  }

  /** The messages without the system message. */
  get #history(): readonly Message[] {
    const { messages } = this.#options.conversation;
    return messages[0]?.role === "system" ? messages.slice(1) : messages;
  }

  /** The window in tokens, where it is declared or the server told it. */
  get #window(): number | undefined {
    return this.#options.model.contextWindow;
  }

  #used({ tools }: CompactionContext): number {
    return this.#size.measure(this.#options.conversation.messages, tools);
  }

  /** Tokens that no compression can save: the system prompt and the tools. */
  #fixed({ tools }: CompactionContext): number {
    const [first] = this.#options.conversation.messages;
    return (first?.role === "system" ? this.#size.of([first]) : 0) + this.#size.ofTools(tools);
  }

  /**
   * Chooses what is kept: a share of the window, and no more than what makes the rest a summary that
   * leaves room.
   */
  #cut(window: number, context: CompactionContext): Cut | undefined {
    const { keep, threshold } = this.#options.settings;
    const room = threshold * window - this.#fixed(context);
    const keepTokens = Math.min(keep * window, room * MAX_KEPT);
    return chooseCut(this.#history, {
      keepTokens,
      tokensOf: (messages) => this.#size.of(messages),
    });
  }
}

function summaryMessages(
  summary: string,
  history: readonly Message[],
  cut: Cut,
): readonly Message[] {
  const request = cut.request === undefined ? undefined : history[cut.request];
  return request?.role === "user" ? [summaryAndRequest(summary, request)] : summaryPair(summary);
}
