/**
 * From the arguments of `agent` to a run: who carries it out, where, and whether it is waited for.
 *
 * @module
 */
import { ASK_AGENT } from "../agents/ask_agent_tool.ts";
import type { AgentPool } from "../agents/pool.ts";
import type { DelegationConfig } from "../config/types.ts";
import type { Gate } from "../gate/gate.ts";
import type { Message, ToolDeclaration } from "../model/types.ts";
import type { SeenFile } from "../tools/file_views.ts";
import type { ToolContext, ToolResult } from "../tools/tool.ts";
import { type AgentArguments, type AgentOffer, isFork } from "./agent_arguments.ts";
import { runsInBackground } from "./background.ts";
import type { AgentDefinition, DefinitionBook } from "./definition.ts";
import { DEFAULT_DEFINITION, FORK } from "./definition_name.ts";
import { depthReason, MAX_MODEL_RUNS, mayDelegate } from "./delegation_limits.ts";
import { forkDirective } from "./fork_directive.ts";
import { type ForkProfile, readForkProfile } from "./fork_profile.ts";
import { readForkTools } from "./fork_tools.ts";
import { forkHistory, readForkTurns } from "./fork_turns.ts";
import type { RunTarget } from "./run.ts";
import type { RunReports } from "./run_report.ts";
import type { Runs, StartRun } from "./runs.ts";
import { type Worktree, worktreeNotice, type Worktrees } from "./worktree.ts";

/** The conversation that can be forked. */
export interface ForkSource {
  /** The whole system prompt. */
  readonly system: string;
  /** The tools as they are declared to the model. */
  readonly tools: readonly ToolDeclaration[];
  readonly messages: readonly Message[];
  /** The files that it has read. */
  readonly files: readonly SeenFile[];
}

/** What starting runs takes. */
export interface LaunchSetup {
  readonly config: DelegationConfig;
  readonly offer: AgentOffer;
  /** How deep this process is in a chain of asks. */
  readonly depth: number;
  /** Whether nobody sits at the front end: forks then always run in the background. */
  readonly headless: boolean;
  /** The session's directory, absolute. */
  readonly cwd: string;
  readonly book: DefinitionBook;
  readonly pool: AgentPool;
  readonly gate: Pick<Gate, "decide">;
  readonly runs: Runs;
  readonly reports: RunReports;
  readonly worktrees: Worktrees | undefined;
  readonly forkSource: () => ForkSource;
  /** Saves a copy of a conversation for a fork; returns its id. */
  readonly copy: (messages: readonly Message[]) => Promise<string>;
  /** Tells the person something. */
  readonly warn: (text: string) => void;
}

/** A run that can begin, or why it cannot: a sentence for the model. */
type Prepared = { readonly start: StartRun; readonly background: boolean } | {
  readonly error: string;
};

/** Starts runs for one session. */
export class Launcher {
  readonly #setup: LaunchSetup;
  #started = 0;
  /** Settles when the call before has begun its run: slots are taken in the order of the calls. */
  #before: Promise<unknown> = Promise.resolve();
  /** The versions of definitions whose notes were told. */
  readonly #noted = new Set<string>();

  /** Creates it; nothing is started. */
  constructor(setup: LaunchSetup) {
    this.#setup = setup;
  }

  /**
   * Carries out a call of the tool `agent`; every failure but a cancel is a result.
   *
   * @throws the signal's reason when it is aborted before the run begins.
   */
  async launch(args: AgentArguments, context: ToolContext): Promise<ToolResult> {
    const { config, depth } = this.#setup;
    // The second guard of the depth limit: also for a call that was never offered.
    if (!mayDelegate(depth, config.maxDepth)) return notStarted(depthReason(config.maxDepth));
    if (++this.#started > MAX_MODEL_RUNS) {
      return notStarted(
        `this session has started ${MAX_MODEL_RUNS} subagents, which is the most it may; finish the ` +
          "work with your own tools",
      );
    }
    const before = this.#before;
    const { promise, resolve: begun } = Promise.withResolvers<void>();
    this.#before = promise;
    try {
      const prepared = isFork(args)
        ? await this.#fork(args, context.requestId)
        : await this.#regular(args, context);
      await before;
      if ("error" in prepared) return notStarted(prepared.error);
      if (context.signal.aborted) await this.#drop(prepared.start);
      context.signal.throwIfAborted();
      if (prepared.background) {
        return this.#inBackground(prepared.start, { wanted: args.run_in_background });
      }
      const result = this.#waitedFor(prepared.start, context);
      begun();
      return await result;
    } finally {
      begun();
    }
  }

  /**
   * Starts a fork that a person asked for.
   *
   * @returns its id, or why there is none: a sentence for the person.
   */
  async forkFor(
    directive: string,
    description: string,
  ): Promise<{ readonly id: string } | { readonly error: string }> {
    const prepared = await this.#fork(
      { description, prompt: directive, subagent_type: FORK },
      undefined,
    );
    return "error" in prepared ? prepared : { id: this.#setup.runs.start(prepared.start).id };
  }

  /** Gives back what a run that does not begin was given. */
  async #drop({ worktree }: StartRun): Promise<void> {
    if (worktree !== undefined) await this.#setup.worktrees?.release(worktree);
  }

  /** `own`: what the definition says of the background. */
  #background(args: AgentArguments, own: boolean | undefined): boolean {
    const { offer, config, headless } = this.#setup;
    const byDefault = config.background === true;
    return runsInBackground(args, { offer, own, byDefault, headless });
  }

  /** Starts a run in the background. `wanted`: what the call said of that. */
  #inBackground(
    start: StartRun,
    { wanted }: { readonly wanted: boolean | undefined },
  ): ToolResult {
    const { runs } = this.#setup;
    const others = runs.active;
    const run = runs.start(start);
    const queue = others === 0 ? "" : ` ${others} more at work or waiting.`;
    const always = wanted === false
      ? " (run_in_background false does not hold here: under -p every fork runs there.)"
      : "";
    const text =
      `Started ${run.id} (${run.agent}) in the background.${always}${queue} Its result comes by ` +
      "itself in a later message; go on with other work or end your turn. Do not start it again, and " +
      `do not do its task yourself.`;
    return { ok: true, text };
  }

  async #waitedFor(start: StartRun, context: ToolContext): Promise<ToolResult> {
    const { runs, reports, offer } = this.#setup;
    const { signal, output, alive, pauseWatchdog, callId: id } = context;
    const { run, result } = await runs.carryOut(start, {
      signal,
      call: { id, output, alive, pauseWatchdog },
      goesOn: offer.background,
    });
    const { end } = result;
    const { text } = await reports.text(run, result);
    return { ok: end.kind === "answered", text, end, toldIfCancelled: true };
  }

  async #fork(args: AgentArguments, callId: string | undefined): Promise<Prepared> {
    const { depth, offer, cwd, copy } = this.#setup;
    if (!offer.forks || depth > 0) {
      return {
        error: "there are no forks here; do the work yourself, or name another subagent_type",
      };
    }
    let profile: ForkProfile | undefined;
    if (args.fork_profile !== undefined) {
      const read = await readForkProfile({ name: args.fork_profile, cwd });
      if ("error" in read) return read;
      profile = read.profile;
    }
    const turns = readForkTurns(args.fork_turns);
    if ("error" in turns) return turns;
    const tools = args.fork_tools === undefined ? undefined : readForkTools(args.fork_tools);
    if (tools !== undefined && "error" in tools) return tools;
    const allow = profile?.allow ?? tools?.allow;
    const source = this.#setup.forkSource();
    const messages = forkHistory(source.messages, turns.turns);
    const last = messages.at(-1);
    const target: RunTarget = {
      kind: "fork",
      sessionId: await copy(messages),
      opening: {
        system: source.system,
        tools: source.tools,
        ...(allow === undefined ? {} : { allow }),
        ...(callId === undefined || last === undefined ? {} : { callId }),
        // Of a part of the conversation nobody can say which of them it shows.
        ...(turns.turns !== "all" || source.files.length === 0 ? {} : { files: source.files }),
      },
    };
    const prompt = forkDirective({
      directive: args.prompt,
      ...(profile?.hint === undefined ? {} : { hint: profile.hint }),
      ...(allow === undefined ? {} : { allow }),
    });
    return {
      start: { target, description: args.description, prompt, cwd },
      background: this.#background(args, undefined),
    };
  }

  async #regular(args: AgentArguments, context: ToolContext): Promise<Prepared> {
    const { cwd, offer } = this.#setup;
    const target = await this.#target(args.subagent_type ?? DEFAULT_DEFINITION);
    if ("error" in target) return target;
    const refusal = await this.#askRefusal(target, args, context);
    if (refusal !== undefined) return { error: refusal };
    const own = target.kind === "definition" ? target.definition.background : undefined;
    const pinned = args.working_dir !== undefined;
    if (pinned && offer.background && own === true && args.run_in_background !== false) {
      return {
        error: `${args.subagent_type} runs in the background by its definition, and a run in a ` +
          "working_dir is waited for; send run_in_background false, or leave working_dir out",
      };
    }
    const background = this.#background(args, own);
    const place = await this.#place(args, target, context.signal);
    if ("error" in place) return place;
    const { notice, ...where } = place;
    const prompt = notice === undefined ? args.prompt : `${notice}\n\n${args.prompt}`;
    const { description } = args;
    return { start: { target, description, prompt, cwd, ...where }, background };
  }

  async #target(type: string): Promise<RunTarget | { readonly error: string }> {
    const { pool, book, offer, depth } = this.#setup;
    const name = type.trim();
    // The person's own configuration comes before what lies in a project.
    if (pool.entry(name) !== undefined) {
      return pool.limit === undefined ? { kind: "entry", agent: name } : { error: pool.limit };
    }
    const found = await book.find(name, [
      ...(pool.limit === undefined ? pool.entries.map((entry) => entry.name) : []),
      ...(offer.forks && depth === 0 ? [FORK] : []),
    ]);
    if ("error" in found) return found;
    this.#tellNotes(found.definition);
    return { kind: "definition", definition: found.definition };
  }

  /** Rules that keep the model from asking an agent hold whichever tool it asks with. */
  async #askRefusal(
    target: RunTarget,
    { description, prompt }: AgentArguments,
    { callId: id, signal }: ToolContext,
  ): Promise<string | undefined> {
    if (target.kind !== "entry") return undefined;
    const { agent } = target;
    const title = `${agent}: ${description}`;
    const view = { id, name: ASK_AGENT, kind: "other", title, input: { agent, prompt } } as const;
    const call = { view, agent: "", gated: false, yolo: false, cwd: this.#setup.cwd };
    const decision = await this.#setup.gate.decide(call, { signal });
    return decision.allowed ? undefined : decision.reason;
  }

  /** What a definition asks for and does not get, the person is told at its first run. */
  #tellNotes({ name, version, notes }: AgentDefinition): void {
    if (notes.length === 0 || this.#noted.has(version)) return;
    this.#noted.add(version);
    this.#setup.warn(`The subagent ${name}: ${notes.join("; ")}`);
  }

  /** Where a run works: the session's directory, a worktree made for it, or one that there is. */
  async #place(
    args: AgentArguments,
    target: RunTarget,
    signal: AbortSignal,
  ): Promise<
    | { readonly cwd?: string; readonly worktree?: Worktree; readonly notice?: string }
    | { readonly error: string }
  > {
    const { worktrees, cwd, pool } = this.#setup;
    if (args.isolation === undefined && args.working_dir === undefined) return {};
    if (worktrees === undefined) return { error: "there are no worktrees here; leave them out" };
    if (target.kind === "entry" && pool.entry(target.agent)?.cwd !== undefined) {
      return { error: `${target.agent} works in a directory of its own; leave the worktree out` };
    }
    if (args.working_dir !== undefined) {
      const found = await worktrees.existing({ path: args.working_dir, cwd, signal });
      if ("error" in found) return found;
      return { cwd: found.path, notice: worktreeNotice(found) };
    }
    const made = await worktrees.create({ cwd, signal });
    if ("error" in made) return made;
    const { worktree } = made;
    return { cwd: worktree.cwd, worktree, notice: worktreeNotice(worktree) };
  }
}

/** Returns what the model is told of a run that did not begin. */
function notStarted(reason: string): ToolResult {
  return { ok: false, text: `Not started: ${reason}` };
}
