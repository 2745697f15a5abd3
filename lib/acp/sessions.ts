/**
 * The sessions of one connection: opened, found, closed.
 *
 * @module
 */
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import {
  type AgentContext,
  type ListSessionsRequest,
  type ListSessionsResponse,
  type LoadSessionRequest,
  type LoadSessionResponse,
  type McpServer,
  type NewSessionRequest,
  type NewSessionResponse,
  RequestError,
  type ResumeSessionRequest,
  type ResumeSessionResponse,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import type {
  CreateSessionOptions,
  SavedSessions,
  Session,
  SessionHost,
} from "../session/types.ts";
import { UnknownSessionError } from "../store/unknown_session_error.ts";
import { AgentSession } from "./agent_session.ts";
import { modeState } from "./config_options.ts";
import { invalidParams } from "./errors.ts";
import type { ClientAbilities } from "./initialize.ts";
import { editorServers } from "./mcp_servers.ts";
import { metaOf } from "./meta.ts";
import { readOpening } from "./opening.ts";
import { ParkedQuestions } from "./parked_questions.ts";
import { permissionAsker } from "./permission.ts";
import { sessionPage } from "./session_pages.ts";
import { SessionUpdates } from "./updates.ts";
import { userAsker } from "./user_question.ts";

/** Options of {@linkcode Sessions}. */
export interface SessionsOptions {
  readonly host: SessionHost;
  /** The client, once the connection is there. */
  readonly client: () => AgentContext;
  /** Sends one update of a session; must not throw. */
  readonly send: (sessionId: string, update: SessionUpdate) => void;
  readonly redact: (text: string) => string;
  /** Takes the warnings of all sessions, for who reads no updates. */
  readonly warn: (line: string) => void;
}

/** Options of {@linkcode Sessions.open}. */
export interface OpenOptions {
  readonly abilities: ClientAbilities;
  /** Settles when the reply that names the session has been sent. */
  readonly replied: Promise<void>;
}

/** How a session of the host begins. */
interface StartOptions extends OpenOptions {
  /** The session's id, where the editor knows it already. */
  readonly id?: string;
  readonly begin: (common: CreateSessionOptions, updates: SessionUpdates) => Promise<Session>;
}

interface Started {
  readonly session: Session;
  readonly opened: AgentSession;
}

/** What an editor says of a session that it opens. */
interface Opening {
  readonly cwd: string;
  readonly mcpServers?: readonly McpServer[];
  readonly _meta?: Readonly<Record<string, unknown>> | null;
}

/** The sessions an editor has open. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #open = new Map<string, AgentSession>();
  /** Those that are being closed: who goes on with one waits until its file is free. */
  readonly #closing = new Map<string, Promise<void>>();

  /** Creates an empty table. */
  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /**
   * Opens a session.
   *
   * @throws {RequestError} -32602 when the directory is none.
   */
  async open(params: NewSessionRequest, options: OpenOptions): Promise<NewSessionResponse> {
    const { session, opened } = await this.#start(params, {
      ...options,
      begin: (common) => this.#options.host.createSession(common),
    });
    return { sessionId: session.id, ...this.#reply(session, opened) };
  }

  /**
   * Goes on with a saved conversation, after the editor got all of it.
   *
   * @throws {RequestError} -32602 when the directory is none, -32002 when there is no such
   * conversation, -32603 when it cannot be used.
   */
  async load(params: LoadSessionRequest, options: OpenOptions): Promise<LoadSessionResponse> {
    const { session, opened } = await this.#takeUp(params, {
      ...options,
      begin: async (common, updates) => {
        updates.begin();
        try {
          // An mm that goes on with a subagent has nobody to show it to.
          const show = !options.abilities.asks;
          return await this.#saved.resume({ ...common, id: params.sessionId, show });
        } finally {
          updates.end();
        }
      },
    });
    return this.#reply(session, opened);
  }

  /**
   * Goes on with a saved conversation that the editor knows already.
   *
   * @throws {RequestError} as {@linkcode Sessions.load} does.
   */
  async resume(params: ResumeSessionRequest, options: OpenOptions): Promise<ResumeSessionResponse> {
    const { session, opened } = await this.#takeUp(params, {
      ...options,
      begin: (common) => this.#saved.resume({ ...common, id: params.sessionId, show: false }),
    });
    return this.#reply(session, opened);
  }

  /**
   * Returns a page of the saved conversations.
   *
   * @throws {RequestError} -32602 for a wrong cursor or directory.
   */
  list(params: ListSessionsRequest): Promise<ListSessionsResponse> {
    return sessionPage(this.#saved, params);
  }

  /** Removes a saved conversation, one that is open here too; does nothing when there is none. */
  async delete(id: string): Promise<void> {
    if (this.#open.has(id)) await this.close(id);
    await this.#saved.delete(id);
  }

  get #saved(): SavedSessions {
    const { saved } = this.#options.host;
    if (saved === undefined) throw new Error("Conversations are not saved");
    return saved;
  }

  async #takeUp(
    params: LoadSessionRequest | ResumeSessionRequest,
    options: StartOptions,
  ): Promise<Started> {
    const { sessionId } = params;
    await checkDirectory(params.cwd);
    // An editor that asks again has lost what it had.
    if (this.#open.has(sessionId)) await this.close(sessionId);
    await this.#closing.get(sessionId);
    try {
      return await this.#start(params, { ...options, id: sessionId });
    } catch (error) {
      if (error instanceof UnknownSessionError) throw RequestError.sessionNotFound(sessionId);
      throw error;
    }
  }

  async #start(params: Opening, options: StartOptions): Promise<Started> {
    const { host, client, send, redact, warn } = this.#options;
    const { cwd, mcpServers } = params;
    await checkDirectory(cwd);
    const opening = readOpening(params, { forks: host.subagent === true });
    const { servers, unknown } = editorServers(mcpServers);
    let { id = "" } = options;
    const updates = new SessionUpdates({
      send: (update) => send(id, update),
      notices: options.abilities.notices,
      compactions: options.abilities.compactions,
      ...(options.abilities.terminals ? { terminals: cwd } : {}),
    });
    const questions = new ParkedQuestions();
    const session = await options.begin({
      cwd,
      emit: (event) => {
        updates.take(event);
        if (event.type === "notice" && event.severity !== "info") warn(redact(event.text));
      },
      askPermission: questions.parking(permissionAsker({ client: client(), sessionId: () => id })),
      askUser: userAsker({
        client: client(),
        sessionId: () => id,
        forms: options.abilities.forms,
      }),
      mcpServers: servers,
      ...opening,
      replay: { how: "full", show: (event) => updates.take(event) },
      onTitle: (title) =>
        updates.send({
          sessionUpdate: "session_info_update",
          title,
          updatedAt: new Date().toISOString(),
        }),
    }, updates);
    for (const name of unknown) {
      const text = `The MCP server "${name}" is left out: mm starts those over stdio and HTTP only`;
      updates.take({ type: "notice", severity: "warning", text });
    }
    id = session.id;
    const opened = new AgentSession({
      host,
      session,
      updates,
      questions,
      redact,
      choosing: !options.abilities.asks,
    });
    this.#open.set(id, opened);
    // Editors drop an update that comes before the reply which names its session.
    void options.replied.then(() => opened.announce());
    void opened.lookForModels({ prompted: false });
    return { session, opened };
  }

  #reply(
    session: Session,
    opened: AgentSession,
  ): Omit<NewSessionResponse, "sessionId"> {
    const { window } = this.#options.host;
    return {
      modes: modeState(session.yolo),
      configOptions: opened.options,
      _meta: metaOf({
        label: session.model.label,
        settings: session.model.settings,
        ...(window === undefined ? {} : { window }),
      }),
    };
  }

  /**
   * Returns an open session.
   *
   * @throws {RequestError} -32002 when there is none with this id.
   */
  get(id: string): AgentSession {
    const found = this.#open.get(id);
    if (found === undefined) throw RequestError.sessionNotFound(id);
    return found;
  }

  /**
   * Closes a session.
   *
   * @throws {RequestError} -32002 when there is none with this id.
   */
  async close(id: string): Promise<void> {
    const session = this.get(id);
    this.#open.delete(id);
    const closing = session.close().finally(() => {
      if (this.#closing.get(id) === closing) this.#closing.delete(id);
    });
    this.#closing.set(id, closing);
    await closing;
  }

  /** Closes all sessions. */
  async closeAll(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((id) => this.close(id)));
  }

  /** Cancels what runs in all sessions. */
  cancelAll(): void {
    for (const session of this.#open.values()) session.cancel();
  }
}

async function checkDirectory(cwd: string): Promise<void> {
  if (!isAbsolute(cwd)) {
    throw invalidParams(`Cannot work in "${cwd}": the path of "cwd" must be absolute`);
  }
  const found = await stat(cwd).catch(() => undefined);
  if (found === undefined) throw invalidParams(`Cannot work in "${cwd}": it does not exist`);
  if (!found.isDirectory()) throw invalidParams(`Cannot work in "${cwd}": it is no directory`);
}
