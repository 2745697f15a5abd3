/**
 * What `.gitignore` files leave out.
 *
 * @module
 */
import { stat } from "node:fs/promises";
import { dirname, join, relative, sep } from "node:path";
import ignore, { type Ignore } from "ignore";
import { openRegular } from "./open_regular.ts";

/** A larger `.gitignore` is no list of rules: 1 MiB. */
const MAX_BYTES = 1024 * 1024;

/** The rules of one `.gitignore` and those above it. */
export interface IgnoreRules {
  /** The directory of the file, absolute. */
  readonly directory: string;
  readonly rules: Ignore;
  readonly above?: IgnoreRules;
}

/** Says whether an entry is left out. The nearest file that has an opinion decides. */
export function isIgnored(
  rules: IgnoreRules | undefined,
  path: string,
  isDirectory: boolean,
): boolean {
  for (let level = rules; level !== undefined; level = level.above) {
    const inside = relative(level.directory, path).split(sep).join("/");
    const verdict = level.rules.test(isDirectory ? `${inside}/` : inside);
    if (verdict.ignored) return true;
    if (verdict.unignored) return false;
  }
  return false;
}

/** Returns the rules for the entries of `directory`: its own `.gitignore`, if any, before those above. */
export async function withRulesOf(
  directory: string,
  above: IgnoreRules | undefined,
): Promise<IgnoreRules | undefined> {
  const text = await readRules(join(directory, ".gitignore"));
  if (text === undefined) return above;
  const rules = ignore().add(text);
  return above === undefined ? { directory, rules } : { directory, rules, above };
}

/**
 * Returns the rules that hold above `base`: those of its repository, none outside of one. A base
 * that is itself left out was named on purpose; then none hold either.
 *
 * @param base absolute.
 */
export async function rulesAbove(base: string): Promise<IgnoreRules | undefined> {
  const root = await repositoryRoot(base);
  if (root === undefined || root === base) return undefined;
  let rules: IgnoreRules | undefined;
  let directory = root;
  for (const part of relative(root, base).split(sep)) {
    rules = await withRulesOf(directory, rules);
    directory = join(directory, part);
    if (isIgnored(rules, directory, true)) return undefined;
  }
  return rules;
}

/** Returns the nearest directory at or above `base` that has a `.git`. */
async function repositoryRoot(base: string): Promise<string | undefined> {
  for (let directory = base;; directory = dirname(directory)) {
    if (await stat(join(directory, ".git")).then(() => true, () => false)) return directory;
    if (dirname(directory) === directory) return undefined;
  }
}

async function readRules(path: string): Promise<string | undefined> {
  try {
    const { handle, stat } = await openRegular(path);
    try {
      return stat.size > MAX_BYTES ? undefined : await handle.readFile("utf8");
    } finally {
      await handle.close();
    }
  } catch {
    // None, or one that cannot be read: then it leaves nothing out.
    return undefined;
  }
}
