import assert from "node:assert/strict";
import { test } from "node:test";
import { createModelClient } from "../model/client.ts";
import { delta, events, startRawServer, STREAM_HEAD } from "../model/testing.ts";
import type { Tool } from "../tools/tool.ts";
import { Conversation } from "./conversation.ts";
import { quietEnvironment } from "./testing.ts";
import { runTurn, type TurnOptions } from "./turn.ts";

/** A tool that looks how something goes on. */
function look(more: Partial<Tool> = {}): Tool {
  return {
    name: "look",
    kind: "other",
    description: "",
    parameters: {},
    gated: false,
    parallel: false,
    parse: (input) => ({ input }),
    preview: () => Promise.resolve({ title: "look" }),
    run: () => Promise.resolve({ ok: true, text: "still" }),
    ...more,
  };
}

/** What a test reads of a request. */
interface Sent {
  readonly tools: readonly { readonly function: unknown }[];
  readonly messages: readonly { readonly role: string; readonly content: string | null }[];
}

/** Runs a turn on a model that answers with a chunk, by the number of the request. */
async function turn(
  reply: (request: number) => unknown,
  more: Partial<TurnOptions> & Pick<TurnOptions, "tools">,
) {
  await using server = await startRawServer((socket, _request, n) => {
    socket.end(STREAM_HEAD + events(reply(n + 1), "[DONE]"));
  });
  const model = createModelClient({
    config: { provider: "custom", baseUrl: server.url, model: "m" },
    env: {},
  });
  const outcome = await runTurn({
    conversation: new Conversation("s"),
    model,
    text: "Go",
    watchdogTimeoutMs: 60_000,
    ...quietEnvironment(),
    ...more,
  });
  return { outcome, requests: server.chats.map(({ body }) => JSON.parse(body) as Sent) };
}

const CALL = { id: "c1", name: "look", arguments: "{}" };

const calls = (n: number) =>
  delta({
    tool_calls: [{ index: 0, id: `c${n}`, function: { name: "look", arguments: "{}" } }],
  }, "tool_calls");

const says = (text: string) => delta({ content: text }, "stop");

test("a tool that may be called again and again is no circle, any other one is", async () => {
  const reply = (n: number) => n <= 20 ? calls(n) : says("Done.");
  const polling = await turn(reply, { tools: [look({ repeatable: true })] });
  assert.deepEqual(polling.outcome.end, { kind: "answered" });
  assert.ok(polling.requests.at(-1)?.messages.every(({ content }) => !content?.includes("[mm:")));
  const circling = await turn(reply, { tools: [look()] });
  assert.deepEqual(circling.outcome.end, { kind: "incomplete", limit: "loop" });
});

test("what is declared in place of the tools is sent as it is", async () => {
  const declared = [
    { name: "z", description: "last first", parameters: { b: 1, a: 2 } },
    { name: "look", description: "other words", parameters: {} },
  ];
  const { requests } = await turn((n) => n === 1 ? calls(n) : says("Done."), {
    tools: [look()],
    declared,
  });
  const sent = requests[0]?.tools.map((tool) => tool.function);
  assert.equal(JSON.stringify(sent), JSON.stringify(declared));
  assert.equal(requests[1]?.messages.at(-1)?.content, "still");
});

test("a turn can begin with results in place of a question", async () => {
  const conversation = new Conversation("s");
  conversation.restore([
    { role: "user", text: "Go" },
    { role: "assistant", text: "", toolCalls: [CALL] },
  ]);
  const { requests, outcome } = await turn(() => says("Done."), {
    conversation,
    tools: [look()],
    begin: (begun) => begun.addToolResult({ callId: "c1", name: "look", text: "You are a fork" }),
  });
  assert.deepEqual(outcome.end, { kind: "answered" });
  assert.deepEqual(requests[0]?.messages.map(({ role }) => role), [
    "system",
    "user",
    "assistant",
    "tool",
  ]);
});

test("a turn that is cancelled keeps the result of a call that has something to say all the same", async () => {
  const stop = new AbortController();
  const conversation = new Conversation("s");
  const told = look({
    run: () => {
      stop.abort();
      return Promise.resolve({ ok: false, text: "half of it", toldIfCancelled: true });
    },
  });
  const { outcome, requests } = await turn(() => calls(1), {
    conversation,
    tools: [told],
    signal: stop.signal,
  });
  assert.equal(outcome.end.kind, "cancelled");
  assert.equal(requests.length, 1);
  assert.deepEqual(
    conversation.messages.flatMap((one) => one.role === "tool" ? [one.text] : []),
    ["half of it"],
  );
});
