/**
 * Deltas to a message: the answer as it grows, and what it is at its end.
 *
 * @module
 */
import { createCallHolder } from "./call_holder.ts";
import type { Chunk, Delta } from "./chunk.ts";
import type { ServerWords } from "./server_words.ts";
import { readTextCalls, taggedTail } from "./text_calls.ts";
import { createThinkSplitter } from "./think_split.ts";
import { createCallCollector, type FinishedCall } from "./tool_calls.ts";
import type { AssistantMessage, FinishReason, ModelEvent, ModelReply, Usage } from "./types.ts";

/** Options of {@linkcode createAccumulator}. */
export interface AccumulatorOptions {
  readonly onEvent: (event: ModelEvent) => void;
  /** The names of the declared tools. */
  readonly toolNames: ReadonlySet<string>;
  /** Whether calls written as text count as calls. @default {false} */
  readonly textCalls?: boolean;
  /** Most UTF-16 units the answer may have in all. @default {64 MiB} */
  readonly maxAnswer?: number;
}

/** How a stream of chunks ended. */
export type StreamEnd =
  | { readonly type: "complete"; readonly reply: ModelReply }
  /** The stream stopped without saying that it was over. */
  | { readonly type: "early"; readonly partial: AssistantMessage }
  /** The server reported an error inside its answer. */
  | { readonly type: "error"; readonly words: ServerWords; readonly partial: AssistantMessage }
  /** The model met the end of its window before its first word. */
  | { readonly type: "no_room" };

/** An answer that grows. */
export interface Accumulator {
  /** Whether text or thought was passed on: then a second attempt would repeat it. */
  readonly shown: boolean;
  /** Whether nothing more has to come: the end mark or an error was seen. */
  readonly over: boolean;
  /** Whether the server reported an error inside its answer. */
  readonly failed: boolean;
  /** Whether the server said why it stopped; only usage and the end mark may follow. */
  readonly finished: boolean;
  /** Whether usage has come. */
  readonly counted: boolean;
  /** Chunks that added anything. */
  readonly chunks: number;
  /** @throws {RangeError} when the answer is larger than the limit. */
  push(chunk: Chunk): void;
  /** Returns how it ended. To be called once, after the last chunk. */
  end(): StreamEnd;
  /** Returns what there is, without calls: those of a broken answer are not run. */
  partial(): AssistantMessage;
}

const MAX_ANSWER = 64 * 1024 * 1024;

/** Creates an accumulator for one answer. */
export function createAccumulator(options: AccumulatorOptions): Accumulator {
  const { onEvent } = options;
  const max = options.maxAnswer ?? MAX_ANSWER;
  const texts: string[] = [];
  const thoughts: string[] = [];
  const calls = createCallCollector(options.toolNames);
  const holder = options.textCalls === true && options.toolNames.size > 0
    ? createCallHolder(showText)
    : undefined;
  const splitter = createThinkSplitter({
    onText: holder?.push ?? showText,
    onThought: showThought,
  });
  let size = 0;
  let chunks = 0;
  let done = false;
  let finish: string | undefined;
  let usage: Usage | undefined;
  let error: ServerWords | undefined;

  return {
    get shown() {
      return texts.length > 0 || thoughts.length > 0;
    },
    get over() {
      return done || error !== undefined;
    },
    get failed() {
      return error !== undefined;
    },
    get finished() {
      return finish !== undefined;
    },
    get counted() {
      return usage !== undefined;
    },
    get chunks() {
      return chunks;
    },
    push(chunk) {
      if (chunk.type === "delta") add(chunk.delta);
      else if (chunk.type === "done") done = true;
      else if (chunk.type === "error") error ??= chunk.words;
      else onEvent({ type: "alive" });
    },
    end() {
      splitter.end();
      const held = holder?.take() ?? "";
      const found = takeTextCalls(held);
      if (!found && held !== "") showText(held);
      if (finish === "error" && error === undefined) error = { text: "the provider failed" };
      if (error !== undefined) return { type: "error", words: error, partial: partial() };
      if (finish === undefined && !done) return { type: "early", partial: partial() };
      return whole();
    },
    partial() {
      splitter.end();
      const held = holder?.take() ?? "";
      if (held !== "") showText(held);
      return partial();
    },
  };

  /** Turns calls written as text into calls, in an answer that is whole and has no others. */
  function takeTextCalls(held: string): boolean {
    const whole = error === undefined && (done || finish !== undefined) && calls.size === 0;
    if (holder === undefined || !whole || reasonOf(finish) === "length") return false;
    // A model that is still in its thoughts when it calls has written nothing else.
    const text = held === "" && texts.length === 0 ? taggedTail(thoughts.join("")) : held;
    const found = readTextCalls(text, options.toolNames);
    for (const [index, call] of (found ?? []).entries()) calls.add({ index, ...call });
    return found !== undefined;
  }

  function add(delta: Delta): void {
    if (delta.usage !== undefined) usage = delta.usage;
    if (delta.finish !== undefined) finish = delta.finish;
    let silent = delta.thought === undefined;
    if (delta.thought !== undefined) {
      grow(delta.thought.length);
      showThought(delta.thought);
    }
    if (delta.text !== undefined) {
      grow(delta.text.length);
      const before = texts.length + thoughts.length;
      splitter.push(delta.text);
      // Text that is held back is a sign of life all the same.
      if (texts.length + thoughts.length > before) silent = false;
    }
    for (const piece of delta.calls ?? []) {
      grow(typeof piece.arguments === "string" ? piece.arguments.length : 1);
      calls.add(piece);
    }
    chunks++;
    if (silent) onEvent({ type: "alive" });
  }

  function grow(units: number): void {
    size += units;
    if (size > max) throw new RangeError(`The answer is larger than ${max} characters`);
  }

  function showText(text: string): void {
    texts.push(text);
    onEvent({ type: "text", text });
  }

  function showThought(text: string): void {
    thoughts.push(text);
    onEvent({ type: "thought", text });
  }

  function partial(): AssistantMessage {
    return messageOf(texts, thoughts, []);
  }

  function whole(): StreamEnd {
    const reason = reasonOf(finish);
    // A call of an answer that met its limit may be cut in the middle: none of them is run.
    const finished = reason === "length" ? [] : calls.finish();
    const message = messageOf(texts, thoughts, finished);
    if (reason === "length" && size === 0 && (usage?.outputTokens ?? 0) <= 1) {
      return { type: "no_room" };
    }
    return {
      type: "complete",
      reply: {
        message,
        // Some servers say "stop" although they call tools, others the reverse.
        finish: finished.length > 0 ? "tool_calls" : reason === "tool_calls" ? "stop" : reason,
        ...(usage === undefined ? {} : { usage }),
      },
    };
  }
}

function messageOf(
  texts: readonly string[],
  thoughts: readonly string[],
  finished: readonly FinishedCall[],
): AssistantMessage {
  const reasoning = thoughts.join("");
  const extras = finished.flatMap(({ call, extra }) =>
    extra === undefined ? [] : [[call.id, extra]]
  );
  return {
    role: "assistant",
    text: texts.join(""),
    ...(reasoning === "" ? {} : { reasoning }),
    ...(finished.length === 0 ? {} : { toolCalls: finished.map(({ call }) => call) }),
    ...(extras.length === 0 ? {} : { callExtras: Object.fromEntries(extras) }),
  };
}

/** Servers' words for why they stopped, where they are not those of mm. */
const REASONS: Readonly<Record<string, FinishReason>> = {
  tool_calls: "tool_calls",
  function_call: "tool_calls",
  tool_use: "tool_calls",
  length: "length",
  max_tokens: "length",
  model_length: "length",
  max_output_tokens: "length",
  content_filter: "refusal",
  refusal: "refusal",
  safety: "refusal",
};

function reasonOf(word: string | undefined): FinishReason {
  const key = (word ?? "stop").toLowerCase();
  return (Object.hasOwn(REASONS, key) ? REASONS[key] : undefined) ?? "stop";
}
