/**
 * Starts of whole programs, all in turn, so that whatever else the machine does meets all alike.
 *
 * @module
 */
import { setTimeout as sleep } from "node:timers/promises";
import { startMm } from "../../tests/support/mm.ts";
import type { Program } from "../../tests/support/program.ts";
import { type TestProject, testProject } from "../../tests/support/project.ts";
import type { Candidate } from "./candidates.ts";
import { sizeOnDisk } from "./disk_size.ts";
import { withStage } from "./handover.ts";
import { pssOfTree } from "./memory.ts";
import { cell, loadNow, note } from "./table.ts";

/** Processes are given this long to come to rest before their memory is read, in milliseconds. */
export const REST_MS = 1000;

/** How long a program may take to say its version, in milliseconds. */
const VERSION_MS = 60_000;

const MEASURED = ["version", "initialize", "session/new", "cold ask", "PSS idle"] as const;

/** The columns: milliseconds, MiB of memory, MB on disk. */
export const START_COLUMNS = [
  "version",
  "`initialize`",
  "`session/new`",
  "cold ask",
  "PSS idle",
  "on disk",
  "note",
] as const;

type Row = Partial<Record<typeof MEASURED[number], number>>;

/** Options of {@linkcode measureStarts}. */
export interface StartOptions {
  /** The bare program. */
  readonly bare: Program;
  readonly candidates: readonly Candidate[];
  /** Measurements of each; one more before them warms up. */
  readonly runs: number;
}

interface Contender {
  readonly name: string;
  readonly installed: readonly string[];
  measure(): Promise<Row>;
}

/** Measures; returns a row of a table for each program: its name, then the columns. */
export async function measureStarts(options: StartOptions): Promise<string[][]> {
  const contenders: Contender[] = [
    { name: "bare", installed: [options.bare[0]], measure: () => bareRow(options.bare) },
    ...options.candidates.map((candidate) => ({
      name: candidate.name,
      installed: candidate.installed,
      measure: () => rowOf(candidate),
    })),
  ];
  const rows = new Map<Contender, Row[]>(contenders.map((one) => [one, []]));
  const failed = new Map<Contender, string>();
  for (let round = 0; round <= options.runs; round++) {
    for (const one of contenders) {
      if (failed.has(one)) continue;
      try {
        const row = await one.measure();
        if (round > 0) rows.get(one)?.push(row);
      } catch (error) {
        // It would fail again, and slowly.
        const reason = (error as Error).message;
        failed.set(one, reason.replaceAll(/\s+/gu, " ").replaceAll("|", "/").slice(0, 200));
      }
    }
    note(round === 0 ? "warmed up" : `round ${round} of ${options.runs}, load ${loadNow()}`);
  }
  return await Promise.all(contenders.map(async (one) => {
    const measured = rows.get(one) ?? [];
    const cells = MEASURED.map((name) => cell(measured.flatMap((row) => row[name] ?? [])));
    return [one.name, ...cells, await diskCell(one.installed), failed.get(one) ?? ""];
  }));
}

async function diskCell(paths: readonly string[]): Promise<string> {
  if (paths.length === 0) return "-";
  const sizes = await Promise.all(paths.map(sizeOnDisk));
  return (sizes.reduce((sum, size) => sum + size, 0) / 1e6).toFixed(0);
}

async function rowOf(candidate: Candidate): Promise<Row> {
  return await withStage(candidate, async (stage) => {
    const initialize = await stage.initialize();
    const { session, ms } = await stage.open();
    await sleep(REST_MS);
    const pss = await pssOfTree(stage.editor.mm.pid, stage.project.mark);
    const cold = await stage.handOver(session, 1, "FAST");
    await stage.editor.mm.stop();
    const version = await timeOf(stage.project, candidate.version);
    return { version, initialize, "session/new": ms, "cold ask": cold, "PSS idle": pss };
  });
}

async function bareRow(bare: Program): Promise<Row> {
  const project = await testProject();
  try {
    const version = await timeOf(project, bare);
    const waiting = startMm(["wait"], { program: bare, cwd: project.dir, env: project.env });
    try {
      await waiting.waitForOutput("bare");
      await sleep(REST_MS);
      return { version, "PSS idle": await pssOfTree(waiting.pid, project.mark) };
    } finally {
      await waiting.stop();
    }
  } finally {
    await project.close();
  }
}

/** Returns the milliseconds from a program's start to its end. */
async function timeOf(project: TestProject, program: Program): Promise<number> {
  const started = performance.now();
  const run = startMm([], { program, cwd: project.dir, env: project.env, stdin: "" });
  const { code } = await run.waitForExit({ timeoutMs: VERSION_MS });
  if (code !== 0) throw new Error(`${program.join(" ")} failed: ${run.report()}`);
  return performance.now() - started;
}
