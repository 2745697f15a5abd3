/**
 * What the sessions of one process share, and how a session is put together.
 *
 * @module
 */
import { mayAsk } from "../agents/ask_limits.ts";
import { ASK_AGENT, askAgentTool } from "../agents/ask_agent_tool.ts";
import type { AgentPool } from "../agents/pool.ts";
import { AGENT } from "../config/tool_names.ts";
import type { AgentConfig } from "../config/types.ts";
import type { Delegation } from "../delegation/delegation.ts";
import type { DelegationHost } from "../delegation/delegation_host.ts";
import { mayDelegate } from "../delegation/delegation_limits.ts";
import { Conversation } from "../engine/conversation.ts";
import type { Emit } from "../engine/events.ts";
import { Gate } from "../gate/gate.ts";
import type { AskHooks } from "../hooks/ask_hooks.ts";
import type { McpHost } from "../mcp/host.ts";
import type { ModelClient, ModelFacts } from "../model/types.ts";
import type { Commands } from "../platform/process.ts";
import type { Scratch } from "../platform/scratch.ts";
import type { OpenedSession } from "../store/opened_session.ts";
import type { SessionStore } from "../store/session_store.ts";
import type { Tool } from "../tools/tool.ts";
import { AgentSession } from "./agent_session.ts";
import { CommandExports } from "./command_exports.ts";
import { openConversation } from "./conversation_opening.ts";
import { checkForkedAt, forkedOpening } from "./fork.ts";
import { RUNS_FILE } from "./session_conversation.ts";
import { SessionModel } from "./session_model.ts";
import type { CreateSessionOptions, SavedSessions, Session, SessionHost } from "./types.ts";

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
  /** Creates what is run around the asks of one session, given the environment of its commands. */
  readonly createHooks?:
    | ((env: () => Promise<Readonly<Record<string, string>>>) => AskHooks)
    | undefined;
  /** How deep this process is in a chain of asks. */
  readonly depth: number;
  /** Makes what sessions share of delegation, when the first needs it; absent for no subagents. */
  readonly createDelegation?: () => Promise<DelegationHost>;
  readonly scratch: Scratch;
  /** Where conversations are saved; absent where none are. */
  readonly store?: SessionStore | undefined;
  /** The MCP servers. */
  readonly mcp: McpHost;
  /** Whether another mm started this process for the runs of a subagent. @default {false} */
  readonly subagent?: boolean;
  /** Ends what the process started beside its sessions. */
  readonly onClose: () => Promise<void>;
}

/** The host of one process. */
export class Host implements SessionHost {
  readonly #options: HostOptions;
  readonly #sessions = new Set<Session>();
  readonly ready: Promise<unknown>;
  #facts: ModelFacts = {};
  #closed = false;
  #delegation: Promise<DelegationHost> | undefined;

  /** Creates the host and begins to ask the model server what it is; nothing waits for the answer. */
  constructor(options: HostOptions) {
    this.#options = options;
    this.ready = options.model.facts({}).then((facts) => this.#facts = facts, () => {});
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
    return this.#options.model.images === true;
  }

  get subagent(): boolean {
    return this.#options.subagent === true;
  }

  get window(): number | undefined {
    return this.#options.model.contextWindow ?? this.#facts.contextWindow;
  }

  get saved(): SavedSessions | undefined {
    const { store } = this.#options;
    if (store === undefined) return undefined;
    return {
      list: (options) => store.list(options),
      find: (beginning, cwd) => store.find(beginning, cwd),
      delete: (id) => store.delete(id),
      resume: (options) =>
        this.#create(options, () => {
          const events = options.replay !== undefined && options.show !== false;
          return store.open(options.id, { events, asItIs: options.fork?.callId !== undefined });
        }),
    };
  }

  createSession(options: CreateSessionOptions): Promise<Session> {
    return this.#create(options);
  }

  async #create(
    options: CreateSessionOptions,
    open?: () => Promise<OpenedSession>,
  ): Promise<Session> {
    const { config, env, model, pool, depth, scratch, store } = this.#options;
    const { cwd, emit: show, replay, onTitle, fork, save = true } = options;
    const window = model.contextWindow;
    const opening = fork === undefined
      ? await openConversation({ cwd, config, window })
      : forkedOpening(fork, window);
    // It was closed while the file was read.
    if (this.#closed) throw new Error("Cannot open a session: mm is ending");
    const opened = await open?.();
    try {
      if (this.#closed) throw new Error("Cannot open a session: mm is ending");
      if (fork !== undefined) checkForkedAt(fork, opened?.messages ?? []);
    } catch (thrown) {
      await release(opened);
      throw thrown;
    }
    if (!save) await release(opened);
    const id = opened?.id ?? crypto.randomUUID();
    const log = !save ? undefined : store?.log({
      id,
      cwd,
      history: () => conversation.messages,
      onNotice: (severity, text) => show({ type: "notice", severity, text }),
      ...(onTitle === undefined ? {} : { onTitle }),
    });
    const conversation: Conversation = new Conversation(
      opening.system,
      log === undefined ? {} : { journal: log },
    );
    // Saved before it is shown: what a person has seen is there after a crash.
    const emit: Emit = (event) => {
      log?.event(event);
      show(event);
    };
    const gate: Gate = new Gate({
      rules: config.permissions,
      honourAllowRules: depth === 0,
      askPermission: async (question, asking) => {
        const { taskId } = question;
        if (taskId === undefined) return await options.askPermission(question, asking);
        const taskDescription = delegation?.runs.get(taskId)?.description;
        const asked = taskDescription === undefined ? question : { ...question, taskDescription };
        return await delegation?.whileParked(
          taskId,
          () => options.askPermission(asked, asking),
        ) ?? { kind: "unavailable", reason: "nothing runs in the background here" };
      },
    });
    const exports = new CommandExports({
      sessionId: id,
      scratch,
      env,
      configFile: config.file,
      depth,
    });
    const chosen = sessionModel(model);
    const hooks = this.#options.createHooks?.(() => exports.environment(conversation.messages));
    const delegation: Delegation | undefined = await (await this.#delegationHost())?.open({
      cwd,
      gate,
      emit,
      show,
      yolo: () => session.yolo,
      headless: options.headless ?? false,
      askHooks: hooks,
      env: () => exports.environment(conversation.messages),
      settings: () => chosen.chosen,
      mcpServers: options.mcpServers,
      forkSource: () => ({
        system: conversation.messages[0]?.role === "system" ? conversation.messages[0].text : "",
        tools: session.tools.map(({ name, description, parameters }) => ({
          name,
          description,
          parameters,
        })),
        messages: conversation.messages,
        files: session.files,
      }),
      recordPath: () => log?.sidecarPath(RUNS_FILE),
    });
    const session: AgentSession = new AgentSession({
      id,
      cwd,
      config,
      model: chosen,
      delegation,
      depth,
      pool,
      emit,
      show,
      ...(store === undefined || log === undefined ? {} : { keeping: { store, log } }),
      ...(replay === undefined ? {} : { replay }),
      gate,
      hooks,
      tools: (yolo) => [
        ...this.#tools({ gate, hooks, emit, yolo }),
        ...delegation?.tools() ?? [],
      ],
      mcp: this.#options.mcp.open({
        cwd,
        ...(options.mcpServers === undefined ? {} : { servers: options.mcpServers }),
      }),
      ...(options.askUser === undefined ? {} : { askUser: options.askUser }),
      commands: this.#options.createCommands(),
      conversation,
      opening,
      exports,
      subagent: this.subagent,
      ...(fork === undefined ? {} : { fork }),
      onClose: () => this.#sessions.delete(session),
    });
    this.#sessions.add(session);
    if (opened !== undefined) await session.takeUp(opened);
    return session;
  }

  async close(): Promise<void> {
    const { pool, mcp } = this.#options;
    this.#closed = true;
    // At the same time: the end of its input tells an asked agent what a cancel would.
    await Promise.all([
      pool.close(),
      mcp.close(),
      this.#delegation?.then((delegation) => delegation.close()),
      ...[...this.#sessions].map((session) => session.close()),
    ]);
    await this.#options.scratch.close();
    await this.#options.onClose();
  }

  /**
   * What sessions share of delegation; `undefined` for an agent that starts no subagents: what may not be
   * called is not offered, the first guard of the depth limit.
   */
  async #delegationHost(): Promise<DelegationHost | undefined> {
    const { depth, config, hasTool, createDelegation } = this.#options;
    if (!mayDelegate(depth, config.delegation.maxDepth) || !hasTool(AGENT)) return undefined;
    return await (this.#delegation ??= createDelegation?.());
  }

  #tools(
    options: Pick<Parameters<typeof askAgentTool>[0], "gate" | "hooks" | "emit" | "yolo">,
  ): Tool[] {
    const { tools, hasTool, pool, depth } = this.#options;
    const own = tools.filter((tool) => hasTool(tool.name));
    // The first guard of the depth limit: what may not be called is not offered.
    if (!mayAsk(depth) || pool.entries.length === 0 || !hasTool(ASK_AGENT)) return own;
    return [...own, askAgentTool({ ...options, pool })];
  }
}

/** Begins with what is known of the model, or will be: nothing waits for it. */
function sessionModel(client: ModelClient): SessionModel {
  const model = new SessionModel(client);
  void model.facts({}).catch(() => {});
  return model;
}

/** Gives a conversation back that nobody goes on with. */
async function release(opened: OpenedSession | undefined): Promise<void> {
  await opened?.file?.close(0);
  opened?.lock?.release();
}
