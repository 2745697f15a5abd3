/**
 * `/compact`: a person compresses the conversation.
 *
 * @module
 */
import type { End } from "../base/ends.ts";
import type { Compaction } from "../engine/compaction.ts";
import type { Emit } from "../engine/events.ts";
import { Watchdog } from "../engine/watchdog.ts";
import type { Usage } from "../model/types.ts";
import { addUsage } from "../model/usage.ts";
import type { Tool } from "../tools/tool.ts";

/** Options of {@linkcode compactCommand}. */
export interface CompactCommandOptions {
  readonly compaction: Compaction;
  /** What shall be kept above all; empty for nothing in particular. */
  readonly focus: string;
  readonly tools: readonly Tool[];
  readonly emit: Emit;
  /** Longest silence of the model, in milliseconds. */
  readonly watchdogTimeoutMs: number;
  /** Who is silent then: the model's `provider/model`. */
  readonly label: string;
  readonly signal: AbortSignal;
}

/** What came of the command. */
export interface CompactResult {
  readonly end: End;
  /** For the person; empty where the end says all. */
  readonly text: string;
  readonly usage?: Usage;
}

/** Compresses the conversation. Every failure of the model is an end. */
export async function compactCommand(options: CompactCommandOptions): Promise<CompactResult> {
  const { compaction, watchdogTimeoutMs, signal } = options;
  const silence = new AbortController();
  const watchdog = new Watchdog({
    timeoutMs: watchdogTimeoutMs,
    onTimeout: () => silence.abort(new Error("The model was silent")),
  });
  let usage: Usage | undefined;
  const result = (end: End, text = ""): CompactResult => ({
    end,
    text,
    ...(usage === undefined ? {} : { usage }),
  });
  try {
    const outcome = await compaction.byHand({
      ...options,
      signal: AbortSignal.any([signal, silence.signal]),
      onLife: () => watchdog.touch(),
      onUsage: (counted) => usage = addUsage(usage, counted),
    });
    switch (outcome.kind) {
      case "nothing":
        return result({ kind: "answered" }, "There is nothing to compress yet.");
      case "failed":
        return result({
          kind: "failed",
          reason: `the conversation was not compressed and is as it was: ${outcome.reason}`,
        });
      case "done":
        return result(
          { kind: "answered" },
          `The conversation was compressed: about ${outcome.before} tokens became ${outcome.after}.`,
        );
    }
  } catch (thrown) {
    if (signal.aborted) return result({ kind: "cancelled" });
    if (!silence.signal.aborted) throw thrown;
    return result({ kind: "timed_out", afterMs: watchdogTimeoutMs, from: options.label });
  } finally {
    watchdog.stop();
  }
}
