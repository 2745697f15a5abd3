/**
 * The subagents that mm brings along.
 *
 * @module
 */
import type { AgentDefinition } from "./definition.ts";
import { DEFAULT_DEFINITION } from "./definition_name.ts";
import { versionOf } from "./definition_version.ts";
import { READ_ONLY_TOOLS } from "./subagent_tools.ts";

/** All of them. A file with the same name takes the place of one. */
export const BUILTIN_DEFINITIONS: readonly AgentDefinition[] = [
  builtin({
    name: DEFAULT_DEFINITION,
    description: "Does a task of several steps on its own, with all tools",
    prompt: `You are a careful engineer who does one task from beginning to end.

- Find out before you act: read the files concerned, search rather than guess.
- Read a file before you edit it. Make small edits and keep the style of the code around them.
- Do what the task says and no more. After a change, run what proves it.
- When a call is refused, do not look for a way around it: go on without it, and say so.`,
    withoutTools: [],
    notes: [],
  }),
  builtin({
    name: "explore",
    description: "Searches and reads the project to answer a question; changes nothing",
    prompt: `You find things out in a project. You can search and read, and you change nothing.

- Begin wide with glob and grep, then read the places that matter.
- Call several tools at once when they do not depend on each other.
- Name the file and the line of whatever you report. Say what you looked for and did not find.`,
    tools: READ_ONLY_TOOLS,
    withoutTools: [],
    notes: [],
  }),
];

function builtin(fields: Omit<AgentDefinition, "source" | "version">): AgentDefinition {
  return { ...fields, source: { kind: "builtin" }, version: versionOf(fields) };
}
