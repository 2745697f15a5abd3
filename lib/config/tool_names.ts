/**
 * The names of the built-in tools, as far as a configuration can be checked before any tool exists.
 *
 * @module
 */
import { didYouMean } from "../base/nearest.ts";

/** The tool that starts subagents. */
export const AGENT = "agent";

/** The tools about what it started in the background, in the order they are declared. */
export const RUN_TOOLS: readonly string[] = [
  "list_agents",
  "send_message",
  "wait_agent",
  "task_stop",
];

/** All tools of delegation. */
export const DELEGATION_TOOLS: readonly string[] = [AGENT, ...RUN_TOOLS];

/** Built-in tools of this version. */
export const TOOL_NAMES: readonly string[] = [
  "bash",
  "read",
  "write",
  "edit",
  "glob",
  "grep",
  "ls",
  "fetch",
  "todo",
  "ask_user",
  "ask_agent",
  ...DELEGATION_TOOLS,
];

/** Those of them that never need leave: only `ask` and `deny` of the agent that runs them hold them back. */
export const UNGATED_TOOLS: ReadonlySet<string> = new Set([
  "read",
  "glob",
  "grep",
  "ls",
  "todo",
  "ask_user",
  ...RUN_TOOLS,
]);

/** `mcp__server__tool`; `*` stands for any characters. The source of a regular expression. */
export const MCP_TOOL = "^mcp__[A-Za-z0-9_*-]+$";

/** Returns what is wrong with the name of one of the agent's own tools, or `undefined`. */
export function toolNameError(name: string): string | undefined {
  if (TOOL_NAMES.includes(name)) return undefined;
  if (name.startsWith("mcp__")) return mcpNameError(name);
  const hint = didYouMean(name, TOOL_NAMES);
  return `names no built-in tool${hint === "" ? ` (${TOOL_NAMES.join(", ")})` : hint}`;
}

/** Which tools a server has is known when it runs, and an editor can bring servers of its own. */
function mcpNameError(name: string): string | undefined {
  if (
    new RegExp(MCP_TOOL, "u").test(name) && (name.includes("*") || name.slice(5).includes("__"))
  ) return undefined;
  return 'is no name of a tool of an MCP server; write "mcp__server__tool" or "mcp__server__*"';
}
