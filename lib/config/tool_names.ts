/**
 * The names of the built-in tools, as far as a configuration can be checked before any tool exists.
 *
 * @module
 */
import { didYouMean } from "../base/nearest.ts";

/** Built-in tools of this version. */
export const TOOL_NAMES: readonly string[] = [
  "bash",
  "read",
  "write",
  "edit",
  "glob",
  "grep",
  "ls",
  "ask_agent",
];

/** Returns what is wrong with the name of one of the agent's own tools, or `undefined`. */
export function toolNameError(name: string): string | undefined {
  if (TOOL_NAMES.includes(name)) return undefined;
  if (name.startsWith("mcp__")) {
    return "names a tool of an MCP server, which this version of mm does not support";
  }
  const hint = didYouMean(name, TOOL_NAMES);
  return `names no built-in tool${hint === "" ? ` (${TOOL_NAMES.join(", ")})` : hint}`;
}
