/**
 * Which tools a fork may run. It is told of all the tools of the conversation, so that its requests
 * begin as that one's do; what it may not run is refused when it is called.
 *
 * @module
 */
import { oneLine } from "../base/cut.ts";
import { didYouMean } from "../base/nearest.ts";
import { DELEGATION_TOOLS, TOOL_NAMES } from "../config/tool_names.ts";
import { foreignTool } from "./foreign_tools.ts";

/** `mcp__*`, `mcp__server`, `mcp__server__tool`, `mcp__server__prefix*`. */
const MCP_PATTERN = /^mcp__(?:\*|[^*\s]+?(?:__[^*\s]*\*?)?)$/u;

/** Entries, and characters of them, that a refusal names. */
const MAX_NAMED = 8;
const MAX_NAMED_LENGTH = 240;

const INSTEAD = "say what you need in your report to the agent you were forked from";

/** What no fork runs, whatever it is allowed, and what it does instead. */
const NEVER: ReadonlyMap<string, string> = new Map([
  ["ask_user", `a fork asks nobody; ${INSTEAD}`],
  ...DELEGATION_TOOLS.map((name) =>
    [name, `a fork starts and leads no agents; do the work yourself, or ${INSTEAD}`] as const
  ),
]);

/** Tools that a fork can be allowed. */
const ALLOWABLE = TOOL_NAMES.filter((name) => !NEVER.has(name));

/**
 * Reads a list of what a fork may run: names of tools, those of other programs included, and patterns of
 * tools of MCP servers. An empty list allows nothing; a name that is no tool allows nothing either, and
 * one that is nearly a tool's is a mistake.
 *
 * @param what the list, as the reader knows it.
 * @returns mm's names and the patterns, each once; or what is wrong: a sentence for the model.
 */
export function readForkTools(
  value: unknown,
  what = "fork_tools",
): { readonly allow: readonly string[] } | { readonly error: string } {
  if (!Array.isArray(value)) {
    return { error: `${what} is no list; write a list of names of tools, [] to allow none` };
  }
  const allow = new Set<string>();
  for (const [at, item] of value.entries()) {
    const fault = faultOf(item);
    if (fault !== undefined) return { error: `${what}[${at}] ${fault}` };
    allow.add(ownName(item));
  }
  return { allow: [...allow] };
}

/** Returns mm's name for the tool of another program; any other name as it is. */
function ownName(name: string): string {
  const small = name.toLowerCase();
  return foreignTool(name) ?? (TOOL_NAMES.includes(small) ? small : name);
}

function faultOf(item: unknown): string | undefined {
  if (typeof item !== "string") return "is no text; write the name of a tool";
  const shown = JSON.stringify(oneLine(item, 60));
  if (item.trim() === "") return "is empty; write the name of a tool, or leave it out";
  if (item !== item.trim()) return `is ${shown} with white space around it; write the name alone`;
  if (item === "*") return 'is "*"; leave the whole list out to allow everything';
  if (MCP_PATTERN.test(item)) return undefined;
  if (!item.includes("*")) {
    // A tool of another program that mm has not is no slip either.
    const known = TOOL_NAMES.includes(ownName(item)) || foreignTool(item) === null;
    const hint = known ? "" : didYouMean(item, ALLOWABLE);
    return hint === "" ? undefined : `is ${shown}, which is no tool${hint}`;
  }
  return `is ${shown}; "*" may stand only at the end of a pattern of MCP tools, such as ` +
    '"mcp__*" or "mcp__github__read_*"';
}

/**
 * Returns what says why a call of a fork may not run: a sentence for the model, or `undefined` for a call
 * that the gate decides about.
 *
 * @param allow as {@linkcode readForkTools} gives it; absent for everything the conversation may run.
 */
export function forkGate(
  allow: readonly string[] | undefined,
): (name: string) => string | undefined {
  const matchers = allow?.map(matcherOf);
  return (name) => {
    const never = NEVER.get(name);
    if (never !== undefined) return never;
    if (matchers === undefined || matchers.some((matches) => matches(name))) return undefined;
    const own = oneLine(name, 60);
    return `this fork may run ${allowedWords(allow ?? [])}; go on without ${own}, or ${INSTEAD}`;
  };
}

/** Returns what may run, in words: `only read, grep and 3 more`, `no tools at all`. */
export function allowedWords(allow: readonly string[]): string {
  if (allow.length === 0) return "no tools at all";
  const named: string[] = [];
  let length = 0;
  for (const entry of allow.slice(0, MAX_NAMED)) {
    const shown = oneLine(entry, 60);
    length += shown.length + 2;
    if (length > MAX_NAMED_LENGTH) break;
    named.push(shown);
  }
  const more = allow.length - named.length;
  return `only ${named.join(", ")}${more === 0 ? "" : ` and ${more} more`}`;
}

function matcherOf(entry: string): (name: string) => boolean {
  if (entry.endsWith("*")) {
    const prefix = entry.slice(0, -1);
    return (name) => name.startsWith(prefix);
  }
  // The name of a server alone means all its tools.
  const server = /^mcp__(?!.*__)(?=.)/su.test(entry) ? `${entry}__` : undefined;
  return (name) => name === entry || (server !== undefined && name.startsWith(server));
}
