/**
 * Telling a run something more, for the model and for the person: the same rules and reasons.
 *
 * @module
 */
import { framedMessage } from "../engine/steering.ts";
import { blockedReason, type BlockedSetup } from "./blocked.ts";
import type { Run } from "./run.ts";
import type { Runs } from "./runs.ts";

/** Options of {@linkcode sendToRun}. */
export interface SendOptions {
  readonly runs: Pick<Runs, "ended" | "goOn">;
  readonly run: Run;
  readonly message: string;
  readonly blocked: BlockedSetup;
  /** Says why no run that ended may go on; `undefined` where one may. Called once, right before it does. */
  readonly refusal?: () => string | undefined;
  readonly signal: AbortSignal;
}

/** What came of a message. */
export interface SendAnswer {
  readonly ok: boolean;
  readonly text: string;
}

/**
 * Tells a run something: at work, it reads it after its next tool calls; ended or paused, it goes on
 * with it.
 *
 * @throws the signal's reason when it is aborted.
 */
export async function sendToRun(options: SendOptions): Promise<SendAnswer> {
  const { runs, run, message, signal } = options;
  // How it ends decides what can be said to it.
  if (run.finishing) await runs.ended(run, signal);
  if (run.active && await toActive(run, message)) {
    const text =
      `${run.id} gets the message: after its next tool calls, else when what it does now is done. ` +
      "Its result comes by itself.";
    return { ok: true, text };
  }
  if (run.active) await runs.ended(run, signal);
  signal.throwIfAborted();
  const blocked = await blockedReason(run, options.blocked);
  if (blocked !== undefined) {
    return { ok: false, text: `Not sent: ${run.id} takes no messages: ${blocked}` };
  }
  // Another message made it go on meanwhile.
  if (run.active) run.messages.push(framedMessage(message));
  else {
    const refusal = options.refusal?.();
    if (refusal !== undefined) return { ok: false, text: `Not sent: ${refusal}` };
    runs.goOn(run, framedMessage(message));
  }
  return { ok: true, text: `${run.id} goes on with the message. Its next result comes by itself.` };
}

/** Tells a run that works; `false` where it is about to end. */
async function toActive(run: Run, message: string): Promise<boolean> {
  if (run.state !== "queued" && await run.resident?.session.steer(message) === true) return true;
  if (!run.active || run.finishing) return false;
  run.messages.push(framedMessage(message));
  return true;
}
