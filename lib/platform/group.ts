/**
 * Process groups: who is in one, and ending it.
 *
 * @module
 */
import { execFile } from "node:child_process";
import process from "node:process";
import { setTimeout as delay } from "node:timers/promises";
import { readProc } from "./proc_files.ts";
import { isWindows } from "./runtime.ts";

/** How long a killed group is waited for. A process in uninterruptible sleep outlives even KILL. */
const KILL_WAIT_MS = 2000;

/** Gaps between two looks at a group that is ending: short at first, most groups end at once. */
const POLL_MS = [1, 2, 5, 10, 20, 40];

/** Signals this layer sends. */
export type GroupSignal = "SIGTERM" | "SIGKILL";

/**
 * Sends a signal to every process of a group. On Windows, which has no groups, the process tree
 * that begins with `pgid` is terminated, whatever the signal.
 *
 * @returns false when there is no such group.
 */
export function signalGroup(pgid: number, signal: GroupSignal): boolean {
  if (isWindows) {
    execFile("taskkill", ["/pid", String(pgid), "/T", "/F"], { windowsHide: true }, () => {});
    return groupExists(pgid);
  }
  return send(pgid, signal);
}

/** Returns whether a group has a process; one that ended and was not waited for counts. */
export function groupExists(pgid: number): boolean {
  return send(pgid, 0);
}

/**
 * Returns whether nothing of a group runs. An ended process whose parent does not wait for it stays
 * in the table, for ever under some programs with number 1; it does not count.
 */
export async function isGone(pgid: number): Promise<boolean> {
  if (!groupExists(pgid)) return true;
  return !isWindows && (await groupMembers(pgid)).length === 0;
}

/** Returns the processes of a group that run, in ascending order. Empty on Windows. */
export async function groupMembers(pgid: number): Promise<number[]> {
  if (isWindows || !groupExists(pgid)) return [];
  const all = process.platform === "linux" ? await procTable() : await psTable();
  return all.filter((row) => row.pgid === pgid && !row.ended).map((row) => row.pid)
    .sort((a, b) => a - b);
}

/**
 * Ends a group: TERM, and KILL after a grace for what is left of it. Returns when it is gone, and
 * about two seconds after KILL at the latest.
 *
 * @param graceMs time in milliseconds between the two; with 0 KILL comes at once.
 */
export async function endGroup(pgid: number, graceMs: number): Promise<void> {
  if (graceMs > 0) {
    if (!signalGroup(pgid, "SIGTERM")) return;
    if (await groupGone(pgid, graceMs)) return;
  }
  if (signalGroup(pgid, "SIGKILL")) await groupGone(pgid, KILL_WAIT_MS);
}

/** Waits until a group is gone; false when it is not within `limitMs` milliseconds. */
export async function groupGone(pgid: number, limitMs: number): Promise<boolean> {
  const end = performance.now() + limitMs;
  for (let look = 0;; look++) {
    // The whole process table is read at few of the looks only.
    if (look % 4 === 3 ? await isGone(pgid) : !groupExists(pgid)) return true;
    const left = end - performance.now();
    if (left <= 0) return false;
    await delay(Math.min(left, POLL_MS[Math.min(look, POLL_MS.length - 1)] ?? 40));
  }
}

interface Row {
  readonly pid: number;
  readonly pgid: number;
  readonly ended: boolean;
}

/** @returns one row of `/proc/<pid>/stat`, whose second field is a name that may hold anything. */
export function parseProcStat(text: string): (Row & { readonly ppid: number }) | undefined {
  const open = text.indexOf("(");
  const close = text.lastIndexOf(")");
  if (open < 0 || close < open) return undefined;
  const [state, ppid, pgid] = text.slice(close + 1).trim().split(/\s+/u);
  const row = { pid: Number(text.slice(0, open)), ppid: Number(ppid), pgid: Number(pgid) };
  if (!Number.isInteger(row.pid) || !Number.isInteger(row.ppid) || !Number.isInteger(row.pgid)) {
    return undefined;
  }
  return { ...row, ended: state === "Z" || state === "X" };
}

async function procTable(): Promise<Row[]> {
  const text = await readProc("exec cat /proc/[0-9]*/stat");
  // A name can hold a newline, and behind it anything but the number that the next row begins with.
  return text.split(/\n(?=\d+ \()/u).map(parseProcStat).filter((row) => row !== undefined);
}

function psTable(): Promise<Row[]> {
  return new Promise((resolve) => {
    execFile("ps", ["-axo", "pid=,pgid=,stat="], (error, stdout) => {
      if (error !== null) return resolve([]);
      resolve(
        stdout.split("\n").flatMap((line) => {
          const [pid, pgid, state] = line.trim().split(/\s+/u);
          if (state === undefined) return [];
          return [{ pid: Number(pid), pgid: Number(pgid), ended: state.startsWith("Z") }];
        }),
      );
    });
  });
}

function send(pgid: number, signal: GroupSignal | 0): boolean {
  // 0 and 1 would mean mm's own group and every process there is.
  if (!Number.isInteger(pgid) || pgid <= 1) {
    throw new RangeError(`Cannot signal the process group "${pgid}": it is no group of a child`);
  }
  try {
    process.kill(isWindows ? pgid : -pgid, signal);
    return true;
  } catch (error) {
    // EPERM: there is a group, but none of its processes is ours to signal.
    return (error as { readonly code?: unknown }).code === "EPERM";
  }
}
