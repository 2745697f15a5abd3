/**
 * What is kept of the runs of a saved conversation, so that they can go on after mm was started again:
 * one JSON line for each change, the last line of a run counts. No address, no key, no environment.
 *
 * @module
 */
import { appendFileSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { z } from "zod";
import type { Notification } from "./notification.ts";
import type { Run } from "./run.ts";
import { isRunId } from "./run_id.ts";

/** Bytes of a file that are read; the rest is passed over. */
const MAX_BYTES = 64 * 1024 * 1024;

const notification = z.object({
  taskId: z.string(),
  round: z.number(),
  agent: z.string(),
  description: z.string(),
  status: z.string(),
  result: z.string(),
  file: z.string().optional(),
  toolCalls: z.number(),
  durationMs: z.number(),
});

const record = z.object({
  id: z.string().refine(isRunId),
  kind: z.enum(["definition", "fork", "entry"]),
  agent: z.string(),
  description: z.string(),
  cwd: z.string(),
  state: z.enum(["queued", "running", "parked", "ended", "paused"]),
  status: z.string(),
  rounds: z.number().int().nonnegative(),
  session: z.string().optional(),
  task: z.string().optional(),
  copy: z.string().optional(),
  callId: z.string().optional(),
  reminded: z.boolean().optional(),
  allow: z.array(z.string()).optional(),
  worktree: z.object({
    path: z.string(),
    branch: z.string(),
    base: z.string(),
    origin: z.string(),
    cwd: z.string(),
    from: z.string().optional(),
  }).optional(),
  untold: z.array(notification),
});

/** A run as it was saved. */
export type SavedRun = Omit<z.output<typeof record>, "untold"> & {
  readonly untold: readonly Notification[];
};

/** Options of {@linkcode RunRecords}. */
export interface RunRecordsOptions {
  /** The file of the conversation's runs, absolute; `undefined` while the conversation has none. */
  readonly path: () => string | undefined;
  /** Takes out secrets of what is written. */
  readonly redact: (text: string) => string;
  /** UTF-16 units of the longest task that is kept: a part of one would be another one. */
  readonly maxTask: number;
  /** Told once that nothing more can be saved, with the reason. */
  readonly onTrouble: (error: unknown) => void;
}

/** Saves the runs of one conversation. */
export class RunRecords {
  readonly #options: RunRecordsOptions;
  #told = false;
  /** Where the last line was written. */
  #file: string | undefined;

  /** Creates it; nothing is written. */
  constructor(options: RunRecordsOptions) {
    this.#options = options;
  }

  /** Saves where a run stands. Never throws. */
  save(run: Run): void {
    const { path, onTrouble } = this.#options;
    try {
      const file = path();
      if (file === undefined) return;
      // On one line, in one write: what a crash tears is the last line only, and no later one.
      const before = file === this.#file ? "" : "\n";
      appendFileSync(file, `${before}${JSON.stringify(savedRun(run, this.#options))}\n`, {
        mode: 0o600,
      });
      this.#file = file;
    } catch (error) {
      // A part of the line may be there: the next one begins a line of its own.
      this.#file = undefined;
      if (!this.#told) onTrouble(error);
      this.#told = true;
    }
  }
}

/** Reads the runs of a conversation, in the order they were started. Lines that are none are passed over. */
export async function readRunRecords(path: string): Promise<SavedRun[]> {
  let text: string;
  try {
    text = (await readFile(path)).subarray(0, MAX_BYTES).toString("utf8");
  } catch {
    // None were saved.
    return [];
  }
  const runs = new Map<string, SavedRun>();
  for (const line of text.split("\n")) {
    const parsed = record.safeParse(parseJson(line));
    if (parsed.success) runs.set(parsed.data.id, parsed.data as SavedRun);
  }
  return [...runs.values()];
}

/** Secrets stand in what models wrote. A path stays what it is, or nothing could go on there. */
function savedRun(
  run: Run,
  { redact, maxTask }: Pick<RunRecordsOptions, "redact" | "maxTask">,
): SavedRun {
  const { id, target, agent, cwd, state, status, rounds, sessionId, worktree } = run;
  const allow = target.kind === "fork" ? target.opening.allow : undefined;
  return {
    id,
    kind: target.kind === "gone" ? "definition" : target.kind,
    agent,
    description: redact(run.description),
    cwd,
    state,
    status,
    rounds,
    ...(sessionId === undefined ? {} : { session: sessionId }),
    ...(run.reminded ? { reminded: true } : {}),
    ...taskOf(run, { redact, maxTask }),
    ...(allow === undefined ? {} : { allow: [...allow] }),
    ...(worktree === undefined ? {} : { worktree }),
    untold: run.untold.map((one) => ({
      ...one,
      description: redact(one.description),
      result: redact(one.result),
    })),
  };
}

/** What a run that has not begun needs to begin later; nothing for every other one. */
function taskOf(
  { target, task, state, sessionId }: Run,
  { redact, maxTask }: Pick<RunRecordsOptions, "redact" | "maxTask">,
): Pick<SavedRun, "task" | "copy" | "callId"> {
  const begins = state !== "ended" && sessionId === undefined;
  if (!begins || task === undefined || task.length > maxTask) return {};
  if (target.kind !== "fork") return { task: redact(task) };
  const { callId } = target.opening;
  return {
    task: redact(task),
    copy: target.sessionId,
    ...(callId === undefined ? {} : { callId }),
  };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
