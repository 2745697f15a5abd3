/**
 * The asked agents of this process, as the operating system shows them.
 *
 * @module
 */
import { execFile } from "node:child_process";
import process from "node:process";
import { promisify } from "node:util";
import { parseProcStat } from "../platform/group.ts";
import { readProc } from "../platform/proc_files.ts";

/** A process of an asked agent. */
export interface AgentProcess {
  readonly pid: number;
  /** Its arguments from mm's own on: `-acp -config /…/bob.yaml`. */
  readonly args: string;
}

interface Row {
  readonly pid: number;
  readonly ppid: number;
}

/**
 * Returns the processes below this one that serve ACP; an empty list on Windows, which has neither
 * of the two sources.
 */
export async function agentProcesses(): Promise<AgentProcess[]> {
  if (process.platform === "win32") return [];
  const commands = process.platform === "linux" ? await fromProc() : await fromPs();
  return [...commands].filter(([, command]) => / -acp( |$)/u.test(command))
    .map(([pid, command]) => ({ pid, args: command.slice(command.indexOf(" -acp") + 1) }));
}

/** Returns the processes below this one, of all there are. */
function below(rows: readonly Row[]): number[] {
  const parents = new Map(rows.map((row) => [row.pid, row.ppid]));
  const isBelow = (pid: number) => {
    let at = parents.get(pid);
    for (let step = 0; at !== undefined && step < rows.length; step++) {
      if (at === process.pid) return true;
      at = parents.get(at);
    }
    return false;
  };
  return rows.map((row) => row.pid).filter(isBelow);
}

/** Prints the number and the arguments of each process that is named. */
const COMMANDS = `for pid do
  printf '%s ' "$pid"
  tr '\\0\\n' '  ' <"/proc/$pid/cmdline"
  echo
done`;

/** The commands of the processes below this one, by their numbers. */
type CommandsByPid = Map<number, string>;

async function fromProc(): Promise<CommandsByPid> {
  const stats = await readProc("exec cat /proc/[0-9]*/stat");
  const rows = stats.split(/\n(?=\d+ \()/u).map(parseProcStat)
    .filter((row) => row !== undefined).filter((row) => !row.ended);
  const lines = (await readProc(COMMANDS, below(rows).map(String))).split("\n");
  return new Map(lines.flatMap((line) => {
    const match = /^(\d+) (.*)$/u.exec(line);
    return match === null ? [] : [[Number(match[1]), match[2] ?? ""]];
  }));
}

async function fromPs(): Promise<CommandsByPid> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-ww", "-o", "pid=,ppid=,command="], {
    maxBuffer: 16 * 1024 * 1024,
  });
  const rows = stdout.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(.*)$/u.exec(line);
    return match === null
      ? []
      : [{ pid: Number(match[1]), ppid: Number(match[2]), command: match[3] ?? "" }];
  });
  const ours = new Set(below(rows));
  return new Map(rows.filter(({ pid }) => ours.has(pid)).map((row) => [row.pid, row.command]));
}
