/**
 * How deep this process is in a chain of asks, whatever the command that started it claims.
 *
 * @module
 */
import { execFile } from "node:child_process";
import process from "node:process";
import { readProc } from "./proc_files.ts";

/** The variable that tells an asked agent its depth. */
export const ASK_DEPTH_VARIABLE = "MM_ASK_DEPTH";

/** The depth that may ask nobody: 0 asks 1, 1 asks 2. */
export const MAX_ASK_DEPTH = 2;

/** The greatest depth that is told from others; chains of subagents may be longer than those of asks. */
export const MAX_CHAIN_DEPTH = 10;

/** More ancestors than a real chain has; bounds the walk. */
const MAX_ANCESTORS = 64;

/**
 * Returns the depth that a variable's value says, from 0 to {@linkcode MAX_CHAIN_DEPTH}. An unset
 * variable is 0; anything that is no number of asks counts as the maximum, so that a garbled value
 * never allows more.
 */
export function parseAskDepth(value: string | undefined): number {
  if (value === undefined) return 0;
  return /^\d{1,9}$/u.test(value) ? Math.min(Number(value), MAX_CHAIN_DEPTH) : MAX_CHAIN_DEPTH;
}

/** Returns the greatest depth that the contents of `/proc/<pid>/environ` say; see {@linkcode parseAskDepth}. */
export function askDepthOfEnviron(environ: string): number {
  const prefix = `${ASK_DEPTH_VARIABLE}=`;
  // A variable can stand there twice; which one counts depends on the program.
  return Math.max(
    0,
    ...environ.split("\0").filter((entry) => entry.startsWith(prefix))
      .map((entry) => parseAskDepth(entry.slice(prefix.length))),
  );
}

/**
 * Returns the depth of this process: what `env` says, and never less than what any ancestor was
 * started with. So a command such as `env -u MM_ASK_DEPTH mm --ask bob …`, which a model runs in its
 * shell, gains nothing. Ancestors that cannot be looked at (another user's, another system's) are
 * left out. A command that first cuts itself off from its ancestors (`setsid`) is not seen through
 * here; the path in `MM_BIN` carries the depth for it (`launcher.ts`).
 */
export async function effectiveAskDepth(
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const depth = parseAskDepth(env[ASK_DEPTH_VARIABLE]);
  if (process.platform === "win32" || depth === MAX_CHAIN_DEPTH) return depth;
  const look = process.platform === "linux" ? fromProc : fromPs;
  return Math.max(depth, await look(process.ppid));
}

/**
 * Walks up by what the shell reads itself, then prints all environments at once. The field is taken
 * from `status`, where the name of a process, which may hold anything, is escaped.
 */
const ENVIRONS_OF_ANCESTORS = `
pid=$1 files= steps=0
while [ "$pid" -gt 1 ] && [ "$steps" -lt ${MAX_ANCESTORS} ]; do
  files="$files /proc/$pid/environ" parent=0 steps=$((steps + 1))
  while read -r key value; do
    if [ "$key" = PPid: ]; then parent=$value; break; fi
  done < "/proc/$pid/status"
  pid=$parent
done
exec cat $files /dev/null
`;

async function fromProc(pid: number): Promise<number> {
  return askDepthOfEnviron(await readProc(ENVIRONS_OF_ANCESTORS, [String(pid)]));
}

async function fromPs(first: number): Promise<number> {
  let depth = 0;
  let pid = first;
  for (let step = 0; step < MAX_ANCESTORS && pid > 1 && depth < MAX_CHAIN_DEPTH; step++) {
    const ancestor = await ancestorFromPs(pid);
    depth = Math.max(depth, ancestor.depth);
    pid = ancestor.parent;
  }
  return depth;
}

interface Ancestor {
  readonly depth: number;
  /** 0 where it is not known. */
  readonly parent: number;
}

/** macOS and the BSDs: `ps` prints the environment behind the command, separated by blanks. */
async function ancestorFromPs(pid: number): Promise<Ancestor> {
  const [parent, command] = await Promise.all([
    ps(["-o", "ppid=", "-p", String(pid)]),
    ps(["eww", "-o", "command=", "-p", String(pid)]),
  ]);
  return {
    depth: askDepthOfEnviron(command.trim().replaceAll(/\s+/gu, "\0")),
    parent: Number(parent.trim()) || 0,
  };
}

function ps(args: readonly string[]): Promise<string> {
  return new Promise((resolve) => {
    execFile("ps", [...args], { timeout: 2000 }, (error, stdout) => {
      resolve(error === null ? stdout : "");
    });
  });
}
