/**
 * The list of tools in a configuration.
 *
 * @module
 */
import { nearest } from "../base/nearest.ts";

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
  /** Returns the entries that name none of the given tools. */
  readonly unknown: (names: readonly string[]) => readonly UnknownToolName[];
}

/**
 * Reads a `tools:` list.
 *
 * @param entries names, or patterns in which `*` stands for any characters; absent: all tools. What
 * mm itself puts together may join several with `&`, of which all must match, and begin one with `!`,
 * which must not; a configuration can hold neither.
 */
export function selectTools(entries: readonly string[] | undefined): ToolSelection {
  if (entries === undefined) return { has: () => true, unknown: () => [] };
  const matchers = entries.map((entry) => ({ entry, matches: matcherOf(entry.trim()) }));
  return {
    has: (name) => matchers.some(({ matches }) => matches(name)),
    unknown: (names) =>
      matchers.filter(({ matches }) => !names.some(matches)).map(({ entry }) => {
        const near = nearest(entry, names);
        return near === undefined ? { entry } : { entry, nearest: near };
      }),
  };
}

function matcherOf(entry: string): (name: string) => boolean {
  if (entry.includes("&")) {
    const terms = entry.split("&").map(matcherOf);
    return (name) => terms.every((matches) => matches(name));
  }
  if (entry.startsWith("!")) {
    const matches = matcherOf(entry.slice(1));
    return (name) => !matches(name);
  }
  if (!entry.includes("*")) return (name) => name === entry;
  const parts = entry.split("*").map((part) => part.replace(/[\\^$.*+?()[\]{}|]/gu, "\\$&"));
  const expression = new RegExp(`^${parts.join(".*")}$`, "su");
  return (name) => expression.test(name);
}
