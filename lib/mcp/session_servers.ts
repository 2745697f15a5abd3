/**
 * The MCP servers of one session: the host's and the editor's. Which tools a conversation has is
 * decided at its first prompt and stays, because the tools stand at the beginning of every request.
 *
 * @module
 */
import { formatDuration } from "../base/duration.ts";
import { untilAborted } from "../base/until_aborted.ts";
import type { Tool } from "../tools/tool.ts";
import { mcpTool } from "./mcp_tool.ts";
import type { McpServer, ServerState } from "./server.ts";
import { mcpToolName, serverKey } from "./tool_name.ts";

/** How long a first prompt waits for servers that are starting, in milliseconds. */
export const PATIENCE_MS = 5_000;

/** A wait that is shorter, in milliseconds, is not worth a word. */
const QUIET_WAIT_MS = 500;

/** Says something to the person. */
export type Say = (severity: "info" | "warning", text: string) => void;

/** One server, as `/mcp` and `mm -check` show it. */
export interface McpStatus {
  readonly name: string;
  readonly state: ServerState;
  /** Its own name and version; empty where it told none. */
  readonly label: string;
  /** Why it cannot be used, in words that follow its name. */
  readonly failure: string | undefined;
  /** The tools this conversation has of it, by the names the model uses. */
  readonly tools: readonly string[];
  /** Tools it has in all. */
  readonly total: number;
}

/** Options of {@linkcode SessionServers}. */
export interface SessionServersOptions {
  /** Those of the host, which outlive the session. */
  readonly shared: readonly McpServer[];
  /** Those of the editor, which end with the session. */
  readonly own: readonly McpServer[];
  /** Says whether the configuration's `tools` has a tool. */
  readonly hasTool: (name: string) => boolean;
}

interface Member {
  readonly server: McpServer;
  /** Its name inside the names of its tools. */
  readonly key: string;
}

/** The servers of one session. */
export class SessionServers {
  readonly #members: readonly Member[];
  readonly #own: readonly McpServer[];
  readonly #hasTool: (name: string) => boolean;
  #tools: readonly Tool[] | undefined;
  #begun: Promise<unknown>;

  /** Takes the servers and starts those that do not run yet; nobody waits for them. */
  constructor(options: SessionServersOptions) {
    const keys = new Set<string>();
    this.#own = options.own;
    this.#hasTool = options.hasTool;
    this.#members = [...options.shared, ...options.own].map((server) => ({
      server,
      key: serverKey(server.name, keys),
    }));
    this.#begun = this.#begin({ again: false });
  }

  /** The tools of this conversation; before its first prompt, those that are known so far. */
  get tools(): readonly Tool[] {
    return this.#tools ?? this.#known();
  }

  /**
   * Decides which tools the conversation has, at its first prompt: waits a moment for servers that
   * are starting, and names those that cannot be used.
   *
   * @throws the signal's reason.
   */
  async prepare(options: { readonly signal: AbortSignal; readonly say: Say }): Promise<void> {
    if (this.#tools !== undefined) return;
    if (this.#members.length > 0) await this.#wait(options);
    this.#tools = this.#known();
    for (const { server } of this.#members) this.#tell(server, options.say);
  }

  /**
   * Waits until every server is ready or has failed.
   *
   * @returns when each was, by its name, as `performance.now()` counts.
   * @throws the signal's reason.
   */
  async ready(signal: AbortSignal): Promise<ReadonlyMap<string, number>> {
    const times = new Map<string, number>();
    const each = this.#members.map(async ({ server }) => {
      await server.begin();
      times.set(server.name, performance.now());
    });
    await untilAborted(Promise.all(each), signal);
    return times;
  }

  /** A fresh conversation begins: servers that failed are started again, changed tools are asked for. */
  renew(): void {
    this.#tools = undefined;
    this.#begun = this.#begin({ again: true });
  }

  /** What there is to say of each server. */
  status(): McpStatus[] {
    const names = new Map<McpServer, string[]>();
    const tools = this.#tools;
    for (const [server, name] of this.#names()) {
      if (tools !== undefined && !tools.some((tool) => tool.name === name)) continue;
      names.set(server, [...names.get(server) ?? [], name]);
    }
    return this.#members.map(({ server }) => ({
      name: server.name,
      state: server.state,
      label: server.label,
      failure: server.failure,
      tools: names.get(server) ?? [],
      total: server.tools.length + server.leftOut,
    }));
  }

  /** Ends the servers that belong to the session. */
  async close(): Promise<void> {
    await Promise.all(this.#own.map((server) => server.close()));
  }

  #begin(options: { readonly again: boolean }): Promise<unknown> {
    return Promise.all(this.#members.map(({ server }) => server.begin(options)));
  }

  async #wait({ signal, say }: { readonly signal: AbortSignal; readonly say: Say }): Promise<void> {
    const timers: ReturnType<typeof setTimeout>[] = [];
    const after = (ms: number) =>
      new Promise<void>((resolve) => timers.push(setTimeout(resolve, ms)));
    void after(QUIET_WAIT_MS).then(() => {
      const names = this.#starting().join(", ");
      if (names !== "") say("info", `Waiting for the MCP servers that are starting: ${names}`);
    });
    try {
      await untilAborted(Promise.race([this.#begun, after(PATIENCE_MS)]), signal);
    } finally {
      for (const timer of timers) clearTimeout(timer);
    }
  }

  #starting(): string[] {
    return this.#members.filter(({ server }) => server.state === "starting")
      .map(({ server }) => server.name);
  }

  #tell(server: McpServer, say: Say): void {
    const name = `The MCP server "${server.name}"`;
    switch (server.state) {
      case "starting":
        return say(
          "warning",
          `${name} is not ready after ${formatDuration(PATIENCE_MS)}; this conversation goes on ` +
            "without its tools, /new looks again",
        );
      case "failed":
      case "ended":
        return say("warning", `${name} ${server.failure ?? "was ended"}; it is left out`);
      case "ready":
        if (server.leftOut === 0) return;
        return say(
          "warning",
          `${name} has ${server.tools.length + server.leftOut} tools; the first ` +
            `${server.tools.length} are used`,
        );
    }
  }

  #known(): Tool[] {
    return this.#names().map(([server, name, tool]) => mcpTool({ name, server, tool }) as Tool);
  }

  /** Every tool of a server that runs, in the order of the servers, under its name. */
  #names(): [server: McpServer, name: string, tool: McpServer["tools"][number]][] {
    const taken = new Set<string>();
    return this.#members.flatMap(({ server, key }) => {
      if (server.state !== "ready") return [];
      return server.tools.map((tool): [McpServer, string, typeof tool] => [
        server,
        mcpToolName(key, tool.name, taken),
        tool,
      ]);
    }).filter(([, name]) => this.#hasTool(name));
  }
}
