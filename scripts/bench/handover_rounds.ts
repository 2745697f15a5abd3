/**
 * Hand-overs of several agents, all in turn, so that whatever else the machine does meets all alike.
 *
 * @module
 */
import type { Candidate } from "./candidates.ts";
import { MANY, withStage } from "./handover.ts";
import { peakOfTree } from "./memory.ts";
import { cell, loadNow, note } from "./table.ts";

/** What is measured: milliseconds, and MiB where the name says PSS. */
export const HANDOVER_COLUMNS = [
  "ready",
  "cold ask",
  "warm ask",
  `${MANY} at once`,
  `${MANY} of 1 s`,
  `PSS with ${MANY}`,
] as const;

type Row = Partial<Record<typeof HANDOVER_COLUMNS[number], number>>;

/** Options of {@linkcode measureHandOvers}. */
export interface HandOverOptions {
  readonly candidates: readonly Candidate[];
  /** Measurements of each; one more before them warms up, one more after them reads memory. */
  readonly runs: number;
}

/** Measures; returns a row of a table for each candidate: its name, then the columns. */
export async function measureHandOvers(options: HandOverOptions): Promise<string[][]> {
  const { candidates, runs } = options;
  const rows = new Map<Candidate, Row[]>(candidates.map((one) => [one, []]));
  const failed = new Map<Candidate, string>();
  for (let round = 0; round <= runs + 1; round++) {
    for (const candidate of candidates) {
      if (failed.has(candidate)) continue;
      try {
        const row = await (round > runs ? memoryOf(candidate) : timesOf(candidate));
        if (round > 0) rows.get(candidate)?.push(row);
      } catch (error) {
        // It would fail again, and slowly.
        failed.set(candidate, (error as Error).message);
        note(`${candidate.name}: ${(error as Error).message}`);
      }
    }
    note(`round ${round} of ${runs + 1}, load ${loadNow()}`);
  }
  return candidates.map((candidate) => {
    const measured = rows.get(candidate) ?? [];
    const cells = HANDOVER_COLUMNS.map((name) => cell(measured.flatMap((row) => row[name] ?? [])));
    return [candidate.name + (failed.has(candidate) ? " (failed)" : ""), ...cells];
  });
}

async function timesOf(candidate: Candidate): Promise<Row> {
  return await withStage(candidate, async (stage) => {
    await stage.initialize();
    const { session, ms } = await stage.open();
    const cold = await stage.handOver(session, 1, "FAST");
    await stage.handOver(session, 1, "FAST");
    return {
      ready: ms,
      "cold ask": cold,
      "warm ask": await stage.handOver(session, 1, "FAST"),
      [`${MANY} at once`]: await stage.handOver(session, MANY, "FAST"),
      [`${MANY} of 1 s`]: await stage.handOver(session, MANY, "SLOW"),
    };
  });
}

/** Apart from the timed runs: reading memory takes time from what is measured. */
async function memoryOf(candidate: Candidate): Promise<Row> {
  return await withStage(candidate, async (stage) => {
    await stage.initialize();
    const { session } = await stage.open();
    await stage.handOver(session, 1, "FAST");
    const peak = peakOfTree(stage.editor.mm.pid, stage.project.mark);
    try {
      await stage.handOver(session, MANY, "SLOW");
    } finally {
      await peak.stop();
    }
    return { [`PSS with ${MANY}`]: await peak.stop() };
  });
}
