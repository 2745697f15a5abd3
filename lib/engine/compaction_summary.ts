/**
 * Asking the model for a summary: one request without tools that fits its window.
 *
 * @module
 */
import { cutMiddle } from "../base/cut.ts";
import { ModelError } from "../model/types.ts";
import type { Message, ModelClient, ModelEvent, Usage } from "../model/types.ts";
import type { ContextSize } from "./compaction_size.ts";
import { summaryTranscript } from "./compaction_transcript.ts";
import { summaryRequest } from "./compaction_words.ts";

/** Tokens of a summary: a share of the window, within bounds. */
const SUMMARY_SHARE = 0.08;
const MIN_SUMMARY = 200;
const MAX_SUMMARY = 3000;

/** Share of the window that is left for the answer, thoughts included, and its largest size in tokens. */
const ANSWER_SHARE = 1 / 3;
const MAX_ANSWER = 8192;

/** Requests that are made smaller when the server says that they do not fit. */
const MAX_REQUESTS = 3;

/** Shortest transcript that is worth a request, in UTF-16 units. */
const MIN_TRANSCRIPT = 400;

/** Options of {@linkcode summarise}. */
export interface SummariseOptions {
  /** What is summarised, without the system message. */
  readonly messages: readonly Message[];
  readonly focus: string;
  readonly model: ModelClient;
  readonly size: ContextSize;
  /** Tokens that the request and its answer may take together. */
  readonly room: number;
  readonly patienceMs: number;
  readonly signal: AbortSignal;
  readonly onEvent: (event: ModelEvent) => void;
  readonly onUsage: (usage: Usage) => void;
}

/**
 * Returns the summary.
 *
 * @throws {ModelError} when no answer was obtained.
 * @throws {Error} when the answer is no summary.
 * @throws the signal's reason when it was aborted.
 */
export async function summarise(options: SummariseOptions): Promise<string> {
  const { size, messages } = options;
  let room = options.room;
  for (let requests = 1;; requests++) {
    const tokens = Math.min(MAX_SUMMARY, Math.max(MIN_SUMMARY, room * SUMMARY_SHARE));
    const request = (transcript: string) =>
      summaryRequest({ transcript, focus: options.focus, tokens });
    const free = room - Math.min(MAX_ANSWER, room * ANSWER_SHARE) - size.of(request(""));
    const limit = Math.max(MIN_TRANSCRIPT, size.characters(free));
    try {
      const text = await ask(request(summaryTranscript(messages, limit)), options);
      // A model that does not keep to the length must not fill the window with its summary.
      return cutMiddle(text, size.characters(tokens * 2)).text;
    } catch (error) {
      const tooLarge = error instanceof ModelError && error.kind === "context_exceeded";
      if (!tooLarge || requests === MAX_REQUESTS || limit === MIN_TRANSCRIPT) throw error;
      room /= 2;
    }
  }
}

async function ask(messages: readonly Message[], options: SummariseOptions): Promise<string> {
  const { model, signal, patienceMs, onEvent } = options;
  const reply = await model.complete({ messages, tools: [] }, { signal, patienceMs, onEvent });
  signal.throwIfAborted();
  if (reply.usage !== undefined) options.onUsage(reply.usage);
  if (reply.finish === "refusal") throw new Error("the model refused to summarise");
  const text = reply.message.text.trim();
  if (text === "") {
    throw new Error(
      reply.finish === "length"
        ? "the output limit left no summary"
        : "the model gave an empty summary",
    );
  }
  return text;
}
