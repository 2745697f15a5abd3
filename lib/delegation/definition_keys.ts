/**
 * The keys of a definition: those that mm reads, those of other programs, and what is said of the rest.
 *
 * @module
 */
import { didYouMean } from "../base/nearest.ts";
import { quotable } from "../config/problems.ts";
import type { Dialect } from "./dialect.ts";

/** Fields that can be set one by one. */
export const EDITABLE_FIELDS = [
  "description",
  "tools",
  "disallowedTools",
  "model",
  "maxTurns",
  "maxTime",
  "background",
] as const;

/** A field that can be set. */
export type EditableField = (typeof EDITABLE_FIELDS)[number];

/** Keys that mm reads, in the order of the reference. */
const KEYS: readonly string[] = ["name", ...EDITABLE_FIELDS, "color"];

/** Keys whose absence is a fault of its own. */
const REQUIRED: ReadonlySet<string> = new Set(["name", "description"]);

/** Keys of other programs that are read as far as they go. */
const TAKEN_OVER: ReadonlySet<string> = new Set([
  "approvalMode",
  "permissionMode",
  "runConfig",
  "modelConfig",
]);

/** Keys of other programs, and what is the case instead. */
const NOT_HONOURED: Readonly<Record<string, string>> = {
  mcpServers: "the subagent has the MCP servers of the configuration",
  hooks: "hooks are set in the configuration, as subagentStart and subagentStop",
  executionBackend: "the subagent runs as a process of mm, in no container",
  isolation: "a call that wants a worktree says so itself",
  memory: "the subagent remembers nothing from one task to the next",
  skills: "no skill is loaded",
  effort: "the reasoning of the configuration holds",
  initialPrompt: "the subagent begins with the task it is given",
};

/** What is to be said of keys, each a sentence without a period. */
export interface KeyFindings {
  /** Why the file cannot be used. */
  readonly faults: readonly string[];
  /** What of it is not done. */
  readonly notes: readonly string[];
}

/** Looks at the keys of a definition; what its fields hold is looked at elsewhere. */
export function keyFindings(
  values: Readonly<Record<string, unknown>>,
  { dialect }: { readonly dialect: Dialect },
): KeyFindings {
  const faults: string[] = [];
  const notes: string[] = [];
  for (const [key, value] of Object.entries(values)) {
    if (key === "executor") {
      faults.push(
        '"executor" is not supported, so nothing is started under this name; name the program ' +
          "in the configuration, under mmConfigs with command",
      );
    } else if (Object.hasOwn(NOT_HONOURED, key)) {
      notes.push(`"${key}" is not honoured: ${NOT_HONOURED[key]}`);
    } else if (!KEYS.includes(key) && !TAKEN_OVER.has(key)) {
      if (dialect === "mm") {
        const hint = didYouMean(key, KEYS) || `; the keys are ${KEYS.join(", ")}`;
        faults.push(`unknown key "${quotable(key)}"${hint}`);
      } else {
        notes.push(`"${quotable(key)}" is not known here, and left out`);
      }
    } else if (value === null && dialect === "mm" && !REQUIRED.has(key)) {
      faults.push(`"${key}" has no value; give it one or remove the key`);
    }
  }
  return { faults, notes };
}
