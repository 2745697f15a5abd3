/**
 * What a call is about, in the spellings that a rule's pattern may have.
 *
 * What an asked agent says of its own calls is what it says: another vendor's program names its tools
 * and kinds as it likes, so nothing but the whole of it decides.
 *
 * @module
 */
import { isAbsolute, join, relative } from "node:path";
import { isWithin } from "../base/is_within.ts";
import type { ToolCallView } from "../base/tool_call.ts";
import { plannedPath } from "../platform/planned_path.ts";
import type { RuleSubject, RuleText } from "./rules.ts";

/** Arguments that say what a call is about when it has no place in the file system. */
const SUBJECT_KEYS = ["command", "agent", "subagent_type", "url", "name", "path"] as const;

/** Those of them that name an agent. */
const AGENT_KEYS: ReadonlySet<string> = new Set(["agent", "subagent_type"]);

/** Arguments of other vendors' tools that hold a path. */
const PATH_KEYS = ["path", "file_path", "filePath", "abs_path", "notebook_path"] as const;

/** Kinds of work whose places are what a call is about. */
const FILE_KINDS: ReadonlySet<string> = new Set(["read", "edit", "delete", "move", "search"]);

/**
 * Returns what the rules compare. A path is taken as it really is, symbolic links and `..` resolved,
 * both absolute and relative to the working directory.
 */
export async function subjectOf(call: ToolCallView, cwd: string): Promise<RuleSubject> {
  return call.name.includes("/") ? await askedSubject(call, cwd) : await ownSubject(call, cwd);
}

async function ownSubject(call: ToolCallView, cwd: string): Promise<RuleSubject> {
  const { name, kind, title, locations = [] } = call;
  if (FILE_KINDS.has(kind) && locations.length > 0) {
    const about = await Promise.all(locations.map(({ path }) => spelled(path, cwd)));
    return { name, about, claims: [] };
  }
  const input = fieldsOf(call.input);
  for (const key of SUBJECT_KEYS) {
    const value = input[key];
    if (typeof value !== "string") continue;
    const about = key === "path"
      ? await spelled(value, cwd)
      : named(key, value, key === "command" || kind === "execute");
    return { name, about: [about], claims: [] };
  }
  return { name, about: [{ texts: [title], shell: kind === "execute" }], claims: [] };
}

/** All that an asked agent's call names counts: every path, and a command whatever kind it claims. */
async function askedSubject(call: ToolCallView, cwd: string): Promise<RuleSubject> {
  const { name, kind, title, locations = [], diffs = [] } = call;
  const input = fieldsOf(call.input);
  const command = commandOf(input["command"]);
  const paths = new Set(diffs.map(({ path }) => path));
  // The place of a command or an address is at most where it is run.
  if (FILE_KINDS.has(kind)) { for (const { path } of locations) paths.add(path); }
  for (const key of PATH_KEYS) {
    const path = input[key];
    if (typeof path === "string" && path !== "") paths.add(path);
  }
  const about = await Promise.all([...paths].map((path) => spelled(path, cwd)));
  if (command !== undefined) about.push({ texts: [command], shell: true });
  for (const key of about.length > 0 ? [] : ["agent", "subagent_type", "url", "name"]) {
    const value = input[key];
    if (typeof value === "string" && about.length === 0) {
      about.push(named(key, value, kind === "execute"));
    }
  }
  if (about.length === 0) about.push({ texts: [title], shell: true });
  return { name, about, claims: [title] };
}

function named(key: string, value: string, shell: boolean): RuleText {
  return { texts: [value], shell, ...(AGENT_KEYS.has(key) ? { agent: true } : {}) };
}

/** A command as text; some agents give it as a list of words. */
function commandOf(value: unknown): string | undefined {
  if (typeof value === "string") return value;
  if (!Array.isArray(value) || value.length === 0) return undefined;
  return value.every((word) => typeof word === "string") ? value.join(" ") : undefined;
}

function fieldsOf(input: unknown): Readonly<Record<string, unknown>> {
  return typeof input === "object" && input !== null ? input as Record<string, unknown> : {};
}

async function spelled(path: string, cwd: string): Promise<RuleText> {
  const root = await plannedPath(cwd);
  const absolute = await plannedPath(isAbsolute(path) ? path : join(cwd, path));
  const isInside = absolute !== root && isWithin(root, absolute);
  return { texts: isInside ? [absolute, relative(root, absolute)] : [absolute], shell: false };
}
