/**
 * What the tests of this folder share: a session whose work in the background a test decides about.
 *
 * @module
 */
import type { End } from "../base/ends.ts";
import type { PromptResult, Session } from "../session/types.ts";

const ANSWERED: End = { kind: "answered" };

/** A session with work in the background. Nothing happens in it but what a test does. */
export class WorkingSession
  implements Pick<Session, "prompt" | "background" | "deliver" | "tasks"> {
  /** What was asked and told, in order: the prompts, and `[told]` for each delivery. */
  readonly turns: string[] = [];
  /** What a turn does before it ends, and how it ends. */
  onTurn: (text: string, signal: AbortSignal) => Promise<Partial<PromptResult> | void> = () =>
    Promise.resolve();
  /** What `/tasks` says that is typed at a question. */
  onTasks: (rest: string) => Promise<{ readonly ok: boolean; readonly text: string }> = () =>
    Promise.resolve({ ok: true, text: "" });
  readonly #watchers = new Set<() => void>();
  #active = 0;
  #pending = false;

  readonly background: Session["background"] = ((session: WorkingSession) => ({
    get active() {
      return session.#active;
    },
    get pending() {
      return session.#pending;
    },
    ids: [],
    watch: (onChange: () => void) => {
      session.#watchers.add(onChange);
      return () => session.#watchers.delete(onChange);
    },
  }))(this);

  /** Sets what is under way, and whether an end has to be told. */
  set(active: number, pending: boolean): void {
    this.#active = active;
    this.#pending = pending;
    for (const watcher of this.#watchers) watcher();
  }

  /** How many follow the work. */
  get watchers(): number {
    return this.#watchers.size;
  }

  async prompt({ text }: { readonly text: string }, options: { readonly signal: AbortSignal }) {
    this.#pending = false;
    return await this.#run(text, options.signal);
  }

  async deliver(options: { readonly signal: AbortSignal }): Promise<PromptResult | undefined> {
    if (!this.#pending) return undefined;
    this.set(this.#active, false);
    return await this.#run("[told]", options.signal);
  }

  tasks(rest: string) {
    return this.onTasks(rest);
  }

  async #run(text: string, signal: AbortSignal): Promise<PromptResult> {
    this.turns.push(text);
    const result = await this.onTurn(text, signal);
    const end: End = signal.aborted ? { kind: "cancelled" } : ANSWERED;
    return { end, text: "", toolCalls: 0, label: "test/model", ...result };
  }
}
