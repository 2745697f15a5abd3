/**
 * The asked agents of this process, as the operating system shows them.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import process from "node:process";
import { promisify } from "node:util";
import { parseProcStat } from "../platform/group.ts";

/** A process of an asked agent. */
export interface AgentProcess {
  readonly pid: number;
  /** Its arguments from mm's own on: `-acp -config /…/bob.yaml`. */
  readonly args: string;
}

interface Row {
  readonly pid: number;
  readonly ppid: number;
  readonly command: string;
}

/**
 * Returns the processes below this one that serve ACP; an empty list on Windows, which has neither
 * of the two sources.
 */
export async function agentProcesses(): Promise<AgentProcess[]> {
  if (process.platform === "win32") return [];
  const rows = process.platform === "linux" ? await fromProc() : await fromPs();
  const parents = new Map(rows.map((row) => [row.pid, row.ppid]));
  const isBelow = (pid: number) => {
    let at = parents.get(pid);
    for (let step = 0; at !== undefined && step < rows.length; step++) {
      if (at === process.pid) return true;
      at = parents.get(at);
    }
    return false;
  };
  return rows.filter((row) => / -acp( |$)/u.test(row.command) && isBelow(row.pid))
    .map(({ pid, command }) => ({ pid, args: command.slice(command.indexOf(" -acp") + 1) }));
}

async function fromProc(): Promise<Row[]> {
  const names = await readdir("/proc");
  const rows = await Promise.all(
    names.filter((name) => /^\d+$/u.test(name)).map(async (name) => {
      try {
        const [stat, command] = await Promise.all([
          readFile(`/proc/${name}/stat`, "utf8"),
          readFile(`/proc/${name}/cmdline`, "utf8"),
        ]);
        const row = parseProcStat(stat);
        return row === undefined || row.ended
          ? undefined
          : { pid: row.pid, ppid: row.ppid, command: command.replaceAll("\0", " ") };
      } catch {
        // It ended while it was looked at, or belongs to somebody else.
        return undefined;
      }
    }),
  );
  return rows.filter((row) => row !== undefined);
}

async function fromPs(): Promise<Row[]> {
  const { stdout } = await promisify(execFile)("ps", ["-A", "-ww", "-o", "pid=,ppid=,command="], {
    maxBuffer: 16 * 1024 * 1024,
  });
  return stdout.split("\n").flatMap((line) => {
    const match = /^\s*(\d+)\s+(\d+)\s+(.*)$/u.exec(line);
    return match === null
      ? []
      : [{ pid: Number(match[1]), ppid: Number(match[2]), command: match[3] ?? "" }];
  });
}
