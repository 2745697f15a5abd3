/**
 * Why a run cannot be told anything.
 *
 * @module
 */
import { stat } from "node:fs/promises";
import type { AgentPool } from "../agents/pool.ts";
import { childKeyOf } from "./child_key.ts";
import type { Run } from "./run.ts";
import type { SubagentChildren } from "./subagent_children.ts";
import type { Worktrees } from "./worktree.ts";

/** What the answer depends on. */
export interface BlockedSetup {
  readonly pool: Pick<AgentPool, "runs">;
  readonly children: Pick<SubagentChildren, "runs">;
  readonly worktrees: Pick<Worktrees, "alive"> | undefined;
  /** The session's directory, absolute. */
  readonly cwd: string;
  /** Whether a subagent's conversation is saved. */
  readonly kept: (sessionId: string) => Promise<boolean>;
}

/** Returns why a run takes no message: the end of a sentence; `undefined` where it takes one. */
export async function blockedReason(run: Run, setup: BlockedSetup): Promise<string | undefined> {
  if (run.active) return undefined;
  const { target, status, cutShort } = run;
  if (target.kind === "gone") return target.reason;
  if (run.state === "ended" && !cutShort && status !== "completed" && status !== "incomplete") {
    return `its last run ended otherwise than by an answer (${status}); start another one`;
  }
  if (!await isDirectory(run.cwd)) {
    return "its directory is gone (a worktree without changes is removed); start another one";
  }
  if (run.worktree !== undefined && await setup.worktrees?.alive(run.worktree) !== true) {
    return "its worktree is no longer what it was; start another one";
  }
  if (target.kind === "entry") {
    return run.resident !== undefined && setup.pool.runs(target.agent)
      ? undefined
      : "its process ended, and its conversation with it; start another one";
  }
  if (run.resident !== undefined && await setup.children.runs(childKeyOf(target, setup.cwd))) {
    return undefined;
  }
  // One that did not begin needs what it begins with: a fork its copy, any other its task alone.
  const begins = run.state === "paused" && run.task !== undefined;
  const sessionId = begins && target.kind === "fork" ? target.sessionId : run.sessionId;
  if (sessionId === undefined ? begins : await setup.kept(sessionId)) return undefined;
  return "nothing of its conversation was saved; start another one";
}

/** Says whether a directory is there. */
export async function isDirectory(path: string): Promise<boolean> {
  return await stat(path).then((found) => found.isDirectory(), () => false);
}
