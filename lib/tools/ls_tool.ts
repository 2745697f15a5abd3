/**
 * `ls`: what is in a directory.
 *
 * @module
 */
import type { Dirent, Stats } from "node:fs";
import { lstat, readdir, readlink } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import { defineTool } from "./define_tool.ts";
import { requireDirectory } from "./directory_path.ts";
import { resolvePath, showName, showPath } from "./tool_paths.ts";
import { count, explaining } from "./tool_result.ts";

const DESCRIPTION =
  "Lists a directory, hidden files included: directories first, files with sizes.";

/** Entries shown. */
const MAX_SHOWN = 500;

/** Room kept for the facts below the entries. */
const FACTS_ROOM = 200;

/** Lists a directory. */
export const lsTool = defineTool({
  name: "ls",
  kind: "read",
  description: DESCRIPTION,
  schema: z.object({ path: z.string().optional() }),
  gated: false,
  parallel: true,
  preview: (input, { cwd }) => {
    const { path } = resolvePath(input.path ?? ".", cwd);
    return { title: showPath(path, cwd), locations: [{ path }] };
  },
  run: async (input, context) => {
    const { path } = resolvePath(input.path ?? ".", context.cwd);
    const shown = showPath(path, context.cwd);
    await requireDirectory("list", path, context.cwd);
    const entries = await explaining(
      `Cannot list "${shown}"`,
      () => readdir(path, { withFileTypes: true }),
    );
    const locations = [{ path }];
    if (entries.length === 0) return { ok: true, text: `[${shown} is empty]`, locations };
    entries.sort(directoriesFirst);
    const lines: string[] = [];
    let room = context.maxOutput - FACTS_ROOM;
    for (const entry of entries.slice(0, MAX_SHOWN)) {
      context.signal.throwIfAborted();
      const line = await describe(entry, path);
      room -= line.length + 1;
      if (room < 0 && lines.length > 0) break;
      lines.push(line);
    }
    if (lines.length < entries.length) {
      const directories = entries.filter((entry) => entry.isDirectory()).length;
      lines.push(
        `[${lines.length} of ${count(entries.length, "entry", "entries")} shown (${
          count(directories, "directory", "directories")
        } in all); use glob for the others]`,
      );
    }
    return { ok: true, text: lines.join("\n"), locations };
  },
});

function directoriesFirst(a: Dirent, b: Dirent): number {
  if (a.isDirectory() !== b.isDirectory()) return a.isDirectory() ? -1 : 1;
  return a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
}

async function describe(entry: Dirent, directory: string): Promise<string> {
  const name = showName(entry.name);
  if (entry.isDirectory()) return `${name}/`;
  const path = join(directory, entry.name);
  if (entry.isSymbolicLink()) {
    const target = await readlink(path).catch(() => "?");
    return `${name} -> ${showName(target)}`;
  }
  const stat: Stats | undefined = await lstat(path).catch(() => undefined);
  if (stat === undefined) return name;
  if (stat.isFile()) return `${name} ${formatSize(stat.size)}`;
  return `${name} (${stat.isFIFO() ? "named pipe" : stat.isSocket() ? "socket" : "device"})`;
}

function formatSize(bytes: number): string {
  const units = ["B", "KB", "MB", "GB", "TB"];
  let size = bytes;
  let unit = 0;
  while (size >= 1024 && unit < units.length - 1) {
    size /= 1024;
    unit++;
  }
  return `${Number(size.toFixed(1))} ${units[unit]}`;
}
