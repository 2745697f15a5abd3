/**
 * Names of tools, and the list of them in a configuration.
 *
 * @module
 */
import { nearest } from "../base/nearest.ts";

/** The tools of this folder, in the order of `builtinTools()`; loading them is not needed to know it. */
export const BUILTIN_TOOL_NAMES: readonly string[] = [
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
];

/** An entry of a list that names no tool. */
export interface UnknownToolName {
  readonly entry: string;
  /** The name that was probably meant. */
  readonly nearest?: string;
}

/** Which tools an agent has. */
export interface ToolSelection {
  /** Says whether the agent has the tool with this name. */
  readonly has: (name: string) => boolean;
  /**
   * Returns the entries that name none of the given tools. An entry for an MCP server
   * (`mcp__server__*`) counts only when a tool of that server is among them or when `mcpKnown` says
   * that all servers have told their tools.
   */
  readonly unknown: (
    names: readonly string[],
    options?: { readonly mcpKnown?: boolean },
  ) => readonly UnknownToolName[];
}

/**
 * Reads a `tools:` list.
 *
 * @param entries names, or patterns in which `*` stands for any characters; absent: all tools.
 */
export function selectTools(entries: readonly string[] | undefined): ToolSelection {
  if (entries === undefined) return { has: () => true, unknown: () => [] };
  const matchers = entries.map((entry) => ({ entry, matches: matcherOf(entry.trim()) }));
  return {
    has: (name) => matchers.some(({ matches }) => matches(name)),
    unknown: (names, { mcpKnown = false } = {}) =>
      matchers
        .filter(({ entry, matches }) =>
          !names.some(matches) && (mcpKnown || !entry.trim().startsWith("mcp__"))
        )
        .map(({ entry }) => {
          const near = nearest(entry, names);
          return near === undefined ? { entry } : { entry, nearest: near };
        }),
  };
}

function matcherOf(entry: string): (name: string) => boolean {
  if (!entry.includes("*")) return (name) => name === entry;
  const parts = entry.split("*").map((part) => part.replace(/[\\^$.*+?()[\]{}|]/gu, "\\$&"));
  const expression = new RegExp(`^${parts.join(".*")}$`, "su");
  return (name) => expression.test(name);
}
