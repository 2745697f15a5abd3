/**
 * The folders in which definitions are looked for, and the files in them.
 *
 * @module
 */
import type { Dirent } from "node:fs";
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
  /** The names of `mmConfigs`, which come before those of definitions. @default {none} */
  readonly agents?: readonly string[];
}

/** A folder whose files are definitions. */
export type DefinitionFolder = Omit<DefinitionFile, "kind">;

/** The files of all folders, in the order in which they count. */
export interface DefinitionFiles {
  readonly files: readonly DefinitionFile[];
  /** The folders inside of those, absolute: they are not looked into. */
  readonly inside: readonly string[];
  readonly faults: readonly DefinitionFault[];
}

/** More files of one folder are not read: it was meant for something else. */
const MAX_FILES = 500;

/** Folders inside of one that are searched for what is not read, and how deep. */
const MAX_INSIDE = 100;
const MAX_DEPTH = 3;

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
  const inside: string[] = [];
  const faults: DefinitionFault[] = [];
  for (const { folder, real, names, folders, fault } of listed) {
    if (fault !== undefined) faults.push({ path: folder.path, reason: fault });
    if (real === undefined || seen.has(real)) continue;
    seen.add(real);
    inside.push(...folders.map((name) => join(folder.path, name)));
    files.push(
      ...names.map((name) => ({ kind: "file", ...folder, path: join(folder.path, name) } as const)),
    );
  }
  return { files, inside, faults };
}

/** Lists files that seem to be definitions and lie in folders that are not looked into. Never throws. */
export async function filesInside(folders: readonly string[]): Promise<string[]> {
  const files: string[] = [];
  let level = folders.slice(0, MAX_INSIDE);
  let left = MAX_INSIDE;
  for (let depth = 0; depth < MAX_DEPTH && level.length > 0; depth++) {
    left -= level.length;
    const below = await Promise.all(level.map(async (path) => {
      const entries = await readdir(path, { withFileTypes: true }).catch(() => []);
      const named = (wanted: (entry: Dirent) => boolean) =>
        entries.filter(wanted).map(({ name }) => join(path, name)).sort();
      files.push(...named(isDefinition));
      return named(isSearched);
    }));
    level = below.flat().slice(0, Math.max(0, left));
  }
  return files.sort();
}

function isDefinition(entry: Dirent): boolean {
  // What is no regular file gets its reason when it is read.
  return /\.md$/iu.test(entry.name) && !entry.isDirectory();
}

function isSearched(entry: Dirent): boolean {
  return entry.isDirectory() && !entry.name.startsWith(".") && entry.name !== "node_modules";
}

interface Listing {
  /** The folder's real path; absent where there is none. */
  readonly real?: string;
  readonly names: readonly string[];
  readonly folders: readonly string[];
  readonly fault?: string;
}

async function list({ path, scope }: DefinitionFolder): Promise<Listing> {
  try {
    const entries = await readdir(path, { withFileTypes: true });
    const names = entries.filter(isDefinition).map(({ name }) => name).sort();
    const folders = entries.filter(isSearched).map(({ name }) => name).sort();
    const real = await realpath(path);
    if (names.length <= MAX_FILES) return { real, names, folders };
    const fault =
      `The folder "${path}" has ${names.length} files with definitions; only the first ` +
      `${MAX_FILES} are read`;
    return { real, names: names.slice(0, MAX_FILES), folders, fault };
  } catch (error) {
    const code = error instanceof Error && "code" in error ? error.code : undefined;
    const absent = code === "ENOENT" || code === "ENOTDIR";
    if (absent && scope !== "listed") return { names: [], folders: [] };
    const why = code === "ENOENT"
      ? "does not exist"
      : code === "ENOTDIR"
      ? "is no folder"
      : `cannot be read: ${typeof code === "string" ? code : messageOf(error)}`;
    const of = scope === "listed" ? " of agents.paths" : "";
    return { names: [], folders: [], fault: `The folder "${path}"${of} ${why}` };
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
