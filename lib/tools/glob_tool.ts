/**
 * `glob`: files by name.
 *
 * @module
 */
import { stat } from "node:fs/promises";
import { z } from "zod";
import { defineTool } from "./define_tool.ts";
import { requireDirectory } from "./directory_path.ts";
import { globPattern } from "./glob_pattern.ts";
import { resolvePath, showPath } from "./tool_paths.ts";
import { count } from "./tool_result.ts";
import { walkFiles, type WalkLimit } from "./walk.ts";

const DESCRIPTION =
  "Finds files by name, newest first: *.ts at any depth, src/**/*.{ts,tsx} by path. Skips .git, node_modules and what .gitignore names.";

/** Budget of one search in milliseconds. */
const BUDGET_MS = 20_000;

/** Paths shown. */
const MAX_SHOWN = 500;

/** Matches whose age is looked up; with more the order is that of names. */
const MAX_SORTED = 10_000;

/** Files whose age is looked up at the same time. */
const STAT_BATCH = 64;

/** Room kept for the facts below the paths. */
const FACTS_ROOM = 250;

const LIMIT_WORDS: Record<WalkLimit, string> = {
  time: `the search stopped after ${BUDGET_MS / 1000} s, there may be more`,
  entries: "the search stopped because the tree is very large, there may be more",
};

/** Finds files by name. */
export const globTool = defineTool({
  name: "glob",
  kind: "search",
  description: DESCRIPTION,
  schema: z.object({ pattern: z.string(), path: z.string().optional().describe("directory") }),
  gated: false,
  parallel: true,
  preview: (input, { cwd }) => {
    if (input.path === undefined) return { title: input.pattern };
    const { path } = resolvePath(input.path, cwd);
    return { title: `${input.pattern} in ${showPath(path, cwd)}`, locations: [{ path }] };
  },
  run: async (input, context) => {
    const { cwd, signal } = context;
    const { path: directory } = resolvePath(input.path ?? ".", cwd);
    const pattern = globPattern(input.pattern, directory);
    await requireDirectory("search", directory, cwd);
    const deadline = performance.now() + BUDGET_MS;
    const { found, limit } = await find(pattern, { signal, deadline });
    const facts = limit === undefined ? [] : [LIMIT_WORDS[limit]];
    if (found.length === 0) {
      facts.unshift(`no file matches "${input.pattern}" in ${showPath(directory, cwd)}`);
      return { ok: true, text: `[${facts.join("; ")}]` };
    }
    const sorted = found.length <= MAX_SORTED;
    const paths = sorted ? await newestFirst(found, signal) : found;
    const shown = fitting(paths.slice(0, MAX_SHOWN).map((path) => showPath(path, cwd)), {
      room: context.maxOutput - FACTS_ROOM,
    });
    if (shown.length < paths.length) {
      facts.unshift(
        `${shown.length} of ${count(paths.length, "file")} shown, ${
          sorted ? "newest first" : "by name"
        }; narrow the pattern to see others`,
      );
    }
    return {
      ok: true,
      text: [...shown, ...(facts.length ? [`[${facts.join("; ")}]`] : [])].join("\n"),
    };
  },
});

async function find(
  pattern: ReturnType<typeof globPattern>,
  options: Parameters<typeof walkFiles>[1],
): Promise<{ found: string[]; limit?: WalkLimit }> {
  const found: string[] = [];
  // A literal beginning of the pattern that does not exist means that nothing matches.
  if (!await stat(pattern.base).then((base) => base.isDirectory(), () => false)) return { found };
  const walk = walkFiles(pattern.base, options);
  for (;;) {
    const step = await walk.next();
    if (step.done === true) {
      return step.value === undefined ? { found } : { found, limit: step.value };
    }
    if (pattern.matches(step.value)) found.push(step.value);
  }
}

async function newestFirst(paths: readonly string[], signal: AbortSignal): Promise<string[]> {
  const aged: { path: string; mtimeMs: number }[] = [];
  for (let from = 0; from < paths.length; from += STAT_BATCH) {
    signal.throwIfAborted();
    aged.push(
      ...await Promise.all(
        paths.slice(from, from + STAT_BATCH).map(async (path) => ({
          path,
          mtimeMs: await stat(path).then((found) => found.mtimeMs, () => 0),
        })),
      ),
    );
  }
  // Sorting is stable: files of the same age stay in the order of their names.
  return aged.sort((a, b) => b.mtimeMs - a.mtimeMs).map(({ path }) => path);
}

/** Returns the first of `lines` that fit, at least one. */
function fitting(lines: readonly string[], { room }: { readonly room: number }): string[] {
  let used = 0;
  const end = lines.findIndex((line) => (used += line.length + 1) > room);
  return lines.slice(0, end < 0 ? lines.length : Math.max(1, end));
}
