/**
 * A process with all it started, as `/proc` shows it: what a test looks at before it ends one of them,
 * and what has to be gone afterwards.
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { processesOf } from "./leftovers.ts";

/** One process, told apart from a later one with the same number. */
export interface TreeProcess {
  readonly pid: number;
  readonly parent: number;
  /** When it started, in the system's ticks. */
  readonly start: string;
  /** Its command line. */
  readonly command: string;
}

/** How often `/proc`, which has no events, is looked at. */
const LOOK_MS = 15;

/** Returns every process below `root`, and `root` itself; none where the system has no `/proc`. */
export async function processTree(root: number): Promise<TreeProcess[]> {
  const all = await allProcesses();
  const tree = all.filter(({ pid }) => pid === root);
  for (const one of tree) tree.push(...all.filter(({ parent }) => parent === one.pid));
  return tree;
}

/**
 * Returns the processes below `root` and those that carry the test's mark, whoever their parent is
 * now.
 */
export async function treeOf(root: number, mark: string): Promise<TreeProcess[]> {
  const [tree, marked] = await Promise.all([processTree(root), processesOf(mark)]);
  const known = new Set(tree.map(({ pid }) => pid));
  const others = await Promise.all(
    marked.filter(({ pid }) => !known.has(pid)).map(({ pid }) => readProcess(pid)),
  );
  return [...tree, ...others.filter((one) => one !== undefined)];
}

/**
 * Waits until a tree is as `isGrown` wants it, and returns it.
 *
 * @throws {Error} after `timeoutMs` (20 s), with the tree there is.
 */
export async function waitForTree(
  look: () => Promise<readonly TreeProcess[]>,
  isGrown: (tree: readonly TreeProcess[]) => boolean,
  options: { readonly timeoutMs?: number } = {},
): Promise<readonly TreeProcess[]> {
  const deadline = performance.now() + (options.timeoutMs ?? 20_000);
  for (;;) {
    const tree = await look();
    if (isGrown(tree)) return tree;
    if (performance.now() > deadline) {
      throw new Error(`The processes did not become what was expected:\n${listOf(tree)}`);
    }
    await sleep(LOOK_MS);
  }
}

/**
 * Waits until none of the processes runs; returns how many milliseconds that took.
 *
 * @throws {Error} after `withinMs`, with those that still run.
 */
export async function waitGone(
  processes: readonly TreeProcess[],
  withinMs: number,
): Promise<number> {
  const began = performance.now();
  for (;;) {
    const left = await alive(processes);
    const took = performance.now() - began;
    if (left.length === 0) return took;
    if (took > withinMs) {
      throw new Error(
        `${left.length} of ${processes.length} processes run after ${withinMs} ms:\n${
          listOf(left)
        }\nThere were:\n${listOf(processes)}`,
      );
    }
    await sleep(LOOK_MS);
  }
}

/** One line for each process. */
export function listOf(processes: readonly TreeProcess[]): string {
  return processes.map(({ pid, parent, command }) => `  ${pid} (of ${parent}) ${command}`).join(
    "\n",
  );
}

async function alive(processes: readonly TreeProcess[]): Promise<TreeProcess[]> {
  const now = await Promise.all(processes.map(({ pid }) => readProcess(pid)));
  return processes.filter((one, i) => now[i]?.start === one.start);
}

async function allProcesses(): Promise<TreeProcess[]> {
  const names = await readdir("/proc").catch(() => []);
  const all = await Promise.all(
    names.filter((name) => /^\d+$/u.test(name)).map((name) => readProcess(Number(name))),
  );
  return all.filter((one) => one !== undefined);
}

/** Returns a process that runs; one that ended and is not waited for yet does not. */
async function readProcess(pid: number): Promise<TreeProcess | undefined> {
  const [stat, command] = await Promise.all([
    readFile(`/proc/${pid}/stat`, "utf8").catch(() => ""),
    readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => ""),
  ]);
  // The second field is a name that may hold anything; the others follow its last parenthesis.
  const fields = stat.slice(stat.lastIndexOf(")") + 1).trim().split(" ");
  const [state, parent] = fields;
  const start = fields[19];
  if (start === undefined || state === "Z" || state === "X") return undefined;
  return { pid, parent: Number(parent), start, command: command.split("\0").join(" ").trim() };
}
