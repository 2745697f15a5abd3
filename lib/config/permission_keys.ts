/**
 * The keys about what may run: `tools`, `yolo`, `permissions`.
 *
 * @module
 */
import { flag, group, line, list } from "./fields.ts";
import { MCP_TOOL, TOOL_NAMES, toolNameError } from "./tool_names.ts";

/** `name` or `name(pattern)`; the name may begin with agents, `bob/`. */
const RULE = /^([^\s()]+)(?:\((.+)\))?$/su;

const toolName = line().superRefine((name, context) => {
  const error = toolNameError(name);
  if (error !== undefined) context.addIssue(error);
}).meta({ anyOf: [{ enum: TOOL_NAMES }, { pattern: MCP_TOOL }] });

const rule = line({ max: 2000 }).superRefine((source, context) => {
  const error = ruleError(source);
  if (error !== undefined) context.addIssue(error);
});

/** The keys about what may run. */
export const permissionKeys = {
  tools: list(toolName, "names of tools").optional().describe(
    "The tools the agent has: names, and mcp__server__* for those of an MCP server. Absent: all. An " +
      "empty list: none.",
  ),
  yolo: flag().default(false).describe(
    "true: no call is gated, except by the rules ask and deny. false: gated calls ask.",
  ),
  permissions: group({
    allow: list(rule, "rules").default([]).describe("Calls that run without a question."),
    ask: list(rule, "rules").default([]).describe("Calls that ask, even with yolo."),
    deny: list(rule, "rules").default([]).describe("Calls that never run."),
  }).prefault({}).describe(
    "Rules of the gate: tool, tool(pattern), bob/tool(pattern). deny comes before ask, ask before " +
      "yolo, yolo before allow.",
  ),
};

/** Returns the name of the asked agent a rule is about: `bob` for `bob/bash(ls *)`. */
export function agentOfRule(source: string): string | undefined {
  const name = RULE.exec(source.trim())?.[1] ?? "";
  const slash = name.indexOf("/");
  return slash === -1 ? undefined : name.slice(0, slash);
}

/**
 * A rule that matches nothing is an error: a `deny` with a misspelt tool would look like protection.
 * The tools of asked agents are not known here, those may be programs of others.
 */
function ruleError(source: string): string | undefined {
  const name = RULE.exec(source.trim())?.[1];
  if (name === undefined) return 'is no rule; write "tool", "tool(pattern)" or "bob/tool(pattern)"';
  if (name.split("/").includes("")) return 'is no rule; a "/" stands between an agent and its tool';
  if (name.includes("/") || /[*?[]/u.test(name)) return undefined;
  return toolNameError(name);
}
