/**
 * The MCP servers of one process: those of the configuration, one of each for a directory and shared
 * by the sessions that work there, and those that editors bring with a session.
 *
 * @module
 */
import { redactor } from "../base/secrets.ts";
import type { McpServerConfig } from "../config/types.ts";
import type { StartChild } from "../platform/process.ts";
import { McpServer } from "./server.ts";
import { serverEnvironment } from "./server_environment.ts";
import { SessionServers } from "./session_servers.ts";

/** Options of {@linkcode McpHost}. */
export interface McpHostOptions {
  /** The servers of the configuration. */
  readonly servers: readonly McpServerConfig[];
  /** This process's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What no server and no message may hold: the key of the model. */
  readonly secrets: readonly string[];
  readonly start: StartChild;
  /** Says whether the configuration's `tools` has a tool. */
  readonly hasTool: (name: string) => boolean;
}

/** What a session says of itself. */
export interface SessionServersFor {
  /** The session's working directory, absolute. */
  readonly cwd: string;
  /** Servers that the editor brings. */
  readonly servers?: readonly McpServerConfig[];
}

/** Starts MCP servers for the sessions of one process. */
export class McpHost {
  readonly #options: McpHostOptions;
  /** The servers of the configuration by directory: they work in it. */
  readonly #shared = new Map<string, readonly McpServer[]>();

  /** Creates the host; no server is started. */
  constructor(options: McpHostOptions) {
    this.#options = options;
  }

  /** Starts the servers of a session in the background. */
  open({ cwd, servers = [] }: SessionServersFor): SessionServers {
    let shared = this.#shared.get(cwd);
    if (shared === undefined) {
      shared = this.#options.servers.map((config) => this.#server(config, cwd));
      this.#shared.set(cwd, shared);
    }
    return new SessionServers({
      shared,
      own: servers.map((config) => this.#server(config, cwd)),
      hasTool: this.#options.hasTool,
    });
  }

  /** Ends the servers of the configuration; those of a session end with it. */
  async close(): Promise<void> {
    const all = [...this.#shared.values()].flat();
    await Promise.all(all.map((server) => server.close()));
  }

  #server(config: McpServerConfig, cwd: string): McpServer {
    const { env, secrets, start } = this.#options;
    const own = "url" in config ? config.headers : config.env;
    return new McpServer({
      config,
      cwd,
      env: serverEnvironment({ env, secrets, own: "url" in config ? undefined : config.env }),
      start,
      redact: redactor([...secrets, ...Object.values(own ?? {})]),
    });
  }
}
