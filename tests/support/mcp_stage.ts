/**
 * An agent with one MCP server in an editor, as the tests of MCP need it.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import type { AcpEditor } from "./acp_editor.ts";
import type { Keys } from "./agents.ts";
import { type McpMode, mcpServer } from "./mcp_server.ts";
import type { ModelServer, RecordedRequest, Rule } from "./model_server.ts";
import { oneAgent } from "./one_agent.ts";
import { type TestProject, withProject } from "./project.ts";

/** The names of a request's tools that come from MCP servers. */
export function mcpNames({ toolNames }: RecordedRequest): string[] {
  return toolNames.filter((name) => name.startsWith("mcp__"));
}

/** A call of a tool, as a model makes it. */
export function call(name: string, args: Keys = {}) {
  return { name, arguments: args };
}

/** A session of an agent with one server, `t`, in a mode. */
export interface Stage {
  readonly p: TestProject;
  readonly server: ModelServer;
  readonly editor: AcpEditor;
  readonly session: string;
  /** What the MCP server logged so far. */
  readonly seen: () => Promise<Keys[]>;
}

/** Runs `body` with a session of an agent that has the server. */
export function withServer(
  reply: Rule | readonly Rule[],
  body: (stage: Stage) => Promise<void>,
  options: { readonly mode?: McpMode; readonly keys?: Keys; readonly env?: Keys } = {},
): Promise<void> {
  return withProject(async (p) => {
    const log = p.path("mcp.log");
    const entry = mcpServer({ mode: options.mode ?? "ok", log });
    const server = await oneAgent(p, reply, {
      yolo: true,
      mcpServers: { t: entry },
      ...options.keys,
    });
    const editor = p.editor();
    const session = await editor.start();
    const seen = async () => {
      const text = await readFile(log, "utf8").catch(() => "");
      return text.split("\n").filter((line) => line !== "").map((line) => JSON.parse(line));
    };
    await body({ p, server, editor, session, seen });
  });
}

/** The result of the last call that a request carries. */
export function resultIn(server: ModelServer, at: number): string {
  return server.requests[at]?.last.text ?? "";
}
