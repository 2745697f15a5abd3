import assert from "node:assert/strict";
import { test } from "node:test";
import { resultText } from "./result_text.ts";
import { serverEnvironment } from "./server_environment.ts";
import { readServerTool } from "./server_tool.ts";

test("readServerTool() takes a schema as it is, without what says nothing to a model", () => {
  const inputSchema = {
    $schema: "http://json-schema.org/draft-07/schema#",
    type: "object",
    properties: { a: { $ref: "#/$defs/a" } },
    $defs: { a: { type: "string" } },
    additionalProperties: false,
  };
  const { $schema: _, ...parameters } = inputSchema;
  assert.deepEqual(readServerTool({ name: "t", description: " Does it. ", inputSchema }), {
    name: "t",
    description: "Does it.",
    parameters,
    readOnly: false,
  });
});

test("readServerTool() makes a usable schema of any other, and of none", () => {
  for (const inputSchema of [undefined, null, "x", [], { type: "string" }, {}]) {
    assert.deepEqual(readServerTool({ name: "t", inputSchema })?.parameters, {
      type: "object",
      properties: {},
    });
  }
});

test("readServerTool() bounds descriptions and schemas, with the facts", () => {
  const tool = readServerTool({
    name: "t",
    description: "word ".repeat(2000),
    inputSchema: { type: "object", properties: { a: { enum: Array(4000).fill("value") } } },
  });
  assert.match(tool?.description ?? "", /characters left out.*its schema has \d+ characters/su);
  assert.ok((tool?.description.length ?? 0) < 2200);
  assert.deepEqual(tool?.parameters, { type: "object" });
});

test("readServerTool() says what a tool is called where it says nothing of itself", () => {
  assert.equal(readServerTool({ name: "t", title: "Title" })?.description, "Title");
  assert.equal(readServerTool({ name: "t", annotations: { title: "Hint" } })?.description, "Hint");
  assert.equal(readServerTool({ name: "t", description: " " })?.description, "t");
});

test("readServerTool() believes only a plain true that a tool reads only", () => {
  const readOnly = (readOnlyHint: unknown) =>
    readServerTool({ name: "t", annotations: { readOnlyHint } })?.readOnly;
  assert.equal(readOnly(true), true);
  for (const value of ["true", 1, undefined, false, {}]) assert.equal(readOnly(value), false);
});

test("readServerTool() passes over what is no tool", () => {
  for (const entry of [undefined, null, "t", 1, [], {}, { name: "" }, { name: 7 }]) {
    assert.equal(readServerTool(entry), undefined);
  }
});

test("resultText() shows structured content once, whether or not it stands there as text", () => {
  const structuredContent = { a: [1, 2] };
  assert.equal(resultText({ content: [], structuredContent }).text, '{\n "a": [\n  1,\n  2\n ]\n}');
  const text = '{"a": [1, 2]}';
  assert.equal(resultText({ content: [{ type: "text", text }], structuredContent }).text, text);
});

test("resultText() has words for whatever a server sends", () => {
  assert.deepEqual(resultText({ content: [] }), { text: "[no content]", ok: true });
  assert.deepEqual(resultText({ isError: true }), {
    text: "[it failed without a word]",
    ok: false,
  });
  assert.equal(resultText({ toolResult: 7 }).text, "7");
  assert.equal(
    resultText({ content: [{ type: "hologram" }, null, { type: "image" }, { type: "text" }] }).text,
    '[content of the type "hologram", not shown]\n[content of the type "unknown", not shown]\n' +
      "[image unknown, 0 bytes, not shown]",
  );
});

test("serverEnvironment() keeps back what is mm's, and what an entry sets comes last", () => {
  const env = {
    PATH: "/bin",
    AGENT_API_KEY: "a",
    MM_CONFIG: "b",
    MM_ASK_DEPTH: "1",
    ANTHROPIC_API_KEY: "c",
    THE_KEY: "secret",
    HOME: "/home/ada",
    GONE: undefined,
  };
  assert.deepEqual(
    serverEnvironment({
      env,
      secrets: ["secret"],
      own: { HOME: "/tmp", ANTHROPIC_API_KEY: "passed on" },
    }),
    { PATH: "/bin", HOME: "/tmp", ANTHROPIC_API_KEY: "passed on" },
  );
});
