/**
 * When a front end tells the model what ended in the background.
 *
 * @module
 */
import { settledOrAborted } from "../base/until_aborted.ts";
import type { PromptResult, Session } from "../session/types.ts";

/** The work in the background of one session, as a front end follows it. */
export class Deliveries {
  readonly #session: Pick<Session, "background" | "deliver">;
  readonly #onDue: () => void;
  readonly #unwatch: () => void;
  #active: number;
  /** A turn that told the model failed, and nothing ended since: the next prompt tells it. */
  #failed = false;
  #changed = Promise.withResolvers<void>();

  /** Follows a session until it is closed; `onDue` is called when the model should be told. */
  constructor(
    session: Pick<Session, "background" | "deliver">,
    options: { readonly onDue?: () => void } = {},
  ) {
    this.#session = session;
    this.#onDue = options.onDue ?? (() => {});
    this.#active = session.background.active;
    this.#unwatch = session.background.watch(() => this.#change());
  }

  /** Runs that are under way. */
  get active(): number {
    return this.#session.background.active;
  }

  /** Whether the model should be told now that something ended. */
  get due(): boolean {
    return this.#session.background.pending && !this.#failed;
  }

  /** Whether nothing runs any more, and the model knows all. */
  get over(): boolean {
    return this.active === 0 && !this.due;
  }

  /** Runs the turn that tells the model; `undefined` when there was nothing to tell. */
  async deliver(signal: AbortSignal): Promise<PromptResult | undefined> {
    const result = await this.#session.deliver({ signal });
    const kind = result?.end.kind;
    this.#failed = kind !== "answered" && kind !== "incomplete";
    return result;
  }

  /** Waits until the model should be told, or nothing runs any more. */
  async change(signal: AbortSignal): Promise<void> {
    while (!this.due && !this.over && !signal.aborted) {
      await settledOrAborted(this.#changed.promise, signal);
    }
  }

  /** Follows the session no longer. */
  close(): void {
    this.#unwatch();
  }

  #change(): void {
    const { active } = this;
    if (active < this.#active) this.#failed = false;
    this.#active = active;
    this.#changed.resolve();
    this.#changed = Promise.withResolvers<void>();
    if (this.due) this.#onDue();
  }
}

/** `2 subagents`. */
export function subagents(count: number): string {
  return `${count} subagent${count === 1 ? "" : "s"}`;
}
