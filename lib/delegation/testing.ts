/**
 * For the tests of definitions: a home directory, a project and a directory of configurations.
 *
 * @module
 */
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { AgentDefinition, DefinitionFault } from "./definition.ts";
import type { DefinitionPlaces } from "./definition_folders.ts";
import type { Dialect } from "./dialect.ts";
import { parseDefinition } from "./read_definition.ts";

/** Directories that are removed after the test. */
export interface DefinitionDirs {
  /** The directory that holds all others, absolute. */
  readonly path: string;
  readonly places: DefinitionPlaces;
  /** Writes a file below {@linkcode DefinitionDirs.path}, with its directories; returns its path. */
  write(name: string, content: string | Uint8Array): Promise<string>;
  /** Writes a definition whose text names where it lies. */
  define(name: string, file: string, more?: string): Promise<string>;
}

/** Runs a test in fresh directories: `home`, `home/project` and `config`. */
export async function inDefinitionDirs(
  run: (dirs: DefinitionDirs) => Promise<void>,
): Promise<void> {
  const path = await realpath(await mkdtemp(join(tmpdir(), "mm-definitions-")));
  const home = join(path, "home");
  const cwd = join(home, "project");
  await mkdir(cwd, { recursive: true });
  const write: DefinitionDirs["write"] = async (name, content) => {
    const file = join(path, name);
    await mkdir(dirname(file), { recursive: true });
    await writeFile(file, content);
    return file;
  };
  try {
    await run({
      path,
      places: { cwd, home, configDir: join(path, "config"), paths: [] },
      write,
      define: (name, file, more = "") =>
        write(file, `---\nname: ${name}\ndescription: in ${file}\n${more}---\nLies in ${file}.\n`),
    });
  } finally {
    await rm(path, { recursive: true, force: true });
  }
}

/** Reads the text of a file; its path is `/x/some.md`. */
export function readText(
  text: string,
  dialect: Dialect,
): { readonly definition: AgentDefinition } | { readonly fault: DefinitionFault } {
  return parseDefinition(text, { kind: "file", path: "/x/some.md", dialect, scope: "project" });
}

/** Reads front matter with a name, a description and the given lines. */
export function readLines(lines: string, dialect: Dialect): ReturnType<typeof readText> {
  return readText(
    `---\nname: some\ndescription: Does something\n${lines}\n---\nDo something.\n`,
    dialect,
  );
}
