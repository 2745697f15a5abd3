/**
 * The key `mmConfigs`: the agents that may be asked.
 *
 * @module
 */
import * as z from "zod";
import { duration, flag, group, list, path, text } from "./fields.ts";

/** Longest name of an agent, in characters. */
export const MAX_AGENT_NAME = 32;

/** Names end in slash commands and in tool names such as `bob/bash`. */
const AGENT_NAME = /^[a-z][a-z0-9_-]*$/iu;

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/u;

/** Variables by which mm tells a child who it is; an entry that set them could undo its limits. */
const RESERVED_VARIABLES: Readonly<Record<string, string>> = {
  AGENT_YOLO: "is set by mm; use the entry's key yolo",
  AGENT_SESSIONS: "is set by mm",
  MM_ASK_DEPTH: "is set by mm",
  MM_BIN: "is set by mm",
  MM_CONFIG: "is set by mm",
  MM_TRANSCRIPT: "is set by mm",
};

const agentName = z.string().superRefine((name, context) => {
  const error = agentNameError(name);
  if (error !== undefined) context.addIssue(error);
}).meta({ pattern: "^[A-Za-z][A-Za-z0-9_-]*$", maxLength: MAX_AGENT_NAME });

const variableName = z.string().superRefine((name, context) => {
  if (!VARIABLE_NAME.test(name)) context.addIssue("is not the name of an environment variable");
  const reserved = Object.hasOwn(RESERVED_VARIABLES, name) ? RESERVED_VARIABLES[name] : undefined;
  if (reserved !== undefined) context.addIssue(reserved);
});

/** An entry as it stands in the file. */
export const agentEntry = group({
  path: path().optional().describe(
    "The configuration file of an mm agent. Exactly one of path and command is given.",
  ),
  command: list(text({ max: 10_000 }), "a program and its arguments")
    .min(1, { error: "must name a program" }).optional().describe(
      "A program that speaks ACP on stdin and stdout, and its arguments, instead of path.",
    ),
  description: text({ max: 1000 }).optional().describe(
    "When to ask this agent. It is what the model chooses by; absent: the agent's own acp.title.",
  ),
  yolo: flag().optional().describe(
    "Whether this agent's gated calls run without a question. Absent: as for the asking agent.",
  ),
  timeout: duration().optional().describe(
    "Longest silence of this agent while it is asked. Absent: watchdogTimeout.",
  ),
  env: z.record(
    variableName,
    z.string({ error: "must be text" }).regex(/^[^\0]*$/u, { error: "must not hold a NUL" }),
    { error: "must be a map from names of variables to text" },
  ).optional().describe("Environment variables of the agent's process, in addition to mm's own."),
  cwd: path().optional().describe(
    "The agent's working directory. Absent: the asking session's.",
  ),
}).superRefine((entry, context) => {
  // A misspelt key has been reported already; that path is missing would follow from it.
  if (context.issues.length > 0) return;
  if (entry.path !== undefined && entry.command !== undefined) {
    context.addIssue("has both path and command; remove one of them");
  } else if (entry.path === undefined && entry.command === undefined) {
    context.addIssue("has neither path nor command; name the configuration file in path");
  }
}).meta({ oneOf: [{ required: ["path"] }, { required: ["command"] }] });

/** The keys about other agents. */
export const mmConfigsKeys = {
  mmConfigs: z.record(agentName, agentEntry, {
    error: "must be a map from the names of agents to their entries",
  }).superRefine((entries, context) => {
    const seen = new Map<string, string>();
    for (const name of Object.keys(entries)) {
      const other = seen.get(name.toLowerCase());
      if (other !== undefined) {
        context.addIssue({
          code: "custom",
          path: [name],
          message: `differs from "${other}" only in upper and lower case`,
        });
      }
      seen.set(name.toLowerCase(), name);
    }
  }).optional().describe("The agents this one may ask, by the name they are asked under."),
};

function agentNameError(name: string): string | undefined {
  if (name.length > MAX_AGENT_NAME) {
    return `is too long for the name of an agent: at most ${MAX_AGENT_NAME} characters`;
  }
  if (!AGENT_NAME.test(name)) {
    return "is not the name of an agent: a letter, then letters, digits, - and _";
  }
  // `/ask-with-context-bob` would mean two things.
  if (/^with-context(?:-|$)/iu.test(name)) {
    return 'cannot be the name of an agent: "/ask-with-context" is a command of its own';
  }
  return undefined;
}
