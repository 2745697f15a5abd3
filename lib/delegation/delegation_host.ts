/**
 * What the sessions of one process share of delegation: the children, the slots, the places.
 *
 * @module
 */
import { join } from "node:path";
import type { AgentPool } from "../agents/pool.ts";
import type { AgentConfig, McpServerConfig } from "../config/types.ts";
import type { Emit } from "../engine/events.ts";
import type { Gate } from "../gate/gate.ts";
import type { AskHooks } from "../hooks/ask_hooks.ts";
import type { SubagentHooks } from "../hooks/subagent_hooks.ts";
import type { Message, ModelClient, ModelSettings } from "../model/types.ts";
import { sessionPlace } from "../store/saved_session.ts";
import { BUILTIN_DEFINITIONS } from "./builtin_definitions.ts";
import type { DefinitionBook } from "./definition.ts";
import { openDefinitionBook } from "./definition_book.ts";
import type { DefinitionPlaces } from "./definition_folders.ts";
import { FORK, nameKey } from "./definition_name.ts";
import { Delegation } from "./delegation.ts";
import type { ForkSource } from "./launch.ts";
import { RunRecords } from "./run_record.ts";
import { RunReports } from "./run_report.ts";
import { RunSlots } from "./run_slots.ts";
import { SubagentChildren, type SubagentChildrenOptions } from "./subagent_children.ts";
import type { Worktrees } from "./worktree.ts";

/** Faults of definitions that are told when a session begins; `/agents` lists all. */
const MAX_FAULTS = 5;

/** Options of {@linkcode DelegationHost}. */
export interface DelegationHostOptions
  extends Omit<SubagentChildrenOptions, "stateDir" | "model" | "configFile" | "configDigest"> {
  readonly config: AgentConfig;
  readonly model: ModelClient;
  readonly pool: AgentPool;
  /** Says whether the configuration's `tools` has a tool. */
  readonly hasTool: (name: string) => boolean;
  /** Where subagents save their conversations, absolute; absent where nothing is saved. */
  readonly stateDir: string | undefined;
  /** Returns a private place for what is not to stay, absolute. */
  readonly scratch: () => Promise<string>;
  /** Saves a conversation for a fork under a state directory; returns its id. */
  readonly copy: (
    options: {
      readonly stateDir: string;
      readonly cwd: string;
      readonly messages: readonly Message[];
    },
  ) => Promise<string>;
  /** Where the definitions of a session lie that works in a directory. */
  readonly places: (cwd: string) => DefinitionPlaces;
  readonly worktrees: Worktrees | undefined;
  readonly createHooks?:
    | ((env: () => Promise<Readonly<Record<string, string>>>) => SubagentHooks)
    | undefined;
}

/** What a session brings along. */
export interface DelegatingSession {
  /** Absolute. */
  readonly cwd: string;
  readonly gate: Gate;
  /** Shows what happens, and saves it. */
  readonly emit: Emit;
  /** Shows what is not a part of the conversation. */
  readonly show: Emit;
  readonly yolo: () => boolean;
  /** Whether nobody sits at the front end. */
  readonly headless: boolean;
  readonly askHooks: AskHooks | undefined;
  /** The environment of the session's commands. */
  readonly env: () => Promise<Readonly<Record<string, string>>>;
  /** What a person chose of the model. */
  readonly settings: () => ModelSettings | undefined;
  readonly mcpServers: readonly McpServerConfig[] | undefined;
  readonly forkSource: () => ForkSource;
  /** The file of the conversation's runs, absolute; `undefined` while nothing of it is saved. */
  readonly recordPath: () => string | undefined;
}

/** What the sessions of one process share of delegation. */
export class DelegationHost {
  readonly #options: DelegationHostOptions;
  readonly #children: SubagentChildren;
  readonly #slots: RunSlots;

  /** Creates it; nothing is started. */
  constructor(options: DelegationHostOptions) {
    this.#options = options;
    const { config, model } = options;
    this.#children = new SubagentChildren({
      ...options,
      configFile: config.file,
      configDigest: config.fileDigest,
      model: config.model.model,
      stateDir: async (name) =>
        options.stateDir ?? (name === FORK ? await this.#scratchState() : undefined),
    });
    this.#slots = new RunSlots({ maxParallel: config.delegation.maxParallel, model });
  }

  /** Opens the delegation of a session. */
  async open(session: DelegatingSession): Promise<Delegation> {
    const options = this.#options;
    const { config, pool, redact, depth, hasTool, worktrees, stateDir } = options;
    const { cwd, gate, emit, show, headless, forkSource } = session;
    const warn = (text: string) => show({ type: "notice", severity: "warning", text });
    const places = options.places(cwd);
    const book = await openDefinitionBook(places);
    // Whoever started a subagent was told the same.
    if (depth === 0) {
      tellFaults(book, warn);
      tellReplaced(book, warn);
    }
    return new Delegation({
      config,
      hasTool,
      depth,
      headless,
      book,
      places,
      worktrees,
      kept: async (id) =>
        stateDir !== undefined && ((await sessionPlace(stateDir, id))?.size ?? 0) > 0,
      forkSource,
      copy: async (messages) =>
        await options.copy({ stateDir: stateDir ?? await this.#scratchState(), cwd, messages }),
      emit,
      warn,
      reports: new RunReports({
        maxOutput: config.maxOutput,
        folder: async () => join(stateDir ?? await this.#scratchState(), "results"),
        redact,
      }),
      records: stateDir === undefined ? undefined : new RunRecords({
        path: session.recordPath,
        redact,
        maxTask: config.maxOutput,
        onTrouble: () => warn("What subagents run in the background is not saved from here on"),
      }),
      setup: {
        pool,
        children: this.#children,
        slots: this.#slots,
        gate,
        emit,
        yolo: session.yolo,
        askHooks: session.askHooks,
        hooks: options.createHooks?.(session.env),
        cwd,
        settings: session.settings,
        mcpServers: session.mcpServers ?? [],
        silenceMs: config.watchdogTimeoutMs,
        callBudgetMs: config.bashTimeoutMaxMs,
      },
    });
  }

  /** Ends every child, for good; returns when they are gone. */
  async close(): Promise<void> {
    await this.#children.close();
  }

  /** A place for forks where conversations are not saved: it goes with this process. */
  async #scratchState(): Promise<string> {
    return join(await this.#options.scratch(), "subagents");
  }
}

/** Tells a person which subagents of mm a project has files in place of: those may have more tools. */
function tellReplaced({ offered }: DefinitionBook, warn: (text: string) => void): void {
  for (const { name, source } of offered) {
    const builtin = BUILTIN_DEFINITIONS.find((one) => nameKey(one.name) === nameKey(name));
    if (builtin === undefined || source.kind !== "file" || source.scope !== "project") continue;
    warn(`The project's file "${source.path}" takes the place of the built-in ${builtin.name}`);
  }
}

/** Tells a person which files are no definitions: who wrote one expects it to be there. */
function tellFaults({ faults }: DefinitionBook, warn: (text: string) => void): void {
  for (const { reason } of faults.slice(0, MAX_FAULTS)) warn(reason);
  const more = faults.length - MAX_FAULTS;
  if (more > 0) warn(`${more} more files are no definitions of subagents: /agents lists them`);
}
