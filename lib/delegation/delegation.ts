/**
 * The delegation of one session: its tools, its runs, and what the model has to be told of them.
 *
 * @module
 */
import type { AgentConfig } from "../config/types.ts";
import type { Tool } from "../tools/tool.ts";
import type { AgentOffer } from "./agent_arguments.ts";
import { agentTool } from "./agent_tool.ts";
import { blockedReason, type BlockedSetup } from "./blocked.ts";
import { definitionsCommand } from "./definitions_command.ts";
import type { DefinitionBook } from "./definition.ts";
import type { DefinitionPlaces } from "./definition_folders.ts";
import { mayRunInBackground } from "./delegation_limits.ts";
import { type ForkSource, Launcher, type LaunchSetup } from "./launch.ts";
import { notificationText } from "./notification.ts";
import { restoreRuns } from "./restore_runs.ts";
import type { Run } from "./run.ts";
import { createRunActions } from "./run_actions.ts";
import { runTools } from "./run_tools.ts";
import { Runs, type RunsOptions } from "./runs.ts";
import { type SendAnswer, sendToRun } from "./send_to_run.ts";

/** What the model is told once of the runs of a conversation that is gone on with. */
const REMINDER =
  "[mm: this conversation has background subagents of before: list_agents shows them, " +
  "send_message goes on with one]";

/** Options of {@linkcode Delegation}. */
export interface DelegationOptions extends RunsOptions {
  readonly config: AgentConfig;
  /** Says whether the configuration's `tools` has a tool. */
  readonly hasTool: (name: string) => boolean;
  /** How deep this process is in a chain of asks. */
  readonly depth: number;
  readonly headless: boolean;
  readonly book: DefinitionBook;
  /** Where the definitions of the session lie. */
  readonly places: DefinitionPlaces;
  readonly copy: LaunchSetup["copy"];
  /** Whether a subagent's conversation is saved. */
  readonly kept: BlockedSetup["kept"];
  /** The conversation that can be forked. */
  readonly forkSource: () => ForkSource;
}

/** The delegation of one session, of an agent that delegates. */
export class Delegation {
  readonly runs: Runs;
  readonly offer: AgentOffer;
  readonly #options: DelegationOptions;
  readonly #launcher: Launcher;
  readonly #blocked: BlockedSetup;
  #remind = false;

  /** Creates it; nothing is started. */
  constructor(options: DelegationOptions) {
    this.#options = options;
    const { config, depth, setup, worktrees } = options;
    const { delegation } = config;
    this.runs = new Runs(options);
    this.offer = {
      background: mayRunInBackground(depth, delegation.background),
      forks: delegation.forks && depth === 0,
      worktrees: delegation.worktree.enabled && worktrees !== undefined,
    };
    this.#blocked = {
      pool: setup.pool,
      children: setup.children,
      worktrees,
      cwd: setup.cwd,
      kept: options.kept,
    };
    this.#launcher = new Launcher({
      ...options,
      config: delegation,
      offer: this.offer,
      cwd: setup.cwd,
      pool: setup.pool,
      gate: setup.gate,
      runs: this.runs,
    });
  }

  /** Returns the tools that are declared, always in the same order. */
  tools(): readonly Tool[] {
    const { config, hasTool } = this.#options;
    const agent = agentTool({
      offer: this.offer,
      backgroundByDefault: config.delegation.background === true,
      headless: this.#options.headless,
      definitions: this.#options.book.offered,
      launch: (args, context) => this.#launcher.launch(args, context),
    });
    if (!this.offer.background) return [agent];
    const actions = createRunActions({ runs: this.runs, blocked: this.#blocked });
    return [agent, ...runTools(actions).filter(({ name }) => hasTool(name))];
  }

  /**
   * Carries out what `/agents` is told about definitions; the list where it is told nothing.
   *
   * @throws the signal's reason when it is aborted.
   */
  definitions(
    rest: string,
    options: { readonly signal: AbortSignal },
  ): Promise<{ readonly ok: boolean; readonly text: string }> {
    const { book, places, config, depth } = this.#options;
    const { forks } = this.offer;
    return definitionsCommand({
      rest,
      book,
      places,
      setting: { config, depth },
      forks,
      ...options,
    });
  }

  /** Starts a fork of the conversation for a person. */
  fork(
    directive: string,
    description: string,
  ): Promise<{ readonly id: string } | { readonly error: string }> {
    return this.#launcher.forkFor(directive, description);
  }

  /**
   * Returns what the model has to be told before what a person says, and notes that it is told; empty
   * for nothing.
   */
  news(): string {
    const reminder = this.#remind ? [REMINDER] : [];
    if (this.#remind) this.runs.reminded();
    this.#remind = false;
    const ends = this.runs.tellAll();
    const told = ends.length === 0 ? [] : [notificationText(ends, { remaining: this.runs.active })];
    return [...told, ...reminder].join("\n\n");
  }

  /** Puts a question of a run to a person; while it waits for the answer, the run is parked. */
  async whileParked<T>(id: string, ask: () => Promise<T>): Promise<T> {
    const answer = ask();
    let over = false;
    answer.then(() => over = true, () => over = true);
    // An answer that is there at once parked nothing.
    await new Promise<void>((resolve) => setTimeout(resolve, 0));
    if (!over) this.runs.park(id, true);
    try {
      return await answer;
    } finally {
      this.runs.park(id, false);
    }
  }

  /** Returns why a run takes no message: the end of a sentence; `undefined` where it takes one. */
  async blocked(run: Run): Promise<string | undefined> {
    return this.offer.background
      ? await blockedReason(run, this.#blocked)
      : "nothing runs in the background here";
  }

  /**
   * Tells a run something for a person.
   *
   * @throws the signal's reason when it is aborted.
   */
  async tell(
    run: Run,
    message: string,
    { signal }: { readonly signal: AbortSignal },
  ): Promise<SendAnswer> {
    if (!this.offer.background) {
      return { ok: false, text: "Not sent: nothing runs in the background here" };
    }
    return await sendToRun({ runs: this.runs, run, message, blocked: this.#blocked, signal });
  }

  /**
   * Shows the runs of a conversation that is gone on with; none is started.
   *
   * @returns those that are paused.
   */
  async restore(path: string): Promise<readonly Run[]> {
    const { book, setup, forkSource } = this.#options;
    const runs = await restoreRuns({ path, book, pool: setup.pool, source: forkSource });
    this.runs.restore(runs);
    // Once for what an mm left behind, not again in each mm that goes on.
    this.#remind = this.offer.background && this.runs.unreminded;
    return runs.filter((run) => run.state === "paused");
  }

  /** Another conversation begins: the runs of this one are stopped and forgotten. */
  async clear(): Promise<void> {
    this.#remind = false;
    await this.runs.clear();
  }
}
