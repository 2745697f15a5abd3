/**
 * Finding processes that a test left behind. Every process a test starts carries a mark in its
 * environment, and what it starts inherits the mark.
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import process from "node:process";
import { setTimeout as sleep } from "node:timers/promises";

/** The variable that marks the processes of one test. */
export const MARK = "MM_TEST_RUN";

/** A process that still runs. */
export interface Leftover {
  readonly pid: number;
  /** Its command line, for the message. */
  readonly command: string;
}

/**
 * Waits until no process carries the mark any more.
 *
 * @throws {Error} when some still run after `timeoutMs` (3000); they are named, and ended.
 */
export async function assertNoProcessLeft(
  mark: string,
  options: { readonly timeoutMs?: number } = {},
): Promise<void> {
  const deadline = performance.now() + (options.timeoutMs ?? 3000);
  // Only /proc tells, and it has no events: look again until the time is over.
  let left = await processesOf(mark);
  while (left.length > 0 && performance.now() < deadline) {
    await sleep(25);
    left = await processesOf(mark);
  }
  if (left.length === 0) return;
  for (const { pid } of left) killQuietly(pid);
  throw new Error(
    `${left.length} processes were left running:\n` +
      left.map(({ pid, command }) => `  ${pid} ${command}`).join("\n"),
  );
}

/** Returns the processes that carry the mark; none where the system has no `/proc`. */
export async function processesOf(mark: string): Promise<Leftover[]> {
  const wanted = `${MARK}=${mark}`;
  const names = await readdir("/proc").catch(() => []);
  const found = await Promise.all(
    names.filter((name) => /^\d+$/u.test(name) && Number(name) !== process.pid).map(
      async (name) => {
        const environment = await readFile(`/proc/${name}/environ`, "latin1").catch(() => "");
        if (!environment.split("\0").includes(wanted)) return undefined;
        const command = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "");
        return { pid: Number(name), command: command.split("\0").join(" ").trim() };
      },
    ),
  );
  return found.filter((one) => one !== undefined);
}

function killQuietly(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It is gone by now.
  }
}
