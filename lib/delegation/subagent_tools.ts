/**
 * Which tools a subagent has: those of the configuration, narrowed by its definition, without what
 * no subagent has.
 *
 * @module
 */
import { AGENT, RUN_TOOLS, TOOL_NAMES } from "../config/tool_names.ts";
import { selectTools } from "../tools/tool_names.ts";
import { mayDelegate } from "./delegation_limits.ts";

/** Tools that only look. */
export const READ_ONLY_TOOLS: readonly string[] = ["read", "glob", "grep", "ls"];

/** Tools for whom a person talks to: a subagent has nobody to ask, and nothing in the background. */
export const NOT_FOR_SUBAGENTS: ReadonlySet<string> = new Set([
  "ask_user",
  "todo",
  ...RUN_TOOLS,
]);

/** Every name a tool can have: mm's own, and those of MCP servers. */
const ALL: readonly string[] = [...TOOL_NAMES, "mcp__*"];

/** Options of {@linkcode subagentTools}. */
export interface SubagentToolsOptions {
  /** The configuration's list; absent for all. */
  readonly configured: readonly string[] | undefined;
  /** The definition's list; absent, or with `*`, for all of them. */
  readonly wanted: readonly string[] | undefined;
  /** What the definition takes away again. */
  readonly without: readonly string[];
  /** How deep the subagent is in a chain, and how deep it may be. */
  readonly depth: number;
  readonly maxDepth: number;
}

/**
 * Returns the list of tools of a subagent, for `selectTools()`: never wider than the configuration's
 * or the definition's.
 */
export function subagentTools(options: SubagentToolsOptions): string[] {
  const { configured = ALL, wanted = ALL, without, depth, maxDepth } = options;
  const taken = selectTools(without).has;
  const has = [selectTools(configured).has, selectTools(wanted).has];
  // What mm itself has is known, so each name is tried; what servers have is not.
  const own = TOOL_NAMES.filter((name) =>
    has.every((list) => list(name)) && !taken(name) && !NOT_FOR_SUBAGENTS.has(name) &&
    (name !== AGENT || mayDelegate(depth, maxDepth))
  );
  return [...own, ...serverTools(configured, wanted, without)];
}

/** The tools of MCP servers that both lists have, in the form that `selectTools()` takes. */
function serverTools(
  configured: readonly string[],
  wanted: readonly string[],
  without: readonly string[],
): string[] {
  const taken = without.flatMap(serverPattern);
  const both = configured.flatMap(serverPattern).flatMap((one) =>
    wanted.flatMap(serverPattern).flatMap((other) => meet(one, other))
  );
  return [...new Set(both)]
    .filter((entry) => !selectTools(taken).has(entry))
    .map((entry) => [entry, ...taken.map((pattern) => `!${pattern}`)].join("&"));
}

/** The names that two names or patterns have in common; empty for provably none. */
function meet(one: string, other: string): string[] {
  // A pattern that matches the text of another one, star for star, covers all that it matches.
  if (selectTools([one]).has(other)) return [other];
  if (selectTools([other]).has(one)) return [one];
  return one.includes("*") && other.includes("*") ? [`${one}&${other}`] : [];
}

/** An entry as far as it is about MCP servers. */
function serverPattern(entry: string): string[] {
  return entry === "*" ? ["mcp__*"] : entry.startsWith("mcp__") ? [entry] : [];
}
