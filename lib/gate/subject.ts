/**
 * What a call is about, in the spellings that a rule's pattern may have.
 *
 * @module
 */
import { realpath } from "node:fs/promises";
import { basename, dirname, isAbsolute, join, relative } from "node:path";
import type { ToolCallView } from "../base/tool_call.ts";
import type { RuleSubject } from "./rules.ts";

/** Arguments that say what a call is about when it has no place in the file system. */
const SUBJECT_KEYS = ["command", "agent", "url", "name", "path"] as const;

/**
 * Returns what the rules compare. A path is taken as it really is, symbolic links and `..` resolved,
 * both absolute and relative to the working directory.
 */
export async function subjectOf(call: ToolCallView, cwd: string): Promise<RuleSubject> {
  if (call.kind === "edit" || call.kind === "read" || call.kind === "delete") {
    const paths = (call.locations ?? []).map((location) => location.path);
    if (paths.length > 0) return { name: call.name, shell: false, texts: await spell(paths, cwd) };
  }
  const input = call.input;
  for (const key of SUBJECT_KEYS) {
    const value = typeof input === "object" && input !== null
      ? (input as Record<string, unknown>)[key]
      : undefined;
    if (typeof value === "string") {
      return { name: call.name, shell: call.kind === "execute", texts: [value] };
    }
  }
  return { name: call.name, shell: call.kind === "execute", texts: [call.title] };
}

async function spell(paths: readonly string[], cwd: string): Promise<string[]> {
  const root = await real(cwd);
  const texts: string[] = [];
  for (const path of paths) {
    const absolute = await real(isAbsolute(path) ? path : join(cwd, path));
    texts.push(absolute);
    const inside = relative(root, absolute);
    if (inside !== "" && !inside.startsWith("..") && !isAbsolute(inside)) texts.push(inside);
  }
  return texts;
}

/** Resolves symbolic links in as much of the path as exists. */
async function real(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch {
    const parent = dirname(path);
    return parent === path ? path : join(await real(parent), basename(path));
  }
}
