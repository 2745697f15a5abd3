import { test } from "node:test";
import assert from "node:assert/strict";
import { createAccumulator } from "./accumulate.ts";
import { readAnswer } from "./read_answer.ts";
import { delta, events } from "./testing.ts";

/** A small generator of the same numbers every time (mulberry32). */
function numbers(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const STREAM = ": ping\n\n" + events(
  delta({ role: "assistant", content: "<think>a" }),
  delta({ content: "b</think>\n\nHello \u{1f600}" }),
  delta({ reasoning_content: "r", content: null }),
  delta({ content: "\n<tool_call>\n" }),
  delta({
    tool_calls: [{ index: 0, id: "a", function: { name: "read", arguments: '{"path":' } }],
  }),
  delta({ tool_calls: [{ index: 0, function: { arguments: '"x"}' } }] }),
  delta({}, "tool_calls"),
  { choices: [], usage: { prompt_tokens: 3, completion_tokens: 4 } },
) + "data: [DONE]\n\n";

const COMPLETION = JSON.stringify({
  choices: [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }],
  usage: { prompt_tokens: 1, completion_tokens: 1 },
});

/** Pieces that are put into the middle of a stream. */
const SPLINTERS = [
  "data: null\n\n",
  "data: []\n\n",
  "data: 1\n\n",
  'data: {"choices":[null]}\n\n',
  'data: {"choices":[{"delta":{"tool_calls":[null,{"function":null},{"index":-1},7]}}]}\n\n',
  'data: {"choices":[{"delta":{"tool_calls":{"function":{"name":"bash","arguments":[1]}}}}]}\n\n',
  'data: {"choices":{"0":{"delta":{"content":{}}}}}\n\n',
  'data: {"error":null,"choices":[{"delta":{"content":5}}]}\n\n',
  'data: {"error":{}}\n\n',
  "event: error\ndata: \n\n",
  "data: <html>\n\n",
  "\r",
  "\0",
  "\ufeff",
  "<",
  "{",
  "[DONE]",
];

const ENDS = new Set(["complete", "early", "error", "no_room", "no_answer", "broken"]);

function mutate(random: () => number): Uint8Array {
  let text = random() < 0.8 ? STREAM : COMPLETION;
  const cuts = 1 + Math.floor(random() * 4);
  for (let i = 0; i < cuts; i++) {
    const at = Math.floor(random() * text.length);
    const length = Math.floor(random() * 40);
    const kind = random();
    if (kind < 0.3) text = text.slice(0, at) + text.slice(at + length);
    else if (kind < 0.6) {
      const splinter = SPLINTERS[Math.floor(random() * SPLINTERS.length)] ?? "";
      text = text.slice(0, at) + splinter + text.slice(at);
    } else if (kind < 0.8) text = text.slice(0, at) + text.slice(at, at + length) + text.slice(at);
    else text = text.slice(0, at);
  }
  const bytes = new TextEncoder().encode(text);
  for (let i = Math.floor(random() * 3); i > 0 && bytes.length > 0; i--) {
    bytes[Math.floor(random() * bytes.length)] = Math.floor(random() * 256);
  }
  return bytes;
}

/** Cuts bytes into packets; the last one may be a connection that breaks. */
function packets(bytes: Uint8Array, random: () => number): (Uint8Array<ArrayBuffer> | Error)[] {
  const pieces: (Uint8Array<ArrayBuffer> | Error)[] = [];
  for (let at = 0; at < bytes.length;) {
    const end = at + 1 + Math.floor(random() * 200);
    pieces.push(bytes.slice(at, end));
    at = end;
  }
  if (random() < 0.1) pieces.push(new Error("connection reset"));
  return pieces;
}

/** A body of bytes, as runtimes have it, or of chunks. */
function bodyOf(pieces: readonly (Uint8Array<ArrayBuffer> | Error)[], kind: "bytes" | "chunks") {
  const left = [...pieces];
  const pull = (controller: ReadableByteStreamController | ReadableStreamDefaultController) => {
    const piece = left.shift();
    if (piece instanceof Error) return controller.error(piece);
    if (piece !== undefined) return controller.enqueue(piece.slice());
    controller.close();
    if ("byobRequest" in controller) controller.byobRequest?.respond(0);
  };
  return kind === "bytes"
    ? new ReadableStream<Uint8Array>({ type: "bytes", pull })
    : new ReadableStream<Uint8Array>({ pull });
}

test("10 000 mutated streams each end in one of the documented ends, none throws", async () => {
  const random = numbers(20260101);
  const seen = new Map<string, number>();
  for (let i = 0; i < 10_000; i++) {
    const bytes = mutate(random);
    const pieces = packets(bytes, random);
    const textCalls = random() < 0.5;
    const words = () => `Stream ${i}: ${JSON.stringify(new TextDecoder().decode(bytes))}`;
    const read = async (kind: "bytes" | "chunks") => {
      let shown = "";
      const onEvent = (event: { readonly type: string; readonly text?: string }) => {
        shown += event.text ?? "";
      };
      const accumulator = createAccumulator({
        onEvent,
        toolNames: new Set(["read", "bash"]),
        textCalls,
      });
      const end = await readAnswer({
        body: bodyOf(pieces, kind),
        accumulator,
        onEvent,
        signal: new AbortController().signal,
        graceMs: 5,
      }).catch((error) => {
        throw new Error(words(), { cause: error });
      });
      assert(ENDS.has(end.type), end.type);
      assert(shown.length <= bytes.length);
      return { end, shown };
    };
    const { end, shown } = await read("bytes");
    // The buffer that is used again changes nothing.
    const other = await read("chunks");
    assert.equal(shown, other.shown, words());
    assert.equal(end.type, other.end.type, words());
    if (end.type === "complete") {
      for (const call of end.reply.message.toolCalls ?? []) {
        assert(call.id !== "" && call.name !== "");
      }
    }
    seen.set(end.type, (seen.get(end.type) ?? 0) + 1);
  }
  // The streams are of many kinds, so they do not all end alike.
  assert(seen.size >= 5, JSON.stringify([...seen]));
});
