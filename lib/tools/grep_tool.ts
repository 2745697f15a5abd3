/**
 * `grep`: lines by content.
 *
 * @module
 */
import { z } from "zod";
import { oneLine } from "../base/cut.ts";
import { findOutside } from "../platform/find_outside.ts";
import { defineTool } from "./define_tool.ts";
import { requireExisting } from "./directory_path.ts";
import { FileProblem } from "./file_problem.ts";
import { globPattern } from "./glob_pattern.ts";
import { searchPlain } from "./grep_plain.ts";
import { GrepReport } from "./grep_report.ts";
import { searchWithRipgrep } from "./grep_ripgrep.ts";
import type { GrepLimit, GrepSearch, GrepSink } from "./grep_search.ts";
import { openRegular, refuseSpecial } from "./open_regular.ts";
import { sniff, SNIFF_BYTES } from "./sniff.ts";
import type { ToolContext } from "./tool.ts";
import { resolvePath, showPath } from "./tool_paths.ts";
import { explaining } from "./tool_result.ts";

const DESCRIPTION =
  "Searches files for lines that match a regular expression; binary files and what glob skips are left out. Matches come below their file's name as number:line.";

/** Budget of one search in milliseconds. */
const BUDGET_MS = 20_000;

/** Matches shown when the model names no number. */
const DEFAULT_LIMIT = 100;

/** Lines of context beyond which `read` is the better tool. */
const MAX_CONTEXT = 50;

/** UTF-16 units of a pattern that are shown. */
const SHOWN_PATTERN = 100;

/** Searches files. */
export const grepTool = defineTool({
  name: "grep",
  kind: "search",
  description: DESCRIPTION,
  schema: z.object({
    pattern: z.string(),
    path: z.string().optional().describe("file or directory"),
    glob: z.string().optional().describe("only these files: *.ts"),
    ignore_case: z.boolean().optional(),
    context: z.int().min(0).optional().describe("lines around each match"),
    limit: z.int().min(1).optional().describe(`matches, default ${DEFAULT_LIMIT}`),
    files_only: z.boolean().optional(),
  }),
  gated: false,
  parallel: true,
  preview: (input, { cwd }) => {
    const pattern = oneLine(input.pattern, SHOWN_PATTERN);
    if (input.path === undefined) return { title: pattern };
    const { path } = resolvePath(input.path, cwd);
    return { title: `${pattern} in ${showPath(path, cwd)}`, locations: [{ path }] };
  },
  run: async (input, context) => {
    const { cwd } = context;
    const { path: root } = resolvePath(input.path ?? ".", cwd);
    const shown = showPath(root, cwd);
    refusePattern(input.pattern);
    const stat = await requireExisting("search", root, cwd);
    const rootIsDirectory = stat.isDirectory();
    if (!rootIsDirectory) {
      await explaining(`Cannot search "${shown}"`, async () => {
        refuseSpecial(stat);
        await refuseBinary(root, stat.size);
      });
    }
    const search: GrepSearch = {
      root,
      rootIsDirectory,
      pattern: input.pattern,
      ignoreCase: input.ignore_case ?? false,
      context: Math.min(input.context ?? 0, MAX_CONTEXT),
      filesOnly: input.files_only ?? false,
      ...(input.glob === undefined ? {} : { glob: input.glob }),
      wants: wantedFiles(rootIsDirectory ? input.glob : undefined, root),
      signal: context.signal,
      deadline: performance.now() + BUDGET_MS,
    };
    const report = new GrepReport({
      cwd,
      limit: input.limit ?? DEFAULT_LIMIT,
      maxOutput: context.maxOutput,
    });
    const limit = await searchWithBest(search, report, context);
    const files = input.glob === undefined ? "" : ` in files like ${oneLine(input.glob, 80)}`;
    const nothing = `nothing matches "${
      oneLine(input.pattern, SHOWN_PATTERN)
    }" in ${shown}${files}`;
    return { ok: true, text: report.text(nothing, limit) };
  },
});

/** A pattern behind `!` leaves out what it matches. */
function wantedFiles(glob: string | undefined, root: string): (path: string) => boolean {
  if (glob === undefined) return () => true;
  const excluding = glob.trim().startsWith("!");
  const { matches } = globPattern(excluding ? glob.trim().slice(1) : glob, root);
  return excluding ? (path) => !matches(path) : matches;
}

function refusePattern(pattern: string): void {
  if (pattern === "") throw new FileProblem('Cannot search: "pattern" is empty');
  if (pattern.includes("\0")) {
    throw new FileProblem('Cannot search: "pattern" contains a NUL character');
  }
  if (/\n|(?<!\\)(?:\\\\)*\\n/u.test(pattern)) {
    throw new FileProblem(
      "Cannot search: pattern contains a line break, but lines are matched one by one; search for a part within one line and use context",
    );
  }
}

async function refuseBinary(path: string, size: number): Promise<void> {
  const { handle } = await openRegular(path);
  try {
    const head = new Uint8Array(SNIFF_BYTES);
    const { bytesRead } = await handle.read(head, 0, head.length, 0);
    const kind = sniff(head.subarray(0, bytesRead));
    if (kind.kind === "binary") {
      throw new FileProblem(`it is a binary file (${kind.type}, ${size} bytes)`);
    }
  } finally {
    await handle.close();
  }
}

/** Uses ripgrep where it is there and understands the pattern. */
async function searchWithBest(
  search: GrepSearch,
  sink: GrepSink,
  context: ToolContext,
): Promise<GrepLimit | undefined> {
  const program = await ripgrepOf(context);
  if (program === undefined) return await searchPlain(search, sink);
  const end = await searchWithRipgrep(program, search, sink).catch((error) => {
    search.signal.throwIfAborted();
    // It cannot be started: the fence may forbid to run programs.
    return { kind: "failed" as const, reason: String(error) };
  });
  // It printed nothing then; the other engine knows other notations, and has better messages.
  return end.kind === "done" ? end.limit : await searchPlain(search, sink);
}

async function ripgrepOf(context: ToolContext): Promise<string | undefined> {
  try {
    return await findOutside("rg", { env: await context.commandEnv(), cwd: context.cwd });
  } catch {
    return undefined;
  }
}
