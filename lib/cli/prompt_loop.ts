/**
 * Line mode between its beginning and its end: prompts one after the other, and turns in between that
 * tell the model what ended in the background.
 *
 * @module
 */
import type { PromptResult, Session } from "../session/types.ts";
import { Deliveries, subagents } from "./deliveries.ts";
import type { PromptLine } from "./prompt_line.ts";
import type { Renderer } from "./render.ts";

/** What runs now, for Ctrl-C. */
export class CurrentTask {
  readonly #end: AbortSignal;
  #controller: AbortController | undefined;

  /** Creates it; nothing runs. `end` aborts whatever runs then. */
  constructor(end: AbortSignal) {
    this.#end = end;
  }

  /** Cancels what runs. Returns whether anything did. */
  cancel(): boolean {
    this.#controller?.abort();
    return this.#controller !== undefined;
  }

  /** Runs something that can be cancelled. */
  async run<T>(task: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    this.#controller = controller;
    try {
      return await task(AbortSignal.any([controller.signal, this.#end]));
    } finally {
      this.#controller = undefined;
    }
  }
}

/** Options of {@linkcode runPromptLoop}. */
export interface PromptLoopOptions {
  readonly session: Pick<Session, "prompt" | "background" | "deliver">;
  readonly line: PromptLine;
  readonly renderer: Renderer;
  readonly task: CurrentTask;
  /** Typed before the first prompt; absent for nothing. */
  readonly first?: string;
  /** Aborted when mm is being left. */
  readonly leaving: AbortSignal;
  /** Whether a person types, and can leave although something runs. */
  readonly typed: boolean;
  /** Ends the open line of a prompt at the end of the input. */
  readonly endLine: () => void;
}

/** Runs prompts until mm is left. */
export async function runPromptLoop(options: PromptLoopOptions): Promise<void> {
  const { session, line, renderer, task, leaving } = options;
  const work = new Deliveries(session, { onDue: () => line.interrupt() });
  const turn = async (
    start: (signal: AbortSignal) => Promise<PromptResult | undefined>,
  ): Promise<PromptResult | undefined> => {
    const result = await task.run(start);
    if (result !== undefined) line.show(() => renderer.endTurn(result.end, result.subject));
    return result;
  };
  const prompt = (text: string) => turn((signal) => session.prompt({ text }, { signal }));
  const deliver = () => turn((signal) => work.deliver(signal));

  /** At the end of a script nobody leaves: what runs ends, and the model is told. */
  async function finish(): Promise<void> {
    if (work.over) return;
    if (work.active > 0) renderer.lines(`Waiting for ${subagents(work.active)}`);
    while (!work.over && !leaving.aborted) {
      const cancelled = work.due
        ? (await deliver())?.end.kind === "cancelled"
        : await task.run(async (signal) => {
          const either = AbortSignal.any([signal, leaving]);
          await work.change(either);
          return either.aborted;
        });
      if (cancelled) return;
    }
  }

  try {
    if (options.first !== undefined) await prompt(options.first);
    while (!leaving.aborted) {
      if (work.due) {
        await deliver();
        continue;
      }
      const read = await line.next({ signal: leaving, due: () => work.due });
      if (read === "interrupted") continue;
      renderer.lineTyped();
      if (read === "ended") {
        options.endLine();
        if (!options.typed) await finish();
        return;
      }
      if (read.line.trim() === "") continue;
      if ((await prompt(read.line))?.action === "quit") return;
    }
  } finally {
    // However it is left: what is at work ends with it.
    if (work.active > 0) renderer.lines(`Stopped: ${subagents(work.active)} at work`);
    work.close();
  }
}
