/**
 * The hooks around the run of a subagent: `subagentStart` before it, `subagentStop` when it ended.
 *
 * @module
 */

/** A run, as hooks see it. Both hooks of a run see the same `taskId`. */
export interface HookedRun {
  readonly taskId: string;
  /** The definition's name, `fork`, or a key of `mmConfigs`. */
  readonly agent: string;
  readonly description: string;
  readonly prompt: string;
  readonly background: boolean;
  /** The run's directory, absolute; hooks run in it. */
  readonly cwd: string;
}

/** What the hooks before a run made of it. `context` is added to the prompt; empty for nothing. */
export type BeforeRun = { readonly refused: string } | { readonly context: string };

/** What the hooks after a run want: nothing, or that the agent goes on, told `again`. */
export interface AfterRun {
  /** Why it shall go on; absent when it may end. */
  readonly again?: string;
  /** What the person should know: a hook that did not work. It never keeps a run from ending. */
  readonly warnings: readonly string[];
}

/** The hooks of one session; `createSubagentHooks()` makes them. */
export interface SubagentHooks {
  /**
   * Runs the hooks before a run.
   *
   * @throws the signal's reason when it is aborted.
   */
  before(run: HookedRun, options: { readonly signal: AbortSignal }): Promise<BeforeRun>;
  /**
   * Runs the hooks after a run; `again` tells them how often the agent was sent back already.
   *
   * @throws the signal's reason when it is aborted.
   */
  after(
    run: HookedRun,
    result: { readonly answer: string; readonly end: string; readonly again: number },
    options: { readonly signal: AbortSignal },
  ): Promise<AfterRun>;
}
