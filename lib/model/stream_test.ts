import { test } from "node:test";
import assert from "node:assert/strict";
import {
  askOnce,
  delta,
  events,
  plain,
  startRawServer,
  STREAM_HEAD,
  writeBytes,
} from "./testing.ts";
import { ModelError } from "./types.ts";

/** Serves the same bytes to every request and returns what came of one. */
async function answerTo(text: string, options: Parameters<typeof askOnce>[1] = {}) {
  await using server = await startRawServer((socket) => void socket.end(STREAM_HEAD + text));
  return { ...await askOnce(server, options), requests: server.chats.length };
}

/** The same for an answer that is an error. */
async function errorOf(text: string, options: Parameters<typeof askOnce>[1] = {}) {
  await using server = await startRawServer((socket) => void socket.end(text));
  try {
    await askOnce(server, options);
  } catch (error) {
    assert(error instanceof ModelError, String(error));
    assert(!error.message.includes("secret-key"), error.message);
    assert(!/[.]$/u.test(error.message), error.message);
    return { error, requests: server.chats.length };
  }
  throw new Error("no error came");
}

const DONE = "data: [DONE]\n\n";
const STOP = events(delta({}, "stop")) + DONE;
const call = (fields: Record<string, unknown>) => delta({ tool_calls: [fields] });

test("a stream in packets of one byte is read whole, with split characters", async () => {
  await using server = await startRawServer(async (socket) => {
    await writeBytes(socket, STREAM_HEAD);
    await writeBytes(socket, events(delta({ content: "für \u{1f600}" })) + STOP);
    socket.end();
  });
  const { reply } = await askOnce(server);
  assert.equal(reply.message.text, "für \u{1f600}");
  assert.equal(reply.finish, "stop");
});

test("a stream with CRLF, no space after data: and U+2028 is read whole", async () => {
  const text = (events(delta({ content: "a\u2028b" })) + STOP)
    .replaceAll("data: ", "data:").replaceAll("\n", "\r\n");
  assert.equal((await answerTo(text)).reply.message.text, "a\u2028b");
});

test("E01: a stream that ends without an end after text is an error that keeps the text", async () => {
  const { error, requests } = await errorOf(STREAM_HEAD + events(delta({ content: "half" })));
  assert.equal(error.kind, "malformed");
  assert.match(error.message, /the stream ended early/u);
  assert.match(error.message, /"m" at http:\/\/127\.0\.0\.1:\d+\/v1\/chat\/completions/u);
  assert.equal(error.partial?.text, "half");
  assert.equal(requests, 1, "what was shown is not asked for again");
});

test("E01: a stream that ends before anything was shown is asked for again", async () => {
  await using server = await startRawServer((socket, _, n) =>
    void socket.end(
      STREAM_HEAD +
        (n === 0 ? events(delta({ role: "assistant" })) : events(delta({ content: "ok" })) + STOP),
    )
  );
  const { reply, events: seen } = await askOnce(server);
  assert.equal(reply.message.text, "ok");
  assert.equal(server.chats.length, 2);
  assert.equal(seen.filter((event) => event.type === "waiting").length, 1);
});

test("E02: [DONE] without a finish reason is an end", async () => {
  const { reply } = await answerTo(events(delta({ content: "all" })) + DONE);
  assert.equal(reply.message.text, "all");
  assert.equal(reply.finish, "stop");
});

test("E03: a finish reason without [DONE] is an end, also on a connection that stays open", async () => {
  const text = events(delta({ content: "all" }), delta({}, "stop"));
  assert.equal((await answerTo(text)).reply.message.text, "all");
  await using server = await startRawServer((socket) => void socket.write(STREAM_HEAD + text));
  assert.equal((await askOnce(server)).reply.message.text, "all");
});

test("E04: an end in the middle of arguments runs no call", async () => {
  const begun = call({
    index: 0,
    id: "a",
    function: { name: "bash", arguments: '{"command": "rm -rf /tm' },
  });
  const { error, requests } = await errorOf(
    STREAM_HEAD + events(delta({ content: "I do" }), begun),
  );
  assert.equal(error.partial?.text, "I do");
  assert.equal(error.partial?.toolCalls, undefined);
  assert.equal(requests, 1);
});

test("E05: a connection that breaks in the middle keeps the text", async () => {
  await using server = await startRawServer((socket) => {
    socket.write(
      "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
    );
    const data = events(delta({ content: "half" }));
    socket.write(`${data.length.toString(16)}\r\n${data}\r\n`, () => {
      setTimeout(() => socket.resetAndDestroy(), 20);
    });
  });
  await assert.rejects(askOnce(server), (error: ModelError) => {
    assert.equal(error.kind, "malformed");
    assert.match(error.message, /stream ended early/u);
    assert.equal(error.partial?.text, "half");
    return true;
  });
});

test("E07: calls with the finish reason stop are calls", async () => {
  const { reply } = await answerTo(
    events(
      call({ index: 0, id: "call_1", function: { name: "read", arguments: '{"path":"a"}' } }),
    ) + STOP,
  );
  assert.equal(reply.finish, "tool_calls");
  assert.deepEqual(reply.message.toolCalls, [
    { id: "call_1", name: "read", arguments: '{"path":"a"}' },
  ]);
});

test("E09: chunks without choices, delta, content or role are passed over and usage is taken", async () => {
  const { reply } = await answerTo(
    events(
      { choices: [] },
      {},
      { choices: [{ index: 0, delta: null }] },
      delta({ content: null }),
      { choices: null },
      delta({ content: "hi" }),
      delta({ role: "assistant", content: "" }, "stop"),
      {
        choices: [],
        usage: {
          prompt_tokens: 10,
          completion_tokens: 2,
          prompt_tokens_details: { cached_tokens: 8 },
        },
      },
    ) + DONE,
  );
  assert.equal(reply.message.text, "hi");
  assert.deepEqual(reply.usage, { inputTokens: 10, outputTokens: 2, cachedTokens: 8 });
});

test("E16: an answer of nothing but reasoning is returned as such", async () => {
  const { reply } = await answerTo(events(delta({ reasoning_content: "hmm" })) + STOP);
  assert.equal(reply.message.text, "");
  assert.equal(reply.message.reasoning, "hmm");
});

test("E18: keep-alives, right and wrong, are signs of life and nothing else", async () => {
  const { reply, events: seen } = await answerTo(
    ": ping\n\n:\n\n: OPENROUTER PROCESSING\n\ndata: : OPENROUTER PROCESSING\n\n" +
      events(delta({ content: "ok" })) + STOP,
  );
  assert.equal(reply.message.text, "ok");
  assert(seen.filter((event) => event.type === "alive").length >= 4);
});

test("one broken data line does not lose the stream", async () => {
  const { reply } = await answerTo(
    events(delta({ content: "a" })) + 'data: {"choices": [{"del\n\n' +
      events(delta({ content: "b" })) + STOP,
  );
  assert.equal(reply.message.text, "ab");
});

test("E21: a page of HTML is an error that quotes it, and is not asked for again", async () => {
  const page = `<!DOCTYPE html><html><body>${"Welcome to nginx ".repeat(500)}</body></html>`;
  const { error, requests } = await errorOf(STREAM_HEAD + page);
  assert.equal(error.kind, "malformed");
  assert.match(error.message, /a page of HTML: "<!DOCTYPE html>/u);
  assert(error.message.length < 500);
  assert.match(error.message, /check "baseUrl"/u);
  assert.equal(requests, 1);
});

test("E21: a whole completion instead of a stream is taken", async () => {
  await using server = await startRawServer((socket) =>
    void socket.end(plain(
      200,
      JSON.stringify(
        {
          choices: [{
            index: 0,
            message: {
              role: "assistant",
              content: "plain",
              tool_calls: [{
                id: "x",
                type: "function",
                function: { name: "read", arguments: "{}" },
              }],
            },
            finish_reason: "tool_calls",
          }],
          usage: { prompt_tokens: 1, completion_tokens: 2 },
        },
        null,
        2,
      ),
    ))
  );
  const { reply } = await askOnce(server);
  assert.equal(reply.message.text, "plain");
  assert.deepEqual(reply.message.toolCalls, [{ id: "x", name: "read", arguments: "{}" }]);
  assert.deepEqual(reply.usage, { inputTokens: 1, outputTokens: 2 });
});

test("E21: an empty body is an error after a few attempts", async () => {
  const { error, requests } = await errorOf(STREAM_HEAD, {
    client: { timing: { baseMs: 1, few: 2 } },
  });
  assert.equal(error.kind, "malformed");
  assert.match(error.message, /an empty answer \(3 attempts in /u);
  assert.equal(requests, 3);
});

test("plain text and JSON of another kind are quoted", async () => {
  const quick = { client: { timing: { baseMs: 1, few: 1 } } };
  const text = await errorOf(STREAM_HEAD + "upstream is asleep\n", quick);
  assert.match(text.error.message, /no answer: "upstream is asleep"/u);
  const json = await errorOf(plain(200, '{"hello": "world"}'));
  assert.match(json.error.message, /no chat completion: "\{"hello": "world"\}"/u);
});

test("an error inside a stream is an error with the server's words and the text so far", async () => {
  for (
    const data of [
      events({ error: { message: "the model fell over", code: "boom" } }),
      events({ error: "the model fell over" }),
      'event: error\ndata: {"message": "the model fell over"}\n\n',
      events({ type: "error", error: { message: "the model fell over" } }),
      events({
        choices: [{ delta: {}, finish_reason: "error", error: { message: "the model fell over" } }],
      }),
      'error: {"code": 400, "message": "the model fell over"}\n\n',
    ]
  ) {
    const { error } = await errorOf(
      STREAM_HEAD + events(delta({ content: "so far" })) + data + DONE,
    );
    assert.equal(error.kind, "server", data);
    assert.match(error.message, /the model fell over/u);
    assert.equal(error.partial?.text, "so far");
  }
});

test("a <think> block at the beginning is thought, however it is cut", async () => {
  const content = "\n<think>\nI think </thi of a tag</think>\n\nThe <think> answer";
  for (const size of [1, 2, 3, 7, 100]) {
    const pieces: unknown[] = [];
    for (let at = 0; at < content.length; at += size) {
      pieces.push(delta({ content: content.slice(at, at + size) }));
    }
    const { reply, events: seen } = await answerTo(events(...pieces) + STOP);
    assert.equal(reply.message.text, "The <think> answer");
    assert.equal(reply.message.reasoning, "I think </thi of a tag");
    const shown = seen.map((event) => event.type === "text" ? event.text : "").join("");
    assert.equal(shown, "The <think> answer");
  }
});

test("reasoning is found under all its names, once where it comes twice", async () => {
  const { reply } = await answerTo(
    events(
      delta({ reasoning_content: "a" }),
      delta({ reasoning: "b", reasoning_details: [{ type: "reasoning.text", text: "b" }] }),
      delta({ reasoning_details: [{ type: "reasoning.summary", summary: "c" }] }),
      delta({ reasoning: "d", reasoning_content: "d" }),
      delta({ content: [{ type: "thinking", thinking: [{ type: "text", text: "e" }] }] }),
      delta({ content: [{ type: "text", text: "answer" }] }),
    ) + STOP,
  );
  assert.equal(reply.message.reasoning, "abcde");
  assert.equal(reply.message.text, "answer");
});

test("an answer that met its limit is marked and none of its calls is returned", async () => {
  const { reply } = await answerTo(
    events(
      delta({ content: "long" }),
      call({ index: 0, id: "a", function: { name: "bash", arguments: '{"command":"ls"}' } }),
      delta({}, "length"),
    ) + DONE,
  );
  assert.equal(reply.finish, "length");
  assert.equal(reply.message.toolCalls, undefined);
});

test("E26: a limit before the first word means that the window is full", async () => {
  const { error } = await errorOf(STREAM_HEAD + events(delta({}, "length")) + DONE);
  assert.equal(error.kind, "context_exceeded");
});

test("a refusal by a filter is marked", async () => {
  const { reply } = await answerTo(
    events(delta({ content: "I" }), delta({}, "content_filter")) + DONE,
  );
  assert.equal(reply.finish, "refusal");
});

test("an event above 16 MiB ends the request and memory stays bounded", async () => {
  const { error } = await errorOf(STREAM_HEAD + "data: " + "x".repeat(17 * 1024 * 1024));
  assert.equal(error.kind, "malformed");
  assert.match(error.message, /one event is larger than 16777216 characters/u);
});

test("a cancel in the middle of a stream ends the request at once and closes the connection", async () => {
  let closed = () => {};
  const gone = new Promise<void>((resolve) => closed = resolve);
  await using server = await startRawServer((socket) => {
    socket.on("close", closed);
    socket.write(STREAM_HEAD + events(delta({ content: "first" })));
  });
  const controller = new AbortController();
  const reason = new Error("the person pressed Esc");
  await assert.rejects(
    askOnce(server, {
      signal: controller.signal,
      onEvent: (event) => event.type === "text" && controller.abort(reason),
    }),
    (error) => error === reason,
  );
  await gone;
});

test("a cancel before the headers ends the request at once", async () => {
  const controller = new AbortController();
  await using server = await startRawServer(() => controller.abort());
  await assert.rejects(askOnce(server, { signal: controller.signal }), { name: "AbortError" });
});

test("20 000 chunks are read in a short time, one event for each", async () => {
  const body = events(...Array.from({ length: 20_000 }, (_, i) => delta({ content: `w${i} ` }))) +
    STOP;
  await using server = await startRawServer((socket) => void socket.end(STREAM_HEAD + body));
  const began = performance.now();
  const { reply, events: seen } = await askOnce(server);
  assert.equal(seen.filter((event) => event.type === "text").length, 20_000);
  assert(reply.message.text.endsWith("w19999 "));
  // Some 100 ms where nothing else runs; the bound only catches work that grows with the square.
  assert(performance.now() - began < 5000);
});
