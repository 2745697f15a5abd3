/**
 * The folders in which definitions are looked for, and the files in them.
 *
 * @module
 */
import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { messageOf } from "../base/errors.ts";
import type { DefinitionFault } from "./definition.ts";
import type { DefinitionFile } from "./read_definition.ts";

/** Where a session looks for definitions. */
export interface DefinitionPlaces {
  /** The session's directory, absolute. */
  readonly cwd: string;
  /** The user's home directory, absolute. */
  readonly home: string;
  /** The user's directory of configurations, absolute; mm's is `mm` in it. */
  readonly configDir: string;
  /** `agents.paths`, absolute. */
  readonly paths: readonly string[];
}

/** A folder whose files are definitions. */
export type DefinitionFolder = Omit<DefinitionFile, "kind">;

/** The files of all folders, in the order in which they count. */
export interface DefinitionFiles {
  readonly files: readonly DefinitionFile[];
  readonly faults: readonly DefinitionFault[];
}

/** More files of one folder are not read: it was meant for something else. */
const MAX_FILES = 500;

/** Returns the folders, the first one counting most. */
export function definitionFolders(places: DefinitionPlaces): DefinitionFolder[] {
  const { cwd, home, configDir, paths } = places;
  return [
    { path: join(cwd, ".mm", "agents"), dialect: "mm", scope: "project" },
    // The project in the home directory: what lies there is the user's, for every project.
    ...(cwd === home ? [] : foreign(cwd, "project")),
    ...paths.map((path) => ({ path, dialect: "mm", scope: "listed" } as const)),
    { path: join(configDir, "mm", "agents"), dialect: "mm", scope: "user" },
    ...foreign(home, "user"),
  ];
}

/** Lists the files of all folders; a folder that is reached on two ways counts once. Never throws. */
export async function definitionFiles(places: DefinitionPlaces): Promise<DefinitionFiles> {
  const folders = definitionFolders({
    ...places,
    cwd: await realOf(places.cwd) === await realOf(places.home) ? places.home : places.cwd,
  });
  const listed = await Promise.all(
    folders.map(async (folder) => ({ folder, ...await list(folder) })),
  );
  const seen = new Set<string>();
  const files: DefinitionFile[] = [];
  const faults: DefinitionFault[] = [];
  for (const { folder, real, names, fault } of listed) {
    if (fault !== undefined) faults.push({ path: folder.path, reason: fault });
    if (real === undefined || seen.has(real)) continue;
    seen.add(real);
    files.push(
      ...names.map((name) => ({ kind: "file", ...folder, path: join(folder.path, name) } as const)),
    );
  }
  return { files, faults };
}

interface Listing {
  /** The folder's real path; absent where there is none. */
  readonly real?: string;
  readonly names: readonly string[];
  readonly fault?: string;
}

async function list({ path, scope }: DefinitionFolder): Promise<Listing> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    const names = entries
      // What is no regular file gets its reason when it is read; a folder is just not looked into.
      .filter((entry) => /\.md$/iu.test(entry.name) && !entry.isDirectory())
      .map(({ name }) => name)
      .sort();
    const real = await realpath(path);
    if (names.length <= MAX_FILES) return { real, names };
    const fault =
      `The folder "${path}" has ${names.length} files with definitions; only the first ` +
      `${MAX_FILES} are read`;
    return { real, names: names.slice(0, MAX_FILES), fault };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const absent = code === "ENOENT" || code === "ENOTDIR";
    if (absent && scope !== "listed") return { names: [] };
    const why = code === "ENOENT"
      ? "does not exist"
      : code === "ENOTDIR"
      ? "is no folder"
      : `cannot be read: ${typeof code === "string" ? code : messageOf(error)}`;
    const of = scope === "listed" ? " of agents.paths" : "";
    return { names: [], fault: `The folder "${path}"${of} ${why}` };
  }
}

async function realOf(path: string): Promise<string> {
  return await realpath(path).catch(() => path);
}

function foreign(base: string, scope: "project" | "user"): DefinitionFolder[] {
  return (["qwen", "claude"] as const).map((dialect) => ({
    path: join(base, `.${dialect}`, "agents"),
    dialect,
    scope,
  }));
}
