/**
 * Which process something belongs to, so that it can be told later whether that process still runs. A
 * number alone does not do: the system gives it to another process after some time.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { hostname } from "node:os";
import process from "node:process";
import { parseProcStat } from "./group.ts";
import { isWindows } from "./runtime.ts";

/** One process of one machine. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it began, in the system's own words; empty where the system does not tell. */
  readonly start: string;
  readonly host: string;
}

/** The field of `/proc/<pid>/stat` behind the name that holds the start time: see proc(5). */
const START_FIELD = 19;

let own: ProcessIdentity | undefined;

/** Returns the identity of this process. */
export function ownIdentity(): ProcessIdentity {
  return own ??= {
    pid: process.pid,
    start: look(process.pid)?.start ?? "",
    host: hostname(),
  };
}

/**
 * Says whether a process runs: `unknown` for one of another machine, which cannot be looked at. One
 * that ended and was not waited for does not run.
 */
export function isRunning(identity: ProcessIdentity): boolean | "unknown" {
  if (identity.host !== hostname()) return "unknown";
  if (!exists(identity.pid)) return false;
  const found = look(identity.pid);
  // The system does not tell, but there is such a process.
  if (found === undefined) return true;
  return !found.ended && (identity.start === "" || found.start === identity.start);
}

function exists(pid: number): boolean {
  if (!Number.isInteger(pid) || pid < 1) return false;
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    // EPERM: there is one, of another user.
    return (error as { readonly code?: unknown }).code === "EPERM";
  }
}

function look(pid: number): { readonly start: string; readonly ended: boolean } | undefined {
  try {
    if (process.platform === "linux") {
      // Through the shell: Deno gives files of /proc to programs with all permissions only.
      const stat = run("/bin/sh", [
        "-c",
        'read -r line <"/proc/$1/stat" && echo "$line"',
        "",
        `${pid}`,
      ]);
      if (stat === "") return undefined;
      const fields = stat.slice(stat.lastIndexOf(")") + 1).trim().split(/\s+/u);
      return { start: fields[START_FIELD] ?? "", ended: parseProcStat(stat)?.ended ?? false };
    }
    if (isWindows) return undefined;
    const line = run("ps", ["-o", "stat=,lstart=", "-p", String(pid)]);
    const [state = "", ...start] = line.split(/\s+/u);
    // In a file's name, where it will stand.
    return { start: start.join("_").replaceAll(":", "."), ended: state.startsWith("Z") };
  } catch {
    return undefined;
  }
}

function run(program: string, args: readonly string[]): string {
  return execFileSync(program, args, {
    encoding: "utf8",
    timeout: 2000,
    stdio: ["ignore", "pipe", "ignore"],
    env: { PATH: "/usr/bin:/bin" },
  }).trim();
}
