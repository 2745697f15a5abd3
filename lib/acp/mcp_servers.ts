/**
 * The MCP servers that an editor gives with a session, or this mm to a session of a subagent.
 *
 * @module
 */
import type { McpServer } from "@agentclientprotocol/sdk";
import type { McpServerConfig } from "../config/types.ts";

/** Servers that can be started, and those of kinds that were not offered. */
export interface EditorServers {
  readonly servers: readonly McpServerConfig[];
  /** Names of servers over a transport that this agent did not advertise. */
  readonly unknown: readonly string[];
}

/** Reads what an editor gave. */
export function editorServers(given: readonly McpServer[] = []): EditorServers {
  const servers: McpServerConfig[] = [];
  const unknown: string[] = [];
  for (const server of given) {
    if ("command" in server) {
      const { name, command, args, env } = server;
      servers.push({ name, command: [command, ...args], env: pairs(env) });
    } else if ("type" in server && server.type === "http" && isHttp(server.url)) {
      const { name, url, headers } = server;
      servers.push({ name, url, headers: pairs(headers) });
    } else {
      unknown.push(server.name);
    }
  }
  return { servers, unknown };
}

/** Returns servers as they are given with a session. */
export function givenServers(servers: readonly McpServerConfig[] = []): McpServer[] {
  return servers.map((server) => {
    if ("url" in server) {
      const { name, url, headers } = server;
      return { type: "http", name, url, headers: list(headers) };
    }
    const { name, command: [command, ...args], env } = server;
    return { name, command, args, env: list(env) };
  });
}

function list(pairs: Readonly<Record<string, string>> = {}) {
  return Object.entries(pairs).map(([name, value]) => ({ name, value }));
}

function pairs(
  list: readonly { readonly name: string; readonly value: string }[],
): Record<string, string> {
  return Object.fromEntries(list.map(({ name, value }) => [name, value]));
}

function isHttp(url: string): boolean {
  return URL.canParse(url) && /^https?:$/u.test(new URL(url).protocol);
}
