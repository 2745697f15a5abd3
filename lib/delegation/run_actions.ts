/**
 * What `list_agents`, `send_message`, `wait_agent` and `task_stop` do.
 *
 * @module
 */
import { oneLine } from "../base/cut.ts";
import { formatDuration } from "../base/duration.ts";
import { didYouMean } from "../base/nearest.ts";
import type { ToolContext, ToolResult } from "../tools/tool.ts";
import { blockedReason, type BlockedSetup } from "./blocked.ts";
import { MAX_MODEL_CONTINUATIONS, WAIT_SECONDS } from "./delegation_limits.ts";
import { blockOf, withoutTags } from "./notification.ts";
import type { Run } from "./run.ts";
import type { RunActions } from "./run_tools.ts";
import type { Runs } from "./runs.ts";
import { sendToRun } from "./send_to_run.ts";

/** UTF-16 units of a description in a list. */
const DESCRIPTION_LENGTH = 80;

/** Options of {@linkcode createRunActions}. */
export interface RunActionsOptions {
  readonly runs: Runs;
  readonly blocked: BlockedSetup;
}

/** Returns the actions of one session. */
export function createRunActions(options: RunActionsOptions): RunActions {
  return new Actions(options);
}

class Actions implements RunActions {
  readonly #runs: Runs;
  readonly #blocked: BlockedSetup;
  #continued = 0;

  constructor({ runs, blocked }: RunActionsOptions) {
    this.#runs = runs;
    this.#blocked = blocked;
  }

  async list(): Promise<ToolResult> {
    const { list } = this.#runs;
    if (list.length === 0) return said("No subagent was started in the background yet.");
    const lines = await Promise.all(list.map(async (run) => {
      const blocked = await blockedReason(run, this.#blocked);
      const facts = [
        run.id,
        run.agent,
        run.status,
        ...(run.age === undefined ? [] : [run.age]),
        blocked === undefined ? "takes messages" : `resume_blocked_reason: ${blocked}`,
        withoutTags(oneLine(run.description, DESCRIPTION_LENGTH)),
      ];
      return facts.join(" | ");
    }));
    return said(lines.join("\n"));
  }

  async send(
    args: { readonly task_id: string; readonly message: string },
    { signal }: ToolContext,
  ): Promise<ToolResult> {
    const run = this.#runs.get(args.task_id);
    if (run === undefined) return this.#unknown(args.task_id);
    return await sendToRun({
      runs: this.#runs,
      run,
      message: args.message,
      blocked: this.#blocked,
      refusal: () => ++this.#continued > MAX_MODEL_CONTINUATIONS ? TOO_OFTEN : undefined,
      signal,
    });
  }

  async wait(
    args: {
      readonly task_ids?: readonly string[] | undefined;
      readonly timeout?: number | undefined;
    },
    context: ToolContext,
  ): Promise<ToolResult> {
    const ids = args.task_ids ?? [];
    const wrong = ids.find((id) => this.#runs.get(id) === undefined);
    if (wrong !== undefined) return this.#unknown(wrong);
    const runs = ids.length === 0
      ? this.#runs.list.filter((run) => run.active || run.untold.length > 0)
      : [...new Set(ids.map((id) => this.#runs.get(id)).filter((run) => run !== undefined))];
    if (runs.length === 0) {
      return said("No subagent is at work in the background, and every result was given to you.");
    }
    const seconds = args.timeout ?? WAIT_SECONDS;
    const resume = context.pauseWatchdog();
    const timeout = AbortSignal.timeout(Math.ceil(seconds * 1000));
    const signal = AbortSignal.any([context.signal, timeout]);
    try {
      await Promise.all(runs.map(async (run) => {
        while (run.active && !signal.aborted) await this.#runs.ended(run, signal);
      }));
    } finally {
      resume();
    }
    context.signal.throwIfAborted();
    return said(runs.map((run) => this.#waited(run, seconds)).join("\n"));
  }

  async stop(args: { readonly task_id: string }): Promise<ToolResult> {
    const run = this.#runs.get(args.task_id);
    if (run === undefined) return this.#unknown(args.task_id);
    if (run.state === "ended") {
      return { ok: false, text: `Not stopped: ${run.id} has ended already (${run.status}).` };
    }
    const paused = run.state === "paused";
    const notes = await this.#runs.stop(run);
    if (paused) return said([`${run.id} is given up; it was not at work.`, ...notes].join("\n"));
    const ends = this.#runs.tell(run);
    // It takes its time: what comes of it is told when it does.
    if (ends.length === 0) return said(`${run.id} is being stopped; its end comes by itself.`);
    return said(ends.map(blockOf).join("\n"));
  }

  #waited(run: Run, seconds: number): string {
    const ends = this.#runs.tell(run).map(blockOf);
    if (run.active) {
      const what = run.state === "parked" ? "waits for the user's permission" : "still at work";
      const lately = run.activity.at(-1);
      ends.push(
        `${run.id} is ${what} after ${formatDuration(seconds * 1000)}` +
          (lately === undefined ? "" : `, lately with: ${withoutTags(lately)}`),
      );
    } else if (ends.length === 0) {
      ends.push(`${run.id} has ended (${run.status}); you have its result already`);
    }
    return ends.join("\n");
  }

  #unknown(id: string): ToolResult {
    const ids = this.#runs.list.map((run) => run.id);
    const known = ids.length === 0
      ? "none was started in the background"
      : `there are ${ids.join(", ")}${didYouMean(id, ids)}`;
    return {
      ok: false,
      text: `There is no subagent "${oneLine(id, DESCRIPTION_LENGTH)}": ${known}`,
    };
  }
}

/** Each end tells the model, and each telling could make a run go on: without anybody, and without end. */
const TOO_OFTEN =
  `in this session ended subagents were made to go on ${MAX_MODEL_CONTINUATIONS} times, which is the ` +
  "most there is; finish the work with your own tools";

function said(text: string): ToolResult {
  return { ok: true, text };
}
