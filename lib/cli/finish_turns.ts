/**
 * A prompt and everything that follows from it: turns that tell the model what ended in the background,
 * until nothing runs any more.
 *
 * @module
 */
import type { End } from "../base/ends.ts";
import type { PromptResult, Session } from "../session/types.ts";
import { Deliveries } from "./deliveries.ts";

/** Options of {@linkcode finishTurns}. */
export interface FinishTurnsOptions {
  readonly session: Pick<Session, "prompt" | "background" | "deliver">;
  readonly text: string;
  /** Cancels the turn that runs, or the waiting, and all that would follow. */
  readonly signal: AbortSignal;
  /** Told of each turn that ended. */
  readonly onTurn: (end: End, subject: string | undefined) => void;
  /** Told that another turn follows on the one that ended. */
  readonly onFollowed: () => void;
  /** Told once, with how many runs are waited for. */
  readonly onWait: (active: number) => void;
}

/** Runs the turns. Returns how the last one ended; `cancelled` also where the waiting was cancelled. */
export async function finishTurns(options: FinishTurnsOptions): Promise<End> {
  const { session, signal, onTurn } = options;
  const work = new Deliveries(session);
  try {
    let result: PromptResult = await session.prompt({ text: options.text }, { signal });
    onTurn(result.end, result.subject);
    if (result.action === "quit") return result.end;
    let waited = false;
    while (!signal.aborted && !work.over) {
      if (!work.due) {
        if (!waited) options.onWait(work.active);
        waited = true;
        await work.change(signal);
        continue;
      }
      options.onFollowed();
      const next = await work.deliver(signal);
      if (next === undefined) continue;
      result = next;
      onTurn(result.end, result.subject);
    }
    if (!signal.aborted || result.end.kind === "cancelled") return result.end;
    const end: End = { kind: "cancelled" };
    onTurn(end, undefined);
    return end;
  } finally {
    work.close();
  }
}
