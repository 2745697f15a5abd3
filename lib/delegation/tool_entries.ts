/**
 * The lists of tools of a definition: from what stands there to the names of mm's tools. A reading
 * in doubt never gives a subagent more.
 *
 * @module
 */
import { didYouMean } from "../base/nearest.ts";
import { quotable } from "../config/problems.ts";
import { TOOL_NAMES, toolNameError } from "../config/tool_names.ts";
import { foreignTool } from "./foreign_tools.ts";
import { NOT_FOR_SUBAGENTS } from "./subagent_tools.ts";

/** What a list of tools means. */
export interface ToolEntries {
  /** Names of mm's tools and patterns of MCP tools, none twice; `*` for all. */
  readonly tools: readonly string[];
  /** Entries that name nothing mm knows: `"Bsh", which is no tool of mm; did you mean "bash"?`. */
  readonly unknown: readonly string[];
  /** What is not done, each a sentence without a period. */
  readonly notes: readonly string[];
}

/** Which of the two lists it is. */
export type ToolListKey = "tools" | "disallowedTools";

/**
 * Takes a list as it stands in a file apart: a list of text, or text with commas.
 *
 * @returns the entries without blanks around them, or `undefined` for something else.
 */
export function splitEntries(value: unknown): string[] | undefined {
  if (typeof value === "string") {
    return splitText(value).map((entry) => entry.trim()).filter((entry) => entry !== "");
  }
  if (!Array.isArray(value) || !value.every((entry) => typeof entry === "string")) return undefined;
  return value.map((entry) => entry.trim()).filter((entry) => entry !== "");
}

/** A comma inside of brackets belongs to a pattern: `Bash(git add, git status)`. */
function splitText(text: string): string[] {
  const entries: string[] = [];
  let end = text.length;
  let bracket = "";
  // From the end, where the bracket that a comma stands before is known: in one pass, for any text.
  for (const { 0: mark, index } of [...text.matchAll(/[(),]/gu)].reverse()) {
    if (mark !== ",") bracket = mark;
    else if (bracket !== ")") {
      entries.push(text.slice(index + 1, end));
      end = index;
    }
  }
  entries.push(text.slice(0, end));
  return entries.reverse();
}

/** Reads the entries of a list. */
export function readToolEntries(entries: readonly string[], key: ToolListKey): ToolEntries {
  const tools = new Set<string>();
  const unknown: string[] = [];
  const notes: string[] = [];
  for (const entry of entries) {
    const [, name = "", pattern] = /^([^()]*?)\s*(\(.*\))?$/su.exec(entry) ?? [entry, entry];
    const tool = toolOf(name);
    if (tool === undefined) {
      const hint = didYouMean(name, TOOL_NAMES);
      unknown.push(`"${quotable(entry)}", which is no tool of mm${hint}`);
    } else if (pattern !== undefined) {
      // In the list of what it has, the whole tool would be wider; in the other one, it is narrower.
      if (key === "disallowedTools" && tool !== null) tools.add(tool);
      notes.push(
        `"${key}": the pattern "${quotable(entry)}" is not honoured, so the subagent does not ` +
          "have this tool at all",
      );
    } else if (tool === null) {
      if (key === "tools") notes.push(`"tools": mm has no tool like "${quotable(entry)}"`);
    } else {
      tools.add(tool);
      if (key === "tools" && NOT_FOR_SUBAGENTS.has(tool)) {
        notes.push(`"tools": a subagent never has "${tool}"`);
      }
    }
  }
  return { tools: [...tools], unknown, notes };
}

/** Returns mm's name of a tool; `null` for one that mm has not, `undefined` for an unknown name. */
function toolOf(name: string): string | null | undefined {
  if (name === "*") return "*";
  if (name.startsWith("mcp__")) {
    if (toolNameError(name) === undefined) return name;
    // `mcp__server` means all of a server's tools.
    const all = `${name}__*`;
    return /^mcp__[^_*]/u.test(name) && toolNameError(all) === undefined ? all : undefined;
  }
  const lower = name.toLowerCase();
  return TOOL_NAMES.includes(lower) ? lower : foreignTool(name);
}
