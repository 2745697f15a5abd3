/**
 * Overrides of the configuration from the environment: `AGENT_MODEL` for `model`, `AGENT_BASE_URL`
 * for `baseUrl`, and so on for every key that holds a single value.
 *
 * @module
 */
import { nearest } from "../base/nearest.ts";
import { check } from "./check.ts";
import type { Problem } from "./problems.ts";
import { quotable } from "./problems.ts";
import { AGENT_FILE_KEYS, type AgentFile, type AgentFileKey, agentFileSchema } from "./schema.ts";

/** How the text of a variable becomes a value of the schema. */
type Reading = "text" | "number" | "boolean";

/** Every key that can be overridden. A duration is read as text: it may have a unit. */
const OVERRIDABLE: Partial<Record<AgentFileKey, Reading>> = {
  provider: "text",
  baseUrl: "text",
  apiKey: "text",
  model: "text",
  contextWindow: "number",
  maxTokens: "number",
  temperature: "number",
  topP: "number",
  reasoning: "text",
  textCalls: "boolean",
  sendReasoning: "boolean",
  images: "boolean",
  system: "text",
  yolo: "boolean",
  maxOutput: "number",
  bashTimeout: "text",
  bashTimeoutMax: "text",
  watchdogTimeout: "text",
  maxTurns: "number",
};

const PREFIX = "AGENT_";

/** Whether conversations are saved: the one override of a part of a key. */
const SESSIONS = "SESSIONS";

const BOOLEANS: Readonly<Record<string, boolean>> = {
  true: true,
  on: true,
  1: true,
  false: false,
  off: false,
  0: false,
};

/** Values given on the command line; they come before everything else. */
export interface FlagOverrides {
  /** Of `-model`. */
  readonly model?: string;
  /** Of `-yolo`. */
  readonly yolo?: boolean;
}

/** What was overridden. */
export interface Overrides {
  readonly values: Partial<AgentFile>;
  /** Where each value came from, for errors: `AGENT_BASH_TIMEOUT`, `-model`. */
  readonly names: Partial<Record<AgentFileKey, string>>;
  /** Of `AGENT_SESSIONS`: whether conversations are saved. */
  readonly sessions?: boolean;
  readonly problems: readonly Problem[];
  /** Sentences for variables that look like an override and are none. */
  readonly warnings: readonly string[];
}

/** Options of {@linkcode readOverrides}. */
export interface ReadOverridesOptions {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly flags?: FlagOverrides;
}

/** Reads the overrides of a process: its flags, else its environment. Never throws. */
export function readOverrides(options: ReadOverridesOptions): Overrides {
  const { env, flags = {} } = options;
  const values: Record<string, unknown> = {};
  const names: Partial<Record<AgentFileKey, string>> = {};
  const problems: Problem[] = [];

  const take = (key: AgentFileKey, raw: unknown, where: string) => {
    const checked = check(agentFileSchema.shape[key], raw, { path: [key] });
    if ("value" in checked) {
      values[key] = checked.value;
      names[key] = where;
    } else {
      problems.push(...checked.faults.map(({ predicate }) => ({ where, text: predicate })));
    }
  };

  for (const key of AGENT_FILE_KEYS) {
    const reading = OVERRIDABLE[key];
    const where = PREFIX + snakeCase(key);
    const text = Object.hasOwn(env, where) ? env[where] : undefined;
    if (reading === undefined || text === undefined) continue;
    const read = readText(text, reading);
    if ("error" in read) problems.push({ where, text: read.error });
    else take(key, read.value, where);
  }
  if (flags.model !== undefined) take("model", flags.model, "-model");
  if (flags.yolo !== undefined) take("yolo", flags.yolo, "-yolo");
  const sessions = env[PREFIX + SESSIONS];
  if (sessions !== undefined && sessions !== "on" && sessions !== "off") {
    problems.push({ where: PREFIX + SESSIONS, text: `must be on or off${notText(sessions)}` });
  }
  return {
    values: values as Partial<AgentFile>,
    names,
    ...(sessions === undefined ? {} : { sessions: sessions === "on" }),
    problems,
    warnings: warningsOf(env),
  };
}

function readText(
  text: string,
  reading: Reading,
): { readonly value: unknown } | { readonly error: string } {
  // An empty one would have to mean either nothing or an impossible value: say so instead.
  if (text.trim() === "") return { error: "is empty; give it a value or unset it" };
  if (reading === "text") return { value: text };
  if (reading === "boolean") {
    const word = text.trim().toLowerCase();
    if (Object.hasOwn(BOOLEANS, word)) return { value: BOOLEANS[word] };
    return { error: `must be true, false, on, off, 1 or 0${notText(text)}` };
  }
  if (/^[+-]?\d+(?:\.\d+)?$/u.test(text.trim())) return { value: Number(text) };
  return { error: `must be a number${notText(text)}` };
}

function notText(text: string): string {
  return text.trim() === "" ? "" : `, not "${quotable(text)}"`;
}

/** Other programs have variables with this prefix too, so only a near miss is worth a word. */
function warningsOf(env: Readonly<Record<string, string | undefined>>): string[] {
  const known = [...AGENT_FILE_KEYS.filter((key) => key in OVERRIDABLE).map(snakeCase), SESSIONS];
  const fileOnly = new Map(
    AGENT_FILE_KEYS.filter((key) => !(key in OVERRIDABLE)).map((key) => [snakeCase(key), key]),
  );
  const warnings: string[] = [];
  for (const [variable, value] of Object.entries(env)) {
    if (!variable.startsWith(PREFIX) || value === undefined) continue;
    const name = variable.slice(PREFIX.length);
    if (known.includes(name)) continue;
    const key = fileOnly.get(name);
    const meant = nearest(name, known);
    if (key !== undefined) {
      warnings.push(`${variable} is ignored: "${key}" can be set in agent.yaml only`);
    } else if (meant !== undefined) {
      warnings.push(`${quotable(variable)} is ignored; did you mean "${PREFIX}${meant}"?`);
    }
  }
  return warnings.sort();
}

function snakeCase(key: string): string {
  return key.replace(/[A-Z]/gu, (letter) => `_${letter}`).toUpperCase();
}
