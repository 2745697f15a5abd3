/**
 * mm on a terminal of its own, made by `script` of util-linux: keys are written to it, what it shows
 * is read from it.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import type { MmProcess } from "./mm.ts";
import { programUnderTest } from "./program.ts";
import type { TestProject } from "./project.ts";

/** Why there are no terminals on this machine; `false` where there are. */
export const noPty: string | false = hasScript() ? false : "there is no script(1) of util-linux";

/** Options of {@linkcode startInPty}. */
export interface PtyOptions {
  readonly env?: Readonly<Record<string, string>>;
}

/**
 * Starts mm on a terminal of 100 columns, between two lines that `stty` writes: the terminal's
 * settings before and after. The last line is `status <n>`.
 */
export function startInPty(
  project: TestProject,
  args: readonly string[],
  options: PtyOptions = {},
): MmProcess {
  const mm = [...programUnderTest(), ...args].map(quoted).join(" ");
  // Ctrl-C goes to the shell too, which has to stay.
  const command =
    `trap : INT; stty cols 100 rows 30; echo "before $(stty -g)"; ${mm}; status=$?; ` +
    `echo "after $(stty -g)"; echo "status $status"`;
  return project.mm(["-qfec", command, "/dev/null"], {
    program: ["script"],
    env: { TERM: "xterm-256color", SHELL: "/bin/sh", ...options.env },
  });
}

/** Returns the terminal's settings before and after mm, once it ended. */
export function settingsOf(output: string): { readonly before: string; readonly after: string } {
  const of = (name: string) => new RegExp(`${name} ([0-9a-f:]+)\r\n`).exec(output)?.[1] ?? "";
  return { before: of("before"), after: of("after") };
}

function quoted(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}

function hasScript(): boolean {
  const { stdout } = spawnSync("script", ["--version"], { encoding: "utf8" });
  return /util-linux/u.test(stdout ?? "");
}
