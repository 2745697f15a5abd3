/**
 * What people are told of a compression.
 *
 * @module
 */
import type { ModelEvent } from "../model/types.ts";
import { formatDuration } from "../base/duration.ts";
import type { Emit } from "./events.ts";
import { signOfLife } from "./sign_of_life.ts";

/** Options of {@linkcode CompactionReport}. */
export interface CompactionReportOptions {
  readonly emit: Emit;
  /** The model's window in tokens, where it is known. */
  readonly window: number | undefined;
  /** Whether a person waits for it and is told by who called. */
  readonly byHand?: boolean;
}

/** Reports one compression, or why there is none. */
export class CompactionReport {
  readonly #emit: Emit;
  readonly #window: number | undefined;
  readonly #byHand: boolean;
  readonly #id = crypto.randomUUID();
  readonly #alive: () => void;

  /** Creates a report; nothing is told yet. */
  constructor({ emit, window, byHand = false }: CompactionReportOptions) {
    this.#emit = emit;
    this.#window = window;
    this.#byHand = byHand;
    this.#alive = signOfLife(emit);
  }

  /** The summary is asked for. */
  begins(used: number): void {
    this.#emit({ type: "compaction_start", compactionId: this.#id });
    this.#notice("info", `Compressing the conversation: ${this.#share(used)} in use`);
  }

  /** The model is at it. */
  model(event: ModelEvent): void {
    if (event.type === "text") {
      this.#emit({ type: "compaction_text", compactionId: this.#id, text: event.text });
    } else if (event.type === "waiting") {
      this.#notice("info", `${event.reason}; trying again in ${formatDuration(event.ms)}`);
    }
    this.#alive();
  }

  /** It helped. */
  done(before: number, after: number, summary: string): void {
    this.#emit({
      type: "compaction_end",
      compactionId: this.#id,
      status: "completed",
      summary,
    });
    if (!this.#byHand) {
      this.#notice(
        "info",
        `The conversation was compressed: about ${before} tokens became ${after}`,
      );
    }
    const size = this.#window;
    this.#emit({ type: "usage", used: after, ...(size === undefined ? {} : { size }) });
  }

  /** There was nothing to summarise; results of calls were cut. */
  shortened(before: number, after: number): void {
    this.#emit({ type: "compaction_start", compactionId: this.#id });
    this.#emit({ type: "compaction_end", compactionId: this.#id, status: "completed" });
    this.#notice(
      "warning",
      `The results of calls were shortened, for they do not fit the model's window: about ` +
        `${before} tokens became ${after}`,
    );
  }

  /** Nothing was changed. */
  failed(reason: string): void {
    this.#emit({
      type: "compaction_end",
      compactionId: this.#id,
      status: "failed",
      error: reason,
    });
    if (!this.#byHand) {
      this.#notice("warning", `The conversation was not compressed and is as it was: ${reason}`);
    }
  }

  /** Nothing was changed, because somebody cancelled. */
  cancelled(): void {
    this.#emit({ type: "compaction_end", compactionId: this.#id, status: "cancelled" });
  }

  /** It would help, and nothing is there that could be summarised. */
  nothingToGain(used: number, fixed: number): void {
    this.#notice(
      "warning",
      `The conversation is nearly as large as the model's window, and nothing in it can be ` +
        `compressed: ${this.#share(used)} in use, ${this.#advice(fixed)}`,
    );
  }

  /** It would help, and the configuration does not want it to happen by itself. */
  off(): void {
    this.#notice(
      "warning",
      "The conversation does not fit the model's window any more; /compact makes room in it",
    );
  }

  /** It did not help often enough. */
  stopped(attempts: number, used: number, fixed: number): void {
    this.#notice(
      "warning",
      `The conversation is not compressed any more: after ${attempts} attempts ` +
        `${this.#share(used)} in use, ${this.#advice(fixed)}`,
    );
  }

  #advice(fixed: number): string {
    return `${fixed} of them by system prompt, project instructions and tools; begin afresh with ` +
      "/new, shorten what is always sent, or use a model with a larger window";
  }

  #share(used: number): string {
    const of = this.#window === undefined ? "" : ` of ${this.#window}`;
    return `about ${used}${of} tokens are`;
  }

  #notice(severity: "info" | "warning", text: string): void {
    this.#emit({ type: "notice", severity, text });
  }
}
