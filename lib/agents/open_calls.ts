/**
 * The tool calls an asked agent has under way. While one runs the agent may be silent: a command has
 * its own budget.
 *
 * @module
 */
import type { ChildUpdate } from "./child_connection.ts";

/** Options of {@linkcode OpenCalls}. */
export interface OpenCallsOptions {
  /** Begins a pause of whoever counts silence; returns what ends it. */
  readonly pause: () => () => void;
  /** How long calls may run without a word, in milliseconds. */
  readonly budgetMs: number;
}

/** Asks for a pause while calls run, for at most a budget after the agent's last word. */
export class OpenCalls {
  readonly #options: OpenCallsOptions;
  readonly #open = new Set<string>();
  #resume: (() => void) | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  /** Creates it without calls. */
  constructor(options: OpenCallsOptions) {
    this.#options = options;
  }

  /** Takes the next update of the agent. */
  note(update: ChildUpdate): void {
    if (update.type === "tool_call") this.#set(update.call.id, update.status);
    if (update.type === "tool_update" && update.status !== undefined) {
      this.#set(update.callId, update.status);
    }
    if (this.#open.size === 0) return this.close();
    this.#resume ??= this.#options.pause();
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => this.close(), this.#options.budgetMs);
  }

  /** Ends the pause. */
  close(): void {
    clearTimeout(this.#timer);
    this.#resume?.();
    this.#resume = undefined;
  }

  #set(id: string, status: string): void {
    if (status === "in_progress") this.#open.add(id);
    else this.#open.delete(id);
  }
}
