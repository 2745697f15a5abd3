/**
 * The hooks around an ask: `preAsk` before it, `postAsk` on its answer.
 *
 * @module
 */
import picomatch from "picomatch";
import type { HookConfig, HooksConfig } from "../config/types.ts";
import type { RunFilter } from "../platform/filter.ts";
import { runHook } from "./run_hook.ts";

/** Who asks: a person with a command, a model with a tool, or a script. */
export type AskedBy = "person" | "model" | "script";

/** An ask, as hooks see it. */
export interface HookedAsk {
  readonly agent: string;
  readonly prompt: string;
  /** The conversation that is sent along; absent where none is. */
  readonly transcript?: string;
  readonly by: AskedBy;
  /** The session's directory, absolute; hooks run in it. */
  readonly cwd: string;
}

/** An answer, as hooks see it. */
export interface HookedAnswer {
  readonly answer: string;
  /** How the ask ended: `answered`, `incomplete`, … */
  readonly end: string;
  /** `provider/model` that answered, where it said so. */
  readonly label?: string;
}

/** What the hooks before an ask made of it. */
export type BeforeAsk =
  | { readonly refused: string }
  | { readonly prompt: string; readonly transcript?: string; readonly changed: boolean };

/** What the hooks after an ask made of its answer. */
export type AfterAsk =
  | { readonly refused: string }
  | { readonly answer: string; readonly changed: boolean };

/** Options of {@linkcode AskHooks}. */
export interface AskHooksOptions {
  readonly config: HooksConfig;
  readonly run: RunFilter;
  /** The environment of a command of the session. */
  readonly env: () => Promise<Readonly<Record<string, string>>>;
  /** How deep this process is in a chain of asks. */
  readonly depth: number;
  /** Takes secrets out of a reason. */
  readonly redact: (text: string) => string;
}

/** The hooks of one session. */
export class AskHooks {
  readonly #options: AskHooksOptions;

  /** Creates the hooks; nothing is run. */
  constructor(options: AskHooksOptions) {
    this.#options = options;
  }

  /** Whether any hook is for the answers of an agent. */
  reads(agent: string): boolean {
    return this.#of("postAsk", agent).length > 0;
  }

  /**
   * Runs the hooks before an ask, each on what the one before left.
   *
   * @throws the signal's reason when it is aborted.
   */
  async before(
    ask: HookedAsk,
    options: { readonly signal: AbortSignal },
  ): Promise<BeforeAsk> {
    let { prompt, transcript } = ask;
    for (const hook of this.#of("preAsk", ask.agent)) {
      const verdict = await this.#run("preAsk", hook, {
        ask: { ...ask, prompt, ...(transcript === undefined ? {} : { transcript }) },
        answers: transcript === undefined ? ["prompt"] : ["prompt", "transcript"],
        more: {},
        signal: options.signal,
      });
      if (verdict.refused) return { refused: this.#options.redact(verdict.reason) };
      prompt = verdict.answer["prompt"] ?? prompt;
      transcript = verdict.answer["transcript"] ?? transcript;
      if (prompt.trim() === "") {
        return { refused: "a preAsk hook left nothing of the question" };
      }
    }
    return {
      prompt,
      ...(transcript === undefined ? {} : { transcript }),
      changed: prompt !== ask.prompt || transcript !== ask.transcript,
    };
  }

  /**
   * Runs the hooks on an answer, each on what the one before left.
   *
   * @throws the signal's reason when it is aborted.
   */
  async after(
    ask: HookedAsk,
    result: HookedAnswer,
    options: { readonly signal: AbortSignal },
  ): Promise<AfterAsk> {
    let { answer } = result;
    for (const hook of this.#of("postAsk", ask.agent)) {
      const verdict = await this.#run("postAsk", hook, {
        ask,
        answers: ["answer"],
        more: { answer, end: result.end, model: result.label ?? null },
        signal: options.signal,
      });
      if (verdict.refused) return { refused: this.#options.redact(verdict.reason) };
      answer = verdict.answer["answer"] ?? answer;
    }
    return { answer, changed: answer !== result.answer };
  }

  #of(kind: keyof HooksConfig, agent: string): HookConfig[] {
    return this.#options.config[kind].filter(({ match }) =>
      match === undefined || picomatch.isMatch(agent, match)
    );
  }

  async #run(
    kind: keyof HooksConfig,
    hook: HookConfig,
    call: {
      readonly ask: HookedAsk;
      readonly answers: readonly string[];
      readonly more: Readonly<Record<string, unknown>>;
      readonly signal: AbortSignal;
    },
  ) {
    const { run, env, depth } = this.#options;
    const { agent, prompt, transcript, by, cwd } = call.ask;
    return await runHook({
      hook,
      kind,
      input: {
        hook: kind,
        agent,
        prompt,
        ...(transcript === undefined ? {} : { transcript }),
        by,
        cwd,
        depth,
        ...call.more,
      },
      answers: call.answers,
      run,
      cwd,
      env: await env(),
      signal: call.signal,
    });
  }
}
