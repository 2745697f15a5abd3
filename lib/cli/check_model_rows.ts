/**
 * The part of `mm -check` that is about the model and its server.
 *
 * @module
 */
import { messageOf } from "../base/errors.ts";
import { formatDuration } from "../base/duration.ts";
import type { AgentConfig } from "../config/types.ts";
import { checkModel } from "../model/check_model.ts";
import { createLazyModelClient } from "../model/discovering_client.ts";
import type { CheckRow } from "./check_table.ts";
import type { Io } from "./mode.ts";

/** How long the model server may take for one small answer, in milliseconds. */
const MODEL_MS = 60_000;

/** How long a server that is not up is waited for, in milliseconds. */
const PATIENCE_MS = 5_000;

/** Options of {@linkcode checkModelRows}. */
export interface CheckModelRowsOptions {
  readonly io: Pick<Io, "env">;
  readonly config: AgentConfig;
  readonly signal: AbortSignal;
}

/** Asks the model twice and returns a row for the model and one for each thing that was seen. */
export async function checkModelRows(options: CheckModelRowsOptions): Promise<CheckRow[]> {
  const { io, config, signal } = options;
  const notices: string[] = [];
  try {
    const client = createLazyModelClient({
      config: config.model,
      env: io.env,
      onNotice: (text) => void notices.push(text),
    });
    const facts = await client.facts({ signal });
    const report = await checkModel(client, {
      signal,
      limitMs: MODEL_MS,
      patienceMs: PATIENCE_MS,
    });
    // A server that was only just starting could not tell before.
    const { contextWindow, slots, images } = client.contextWindow === undefined
      ? await client.facts({ signal })
      : facts;
    const window = client.contextWindow ?? contextWindow;
    const parts = [
      `${client.label}${client.url === "" ? "" : ` at ${client.url}`}`,
      window === undefined ? "window not known" : `window ${window} tokens`,
      ...(slots === undefined ? [] : [`${slots} at once`]),
      ...(images === true ? ["takes images"] : []),
      `answered in ${formatDuration(report.answeredMs)}`,
      ...(report.refused ? ["refused the test question"] : []),
    ];
    const model = { what: "model", ok: true, detail: [parts.join(", "), ...notices].join("\n") };
    // The demo is no server.
    if (client.url === "") return [model];
    const toolless = config.tools?.length === 0;
    return [
      model,
      ...report.traits.map(({ what, ok, detail }): CheckRow =>
        // An agent without tools needs no server that takes them.
        ok === undefined || (toolless && !ok) ? { what, detail } : { what, ok, detail }
      ),
    ];
  } catch (thrown) {
    signal.throwIfAborted();
    return [{ what: "model", ok: false, detail: messageOf(thrown) }];
  }
}
