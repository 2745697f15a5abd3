/**
 * The body of an answer, from its bytes to its end: server-sent events, or what came instead.
 *
 * @module
 */
import type { Accumulator, StreamEnd } from "./accumulate.ts";
import { type ByteReader, createByteReader } from "./byte_reader.ts";
import { readChunk, readCompletion } from "./chunk.ts";
import { asArray, asObject, parseJson } from "./json.ts";
import { looksLikeHtml, quote, wordsOf } from "./server_words.ts";
import { createEventReader } from "./sse.ts";
import type { AssistantMessage, ModelEvent } from "./types.ts";

/** How a body ended. */
export type AnswerEnd =
  | StreamEnd
  /** What came is no answer to a chat completion. `what` is a clause for a message. */
  | { readonly type: "no_answer"; readonly what: string; readonly transient: boolean }
  /** The connection broke. */
  | { readonly type: "broken"; readonly cause: unknown; readonly partial: AssistantMessage };

/** Options of {@linkcode readAnswer}. */
export interface ReadAnswerOptions {
  readonly body: ReadableStream<Uint8Array> | null;
  readonly accumulator: Accumulator;
  readonly onEvent: (event: ModelEvent) => void;
  readonly signal: AbortSignal;
  /**
   * How long usage and the end mark are waited for once the model stopped, in milliseconds; some
   * servers send neither and keep the connection open. @default {1000}
   */
  readonly graceMs?: number;
}

/** Bytes of a body that is neither events nor JSON which are kept for the message. */
const MAX_HEAD = 2048;

/** Bytes of the beginning of a stream of events which are kept for the message. */
const MAX_QUOTED = 512;

/** Bytes of a JSON body. */
const MAX_JSON = 64 * 1024 * 1024;

/** What the end mark alone is worth waiting for once usage has come: the connection's reuse. */
const MARK_GRACE_MS = 100;

/**
 * Reads a body to its end, passes on what it says, and returns how it ended. The body is closed in
 * every case.
 *
 * @throws the signal's reason when it was aborted; nothing else.
 */
export async function readAnswer(options: ReadAnswerOptions): Promise<AnswerEnd> {
  const { accumulator, body, signal } = options;
  if (body === null) return EMPTY;
  const reader = createByteReader(body);
  const stop = () => void reader.cancel(signal.reason).catch(() => {});
  signal.addEventListener("abort", stop, { once: true });
  try {
    signal.throwIfAborted();
    const end = await read(reader, options);
    signal.throwIfAborted();
    return end;
  } catch (cause) {
    signal.throwIfAborted();
    if (cause instanceof RangeError) {
      return { type: "no_answer", what: lowerFirst(cause.message), transient: false };
    }
    // What arrived before the break may already be the whole answer.
    if (accumulator.finished || accumulator.over) return accumulator.end();
    return { type: "broken", cause, partial: accumulator.partial() };
  } finally {
    signal.removeEventListener("abort", stop);
    void finishBody(reader);
  }
}

const EMPTY: AnswerEnd = {
  type: "no_answer",
  what: "the server sent an empty answer",
  transient: true,
};

async function read(reader: ByteReader, options: ReadAnswerOptions): Promise<AnswerEnd> {
  const { accumulator, onEvent } = options;
  let noise: string | undefined;
  const events = createEventReader({
    onComment: () => onEvent({ type: "alive" }),
    onData: (data, event) => {
      // What follows the end mark is not part of the answer.
      if (accumulator.over) return;
      const chunk = readChunk(data, event);
      if (chunk.type === "noise") noise ??= data;
      accumulator.push(chunk);
    },
  });
  const head = createHead();
  while (!accumulator.over) {
    const next = accumulator.finished
      ? await readWithin(reader, graceOf(options))
      : await reader.read();
    if (next === undefined || next.done) break;
    if (next.value.length === 0) continue;
    if (head.kind === "unknown") {
      head.add(next.value);
      if (head.kind === "unknown") continue;
      if (head.kind === "events") events.feed(head.take());
    } else if (head.kind === "events") {
      head.note(next.value);
      events.feed(next.value);
    } else {
      head.add(next.value);
      if (head.kind === "html" && head.size > MAX_HEAD) break;
      if (head.size > MAX_JSON) throw new RangeError(`The answer is larger than ${MAX_JSON} bytes`);
    }
  }
  if (head.kind === "html") return noAnswer("a page of HTML", head.text());
  if (head.kind === "json") return readJson(head.text(), options);
  if (head.kind === "unknown") return EMPTY;
  if (!accumulator.over) events.end();
  if (accumulator.chunks > 0 || accumulator.failed) return accumulator.end();
  // Not one chunk: what did come is the only clue.
  if (noise !== undefined && !isKeepAlive(noise)) return noAnswer("no answer", noise, true);
  if (accumulator.over || isOnlyComments(head.text())) return accumulator.end();
  return noAnswer("no answer", head.text(), true);
}

function graceOf(options: ReadAnswerOptions): number {
  const grace = options.graceMs ?? 1000;
  return options.accumulator.counted ? Math.min(grace, MARK_GRACE_MS) : grace;
}

function isKeepAlive(data: string): boolean {
  return data.trim() === "" || data.trimStart().startsWith(":");
}

function isOnlyComments(text: string): boolean {
  return text.split(/[\r\n]+/u).every((line) => /^(:|data:\s*(:|$)|$)/u.test(line));
}

/** Servers that do not stream answer with the whole completion; errors come in the same way. */
function readJson(text: string, options: ReadAnswerOptions): AnswerEnd {
  const { accumulator } = options;
  const json = parseJson(text);
  const object = asObject(json) ?? asObject(asArray(json)[0]);
  if (object !== undefined) {
    if (object["error"] !== undefined && object["error"] !== null) {
      return { type: "error", words: wordsOf(object), partial: accumulator.partial() };
    }
    if (!Array.isArray(object["choices"])) {
      const words = wordsOf(object);
      return object["message"] !== undefined || object["detail"] !== undefined
        ? { type: "error", words, partial: accumulator.partial() }
        : noAnswer("JSON that is no chat completion", text);
    }
    accumulator.push(readCompletion(object));
    accumulator.push({ type: "done" });
    return accumulator.end();
  }
  // One chunk on each line, without the framing of events.
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const complete = lines.filter((line) => asObject(parseJson(line)) !== undefined);
  if (complete.length === 0) return noAnswer("broken JSON", text, true);
  for (const line of complete) {
    if (!accumulator.over) accumulator.push(readChunk(line));
  }
  return accumulator.end();
}

function noAnswer(what: string, text: string, transient = false): AnswerEnd {
  return { type: "no_answer", what: `the server sent ${what}: ${quote(text)}`, transient };
}

/** Returns the next bytes, or `undefined` when they took longer than `ms`. */
async function readWithin(reader: ByteReader, ms: number) {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), ms);
  });
  try {
    // A read that lost the race is ended by closing the body.
    return await Promise.race([reader.read(), late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Takes what little follows the end mark, so that the connection can be used again; then closes. */
async function finishBody(reader: ByteReader): Promise<void> {
  try {
    const until = performance.now() + MARK_GRACE_MS;
    for (let left = MARK_GRACE_MS; left > 0; left = until - performance.now()) {
      const next = await readWithin(reader, left);
      if (next === undefined || next.done) break;
    }
    await reader.cancel();
  } catch {
    // Broken or cancelled already: nothing is left to close.
  }
}

/** The beginning of a body, until it shows what kind of body it is; the whole of one that is JSON. */
function createHead() {
  const parts: Uint8Array[] = [];
  const beginning: Uint8Array[] = [];
  let size = 0;
  let kind: "unknown" | "events" | "json" | "html" = "unknown";
  return {
    get kind() {
      return kind;
    },
    get size() {
      return size;
    },
    add(next: Uint8Array) {
      // The next read writes over it.
      const bytes = next.slice();
      parts.push(bytes);
      size += bytes.length;
      if (kind !== "unknown") return;
      beginning.push(bytes);
      const text = decode(beginning).trimStart();
      // "<" and "{" begin no field of an event.
      if (text.startsWith("{") || text.startsWith("[")) kind = "json";
      else if (looksLikeHtml(text)) kind = "html";
      else if (text !== "" && !(text.startsWith("<") && text.length < 16)) kind = "events";
      else if (size > MAX_HEAD) kind = "events";
    },
    /** Keeps the beginning of a body of events, for a message should there be none in it. */
    note(bytes: Uint8Array) {
      if (size > MAX_QUOTED) return;
      beginning.push(bytes.slice(0, MAX_QUOTED));
      size += bytes.length;
    },
    /** Hands the bytes over to the event reader; the beginning is kept for a message. */
    take() {
      const all = join(parts);
      parts.length = 0;
      return all;
    },
    text() {
      return decode(parts.length === 0 ? beginning : parts);
    },
  };
}

function decode(parts: readonly Uint8Array[]): string {
  return new TextDecoder().decode(join(parts));
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
