/**
 * The sessions of one connection: opened, found, closed.
 *
 * @module
 */
import { stat } from "node:fs/promises";
import { isAbsolute } from "node:path";
import {
  type AgentContext,
  type NewSessionRequest,
  type NewSessionResponse,
  RequestError,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import type { SessionHost } from "../session/types.ts";
import { AgentSession } from "./agent_session.ts";
import { modeState } from "./config_options.ts";
import { invalidParams } from "./errors.ts";
import type { ClientAbilities } from "./initialize.ts";
import { metaOf } from "./meta.ts";
import { permissionAsker } from "./permission.ts";
import { SessionUpdates } from "./updates.ts";

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
  readonly log: (line: string) => void;
}

/** Options of {@linkcode Sessions.open}. */
export interface OpenOptions {
  readonly abilities: ClientAbilities;
  /** Settles when the reply that names the session has been sent. */
  readonly replied: Promise<void>;
}

/** The sessions an editor has open. */
export class Sessions {
  readonly #options: SessionsOptions;
  readonly #open = new Map<string, AgentSession>();

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
    const { host, client, send, redact, warn, log } = this.#options;
    await checkDirectory(params.cwd);
    let id = "";
    const updates = new SessionUpdates({
      send: (update) => send(id, update),
      notices: options.abilities.notices,
    });
    const session = await host.createSession({
      cwd: params.cwd,
      emit: (event) => {
        updates.take(event);
        if (event.type === "notice" && event.severity !== "info") warn(redact(event.text));
      },
      askPermission: permissionAsker({ client: client(), sessionId: () => id }),
    });
    id = session.id;
    const opened = new AgentSession({ host, session, updates, redact });
    this.#open.set(id, opened);
    // Editors drop an update that comes before the reply which names its session.
    void options.replied.then(() => opened.announce());
    const notStarted = params.mcpServers.map((server) => server.name);
    if (notStarted.length > 0) {
      log(`MCP servers of the editor are not started: ${notStarted.join(", ")}`);
    }
    return {
      sessionId: id,
      modes: modeState(session.yolo),
      configOptions: opened.options,
      _meta: metaOf({
        label: host.label,
        ...(notStarted.length === 0 ? {} : { mcpServersNotStarted: notStarted }),
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
    await session.close();
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
