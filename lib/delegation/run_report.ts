/**
 * What a run gave, for the model: within its limit, the whole of it in a file where that was cut.
 *
 * @module
 */
import { chmod, mkdir, readdir, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { resultText } from "../agents/ask_agent_tool.ts";
import { cutMiddle } from "../base/cut.ts";
import type { Notification } from "./notification.ts";
import { type Run, type RunResult, statusOf } from "./run.ts";

/** Milliseconds that a whole result is kept: 30 days. */
const KEPT_MS = 30 * 24 * 60 * 60 * 1000;

/** The name of a file with a whole result. */
const FILE = /^task-[0-9a-f]{6}-\d+\.txt$/u;

/** Options of {@linkcode RunReports}. */
export interface RunReportsOptions {
  /** UTF-16 units of one result that reach the model. */
  readonly maxOutput: number;
  /** The folder for whole results, absolute; made when it is first needed. */
  readonly folder: () => Promise<string>;
  /** Takes out secrets of what is written to a file. */
  readonly redact: (text: string) => string;
}

/** Text for the model. */
export interface ReportText {
  readonly text: string;
  /** Where the whole text is; absent where it was not cut, or could not be written. */
  readonly file?: string;
}

/** Makes the reports of one session. */
export class RunReports {
  readonly #options: RunReportsOptions;
  /** What was made of a result, so that it is written once. */
  readonly #made = new WeakMap<RunResult, ReportText>();

  /** Creates it; nothing is written. */
  constructor(options: RunReportsOptions) {
    this.#options = options;
  }

  /** Returns the notification of a run's last round. Never rejects. */
  async of(run: Run, result: RunResult): Promise<Notification> {
    const { id: taskId, rounds: round, agent, description } = run;
    const { text, file } = await this.text(run, result);
    return {
      taskId,
      round,
      agent,
      description,
      status: statusOf(result),
      result: text,
      ...(file === undefined ? {} : { file }),
      toolCalls: result.toolCalls,
      durationMs: result.durationMs,
    };
  }

  /** Returns what a run gave. Never rejects. */
  async text(run: Run, result: RunResult): Promise<ReportText> {
    const known = this.#made.get(result);
    if (known !== undefined) return known;
    const whole = [resultText(run.agent, result), ...result.notes].join("\n\n");
    const report = await this.#limited(run, whole);
    this.#made.set(result, report);
    return report;
  }

  async #limited(run: Run, whole: string): Promise<ReportText> {
    const { maxOutput } = this.#options;
    if (whole.length <= maxOutput) return { text: cutMiddle(whole, maxOutput).text };
    const file = await this.#write(`${run.id}-${run.rounds}.txt`, whole).catch(() => undefined);
    const where = file === undefined ? "" : `\n[the whole result is in "${file}"]`;
    const { text } = cutMiddle(whole, Math.max(0, maxOutput - where.length));
    return { text: text + where, ...(file === undefined ? {} : { file }) };
  }

  async #write(name: string, text: string): Promise<string> {
    const folder = await this.#options.folder();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    const path = join(folder, name);
    await writeFile(path, this.#options.redact(text), { mode: 0o600 });
    void removeOld(folder).catch(() => {});
    return path;
  }
}

async function removeOld(folder: string): Promise<void> {
  for (const name of await readdir(folder)) {
    if (!FILE.test(name)) continue;
    const path = join(folder, name);
    const { mtimeMs } = await stat(path);
    if (Date.now() - mtimeMs > KEPT_MS) await rm(path, { force: true });
  }
}
