/**
 * What the sessions of one process share, and how a session is put together.
 *
 * @module
 */
import { mayAsk } from "../agents/ask_limits.ts";
import { ASK_AGENT, askAgentTool } from "../agents/ask_agent_tool.ts";
import type { AgentPool } from "../agents/pool.ts";
import type { AgentConfig } from "../config/types.ts";
import { Conversation } from "../engine/conversation.ts";
import { Gate } from "../gate/gate.ts";
import type { ModelClient, ModelFacts } from "../model/types.ts";
import type { Commands } from "../platform/process.ts";
import type { Scratch } from "../platform/scratch.ts";
import type { Tool } from "../tools/tool.ts";
import { AgentSession } from "./agent_session.ts";
import { CommandExports } from "./command_exports.ts";
import { openConversation } from "./conversation_opening.ts";
import type { CreateSessionOptions, Session, SessionHost } from "./types.ts";

/** Options of {@linkcode Host}. */
export interface HostOptions {
  readonly config: AgentConfig;
  /** This process's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly model: ModelClient;
  readonly pool: AgentPool;
  /** The built-in tools, in their order. */
  readonly tools: readonly Tool[];
  /** Says whether the configuration's `tools` has a tool. */
  readonly hasTool: (name: string) => boolean;
  /** Creates the runner of one session's commands. */
  readonly createCommands: () => Commands;
  /** How deep this process is in a chain of asks. */
  readonly depth: number;
  readonly scratch: Scratch;
  /** Ends what the process started beside its sessions. */
  readonly onClose: () => Promise<void>;
}

/** The host of one process. */
export class Host implements SessionHost {
  readonly #options: HostOptions;
  readonly #sessions = new Set<Session>();
  #facts: ModelFacts = {};
  #closed = false;

  /** Creates the host and begins to ask the model server what it is; nothing waits for the answer. */
  constructor(options: HostOptions) {
    this.#options = options;
    options.model.facts({}).then((facts) => this.#facts = facts, () => {});
  }

  get config(): AgentConfig {
    return this.#options.config;
  }

  get title(): string {
    return this.config.title ?? "mm";
  }

  get label(): string {
    return this.#options.model.label;
  }

  get images(): boolean {
    return this.#facts.images === true;
  }

  async createSession(options: CreateSessionOptions): Promise<Session> {
    const { config, env, model, pool, depth, scratch } = this.#options;
    const { cwd, emit } = options;
    const id = crypto.randomUUID();
    const opening = await openConversation({ cwd, config, window: model.contextWindow });
    // It was closed while the file was read.
    if (this.#closed) throw new Error("Cannot open a session: mm is ending");
    const gate = new Gate({
      rules: config.permissions,
      honourAllowRules: depth === 0,
      askPermission: options.askPermission,
    });
    const session = new AgentSession({
      id,
      cwd,
      config,
      model,
      pool,
      emit,
      gate,
      tools: (yolo) => this.#tools({ gate, emit, yolo }),
      commands: this.#options.createCommands(),
      conversation: new Conversation(opening.system),
      opening,
      exports: new CommandExports({
        sessionId: id,
        scratch,
        env,
        configFile: config.file,
        depth,
      }),
      onClose: () => this.#sessions.delete(session),
    });
    this.#sessions.add(session);
    return session;
  }

  async close(): Promise<void> {
    const { pool } = this.#options;
    this.#closed = true;
    // At the same time: the end of its input tells an asked agent what a cancel would.
    await Promise.all([pool.close(), ...[...this.#sessions].map((session) => session.close())]);
    await this.#options.scratch.close();
    await this.#options.onClose();
  }

  #tools(options: Pick<Parameters<typeof askAgentTool>[0], "gate" | "emit" | "yolo">): Tool[] {
    const { tools, hasTool, pool, depth } = this.#options;
    const own = tools.filter((tool) => hasTool(tool.name));
    // The first guard of the depth limit: what may not be called is not offered.
    if (!mayAsk(depth) || pool.entries.length === 0 || !hasTool(ASK_AGENT)) return own;
    return [...own, askAgentTool({ ...options, pool })];
  }
}
