/**
 * One path that starts this program, for callers that can only name a path.
 *
 * @module
 */
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isWindows, type SelfCommand } from "./runtime.ts";

/** Options of {@linkcode launcherPath}. */
export interface LauncherOptions {
  readonly self: SelfCommand;
  /** Where a script is written, absolute and private. */
  readonly directory: string;
  /** Variables the program starts with, whatever the environment says. */
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Returns a path that starts the program with the arguments it is given: the executable itself, or a
 * small script where starting it takes arguments of its own (`deno run …`, `node …`) or variables.
 */
export async function launcherPath(options: LauncherOptions): Promise<string> {
  const { self, directory, env = {} } = options;
  const [program, ...rest] = self;
  const variables = Object.entries(env);
  if (rest.length === 0 && variables.length === 0) return program;
  const path = join(directory, isWindows ? "mm.cmd" : "mm");
  const script = isWindows
    ? variables.map(([name, value]) => `@set "${name}=${value}"\r\n`).join("") +
      `@${self.map((part) => `"${part}"`).join(" ")} %*\r\n`
    : "#!/bin/sh\n" +
      variables.map(([name, value]) => `export ${name}=${shellQuoted(value)}\n`).join("") +
      `exec ${self.map(shellQuoted).join(" ")} "$@"\n`;
  await writeFile(path, script, { mode: 0o700 });
  await chmod(path, 0o700);
  return path;
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
