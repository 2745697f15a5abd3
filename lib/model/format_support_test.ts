import assert from "node:assert/strict";
import { test } from "node:test";
import type { Failure } from "./failure.ts";
import { FormatSupport } from "./format_support.ts";
import { PRESETS } from "./presets.ts";
import type { ModelRequest } from "./types.ts";
import { wireBody } from "./wire.ts";

const TOOL = { name: "read", description: "Reads", parameters: { type: "object" } };

function request(options: { tools: boolean; due: boolean }): ModelRequest {
  return {
    messages: [{ role: "user", text: "hi" }],
    tools: options.tools ? [TOOL] : [],
    responseFormat: { name: "answer", schema: { type: "object" }, due: options.due },
  };
}

const alone = request({ tools: false, due: false });
const working = request({ tools: true, due: false });
const due = request({ tools: true, due: true });

function refusal(text: string, status = 400): Failure {
  return { condition: "status", status, words: { text } };
}

test("a schema goes along where nothing speaks against it", () => {
  const grammar = new FormatSupport({ freely: false });
  assert.ok(grammar.sends(alone));
  assert.ok(!grammar.sends(working), "a grammar would keep the model from its tools");
  assert.ok(grammar.sends(due));
  const free = new FormatSupport({ freely: true });
  assert.ok(free.sends(working));
  assert.ok(!free.sends({ messages: [], tools: [] }));
});

test("E29: a refusal together with tools leaves the schema for requests without tools", () => {
  for (
    const words of [
      "Cannot use custom grammar constraints with tools.",
      "json mode cannot be combined with tool/function calling",
      "Function calling with a response mime type: 'application/json' is unsupported",
      "response_format: Extra inputs are not permitted",
    ]
  ) {
    const formats = new FormatSupport({ freely: true });
    assert.ok(formats.learns(refusal(words), working), words);
    assert.ok(!formats.sends(working));
    assert.ok(!formats.sends(due));
    assert.ok(formats.sends(alone));
    assert.ok(formats.learns(refusal("This response_format type is unavailable now"), alone));
    assert.ok(!formats.sends(alone));
  }
});

test("a failure that is about something else teaches nothing", () => {
  const formats = new FormatSupport({ freely: true });
  assert.ok(!formats.learns(refusal("model not found", 404), alone));
  assert.ok(!formats.learns(refusal("response_format is busy", 429), alone));
  assert.ok(!formats.learns({ condition: "refused", words: { text: "grammar" } }, alone));
  assert.ok(!formats.learns(refusal("bad response_format"), { messages: [], tools: [] }));
  assert.ok(formats.sends(alone));
});

test("the body carries the schema as chat completions know it, before the messages", () => {
  const options = { model: "m", config: {}, quirks: PRESETS.llamacpp.quirks };
  const body = wireBody(alone, options);
  assert.deepEqual(body["response_format"], {
    type: "json_schema",
    json_schema: { name: "answer", schema: { type: "object" } },
  });
  assert.equal(Object.keys(body).at(-1), "messages");
  assert.equal(wireBody(alone, { ...options, sendFormat: false })["response_format"], undefined);
});
