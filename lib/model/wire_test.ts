import { test } from "node:test";
import assert from "node:assert/strict";
import { PRESETS } from "./presets.ts";
import type { Message } from "./types.ts";
import { wireBody } from "./wire.ts";

const { quirks } = PRESETS.custom;
const declared = {
  name: "read",
  description: "Reads",
  parameters: { type: "object", properties: { path: { type: "string" } } },
};

const HISTORY: readonly Message[] = [
  { role: "system", text: "Be brief" },
  { role: "user", text: "look", images: [{ mimeType: "image/png", data: "AAAA" }] },
  {
    role: "assistant",
    text: "",
    reasoning: "hm",
    toolCalls: [
      { id: "call_1", name: "read", arguments: '{"path": "a"}' },
      { id: "call_2", name: "read", arguments: "" },
      { id: "call_3", name: "read", arguments: '{"path": ' },
    ],
  },
  { role: "tool", callId: "call_1", name: "read", text: "A" },
  { role: "tool", callId: "call_2", name: "read", text: "path is missing" },
  { role: "tool", callId: "call_3", name: "read", text: "broken" },
  { role: "assistant", text: "done", reasoning: "so" },
  { role: "user", text: "more \ud83d" },
];

test("wireBody() writes the whole shape, messages last", () => {
  const body = wireBody({ messages: HISTORY, tools: [declared] }, {
    model: "m",
    quirks,
    config: { temperature: 0.5, topP: 0.9, maxTokens: 100, reasoning: "low" },
  });
  assert.deepEqual(JSON.parse(JSON.stringify(body)), {
    model: "m",
    tools: [{ type: "function", function: declared }],
    temperature: 0.5,
    top_p: 0.9,
    max_tokens: 100,
    reasoning_effort: "low",
    stream: true,
    stream_options: { include_usage: true },
    messages: [
      { role: "system", content: "Be brief" },
      {
        role: "user",
        content: [
          { type: "text", text: "look" },
          { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        ],
      },
      {
        role: "assistant",
        content: "",
        tool_calls: [
          {
            id: "call_1",
            type: "function",
            function: { name: "read", arguments: '{"path": "a"}' },
          },
          { id: "call_2", type: "function", function: { name: "read", arguments: "{}" } },
          {
            id: "call_3",
            type: "function",
            function: { name: "read", arguments: '{"invalid_arguments":"{\\"path\\": "}' },
          },
        ],
      },
      { role: "tool", tool_call_id: "call_1", content: "A" },
      { role: "tool", tool_call_id: "call_2", content: "path is missing" },
      { role: "tool", tool_call_id: "call_3", content: "broken" },
      { role: "assistant", content: "done" },
      { role: "user", content: "more \ufffd" },
    ],
  });
  assert.equal(Object.keys(body).at(-1), "messages");
});

test("F06: each request begins with the one before, byte for byte, for every provider", () => {
  for (const preset of Object.values(PRESETS)) {
    let before = "";
    for (let n = 1; n <= HISTORY.length; n++) {
      const text = JSON.stringify(wireBody({ messages: HISTORY.slice(0, n), tools: [declared] }, {
        model: "m",
        quirks: preset.quirks,
        config: {},
      }));
      assert(text.endsWith("]}"));
      assert(text.startsWith(before), preset.name);
      before = text.slice(0, -2);
    }
  }
});

test("without tools there is no tools field, and quirks decide the other fields", () => {
  const request = { messages: HISTORY, tools: [] };
  const of = (name: "openai" | "mistral" | "openrouter" | "deepseek" | "gemini") =>
    JSON.parse(JSON.stringify(wireBody(request, {
      model: "m",
      quirks: PRESETS[name].quirks,
      config: { maxTokens: 5, reasoning: "high" },
    })));
  assert(!("tools" in of("openai")));
  assert.equal(of("openai").max_completion_tokens, 5);
  assert(!("stream_options" in of("mistral")));
  assert.deepEqual(of("openrouter").reasoning, { effort: "high" });
  assert.equal(of("deepseek").messages[2].reasoning_content, "hm");
  assert.equal(of("openai").messages[2].reasoning_content, undefined);
  assert.equal(
    of("gemini").messages[2].tool_calls[0].extra_content.google.thought_signature,
    "skip_thought_signature_validator",
  );
});

test("F07: ids for Mistral have nine letters and digits and still match their results", () => {
  const body = wireBody({ messages: HISTORY, tools: [] }, {
    model: "m",
    quirks: PRESETS.mistral.quirks,
    config: {},
  });
  const { messages } = JSON.parse(JSON.stringify(body));
  const ids = messages[2].tool_calls.map((call: { id: string }) => call.id);
  for (const id of ids) assert.match(id, /^[A-Za-z0-9]{9}$/u);
  assert.deepEqual([3, 4, 5].map((i) => messages[i].tool_call_id), ids);
});

test("what a server gave with a call goes back to it unchanged", () => {
  const extra = { extra_content: { google: { thought_signature: "abc" } } };
  const body = wireBody({
    tools: [],
    messages: [{
      role: "assistant",
      text: "",
      toolCalls: [{ id: "x", name: "read", arguments: "{}" }],
      callExtras: { x: extra },
    }],
  }, { model: "m", quirks: PRESETS.gemini.quirks, config: {} });
  assert.deepEqual(JSON.parse(JSON.stringify(body)).messages[0].tool_calls[0], {
    id: "x",
    type: "function",
    function: { name: "read", arguments: "{}" },
    ...extra,
  });
});
