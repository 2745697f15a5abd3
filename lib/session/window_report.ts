/**
 * Says when the configuration declares a larger window than the server has. What is declared counts:
 * the server may be wrong about itself, or have been asked before it loaded the model.
 *
 * @module
 */
import type { Emit } from "../engine/events.ts";
import type { ModelClient, ModelFacts } from "../model/types.ts";

/** Options of {@linkcode reportWindow}. */
export interface ReportWindowOptions {
  readonly model: Pick<ModelClient, "facts">;
  readonly emit: Emit;
  /** Nothing is said once it is aborted. */
  readonly signal: AbortSignal;
}

/** Says it as soon as the server has told its window. Never rejects; nobody has to wait for it. */
export async function reportWindow(options: ReportWindowOptions): Promise<void> {
  const { model, emit, signal } = options;
  const facts = await model.facts({}).catch((): ModelFacts => ({}));
  const { contextWindow, serverWindow } = facts;
  if (signal.aborted || contextWindow === undefined || serverWindow === undefined) return;
  if (serverWindow >= contextWindow) return;
  emit({
    type: "notice",
    severity: "warning",
    text: `contextWindow declares ${contextWindow} tokens, and the server says that it has ` +
      `${serverWindow}; what is declared counts until a request does not fit`,
  });
}
