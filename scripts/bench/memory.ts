/**
 * Memory of processes, read in `/proc`: the proportional set size, in which a page that several
 * processes share counts in parts. Linux only.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import { treeOf } from "../../tests/support/process_tree.ts";

/** How often memory is read while its peak is looked for, in milliseconds. */
const SAMPLE_MS = 50;

/** Returns the proportional set size of one process, in MiB; 0 where it has ended. */
export async function pssOfProcess(pid: number): Promise<number> {
  const text = await readFile(`/proc/${pid}/smaps_rollup`, "utf8").catch(() => "");
  return Number(/^Pss:\s+(\d+)/mu.exec(text)?.[1] ?? 0) / 1024;
}

/**
 * Returns the proportional set size of a process and all it started, in MiB.
 *
 * @param mark the mark of the project, which finds what has another parent now.
 */
export async function pssOfTree(pid: number, mark: string): Promise<number> {
  let mib = 0;
  for (const one of await treeOf(pid, mark)) mib += await pssOfProcess(one.pid);
  return mib;
}

/** Begins to look for the peak of a tree's proportional set size; `stop` returns it, in MiB. */
export function peakOfTree(pid: number, mark: string): { stop(): Promise<number> } {
  let peak = 0;
  let looking = true;
  const done = (async () => {
    while (looking) {
      peak = Math.max(peak, await pssOfTree(pid, mark));
      await sleep(SAMPLE_MS);
    }
  })();
  return {
    async stop() {
      looking = false;
      await done;
      return peak;
    },
  };
}
