/**
 * One path that starts this program, for callers that can only name a path.
 *
 * @module
 */
import { chmod, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { isWindows, type SelfCommand } from "./runtime.ts";

/**
 * Returns a path that starts the program with the arguments it is given: the executable itself, or a
 * small script where starting it takes arguments of its own (`deno run …`, `node …`).
 *
 * @param directory where the script is written, absolute and private.
 */
export async function launcherPath(self: SelfCommand, directory: string): Promise<string> {
  const [program, ...rest] = self;
  if (rest.length === 0) return program;
  const path = join(directory, isWindows ? "mm.cmd" : "mm");
  const script = isWindows
    ? `@${self.map((part) => `"${part}"`).join(" ")} %*\r\n`
    : `#!/bin/sh\nexec ${self.map(shellQuoted).join(" ")} "$@"\n`;
  await writeFile(path, script, { mode: 0o700 });
  await chmod(path, 0o700);
  return path;
}

function shellQuoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}
