import { test } from "node:test";
import assert from "node:assert/strict";
import { createDemoClient } from "./demo.ts";
import type { Message, ModelEvent, ToolDeclaration } from "./types.ts";

function tool(name: string, ...required: string[]): ToolDeclaration {
  const properties = Object.fromEntries(required.map((field) => [field, { type: "string" }]));
  return { name, description: name, parameters: { type: "object", properties, required } };
}

const TOOLS = [
  tool("ask_agent", "agent", "prompt"),
  tool("ls"),
  tool("read", "path"),
  tool("write", "path", "content"),
  tool("bash", "command"),
  tool("agent", "description", "prompt", "run_in_background"),
];

async function say(messages: readonly Message[], tools = TOOLS) {
  const events: ModelEvent[] = [];
  const reply = await createDemoClient().complete({ messages, tools }, {
    signal: new AbortController().signal,
    patienceMs: 0,
    onEvent: (event) => void events.push(event),
  });
  const streamed = events.map((event) => event.type === "text" ? event.text : "").join("");
  assert.equal(streamed, reply.message.text);
  assert(reply.message.text.startsWith("[demo] "));
  assert.equal(reply.message.text.split("[demo]").length, 2);
  const call = reply.message.toolCalls?.[0];
  assert.equal(reply.finish, call === undefined ? "stop" : "tool_calls");
  return { reply, events, call: call && [call.name, JSON.parse(call.arguments)] };
}

const ask = (text: string, tools?: ToolDeclaration[]) => say([{ role: "user", text }], tools);

test("the demo turns each form of its grammar into a call of a declared tool", async () => {
  const cases = [
    ["ask bob what is 6 x 7?", "ask_agent", { agent: "bob", prompt: "what is 6 x 7?" }],
    ["Please ask bob: is it\nright?", "ask_agent", { agent: "bob", prompt: "is it\nright?" }],
    ["ask bob to review it", "ask_agent", { agent: "bob", prompt: "review it" }],
    ["list the files", "ls", {}],
    ["List the files in src/lib.", "ls", { path: "src/lib" }],
    ["read `notes.txt`", "read", { path: "notes.txt" }],
    ["read the file notes.txt", "read", { path: "notes.txt" }],
    ["write a.txt hello then goodbye", "write", { path: "a.txt", content: "hello then goodbye" }],
    ["run `echo hi`", "bash", { command: "echo hi" }],
    ["delegate: read `a.txt`", "agent", {
      description: "read `a.txt`",
      prompt: "read `a.txt`",
      run_in_background: false,
    }],
  ] as const;
  for (const [text, name, input] of cases) {
    assert.deepEqual((await ask(text)).call, [name, input], text);
  }
});

test("the demo answers anything else with what it is and what it understands", async () => {
  const { reply, call, events } = await ask("Explain monads");
  assert.equal(call, undefined);
  assert.match(reply.message.text, /You wrote: "Explain monads".*not a model.*ask <agent>/su);
  assert(events.length > 3, "it streams in several pieces");
});

test("the demo delegates a task whole, and sends no argument that its tool does not have", async () => {
  const task = `list the files\n${"x".repeat(100)}`;
  const { call } = await ask(`delegate ${task}`, [tool("agent", "description", "prompt")]);
  assert(call !== undefined);
  const [, input] = call;
  assert.deepEqual(Object.keys(input), ["description", "prompt"]);
  assert.equal(input.prompt, task);
  assert.match(input.description, /^list the files x+…$/u);
  const two = await ask("delegate read a.txt, then read b.txt");
  assert.deepEqual(two.call?.[1].prompt, "read a.txt");
});

test("the demo calls only what is declared", async () => {
  assert.equal((await ask("ask bob anything", [tool("read", "path")])).call, undefined);
});

test("the demo does steps one after the other and reports all results at the end", async () => {
  const messages: Message[] = [
    { role: "user", text: "old" },
    { role: "assistant", text: "[demo] old" },
    { role: "user", text: "write a.txt hello, then read a.txt" },
  ];
  const ids = new Set<string>();
  for (const result of ["Wrote 5 characters", "1\thello\n2\t\n3\tx\n4\ty\n5\tz\n6\tw"]) {
    const { reply } = await say(messages);
    const call = reply.message.toolCalls?.[0];
    assert(call !== undefined);
    ids.add(call.id);
    assert.match(call.id, /^[A-Za-z0-9]{9}$/u);
    messages.push(reply.message, { role: "tool", callId: call.id, name: call.name, text: result });
  }
  assert.equal(ids.size, 2);
  const { reply, call } = await say(messages);
  assert.equal(call, undefined);
  assert.equal(
    reply.message.text,
    "[demo] The tool `write` gave this:\n\n> Wrote 5 characters\n\n" +
      "The tool `read` gave this:\n\n> 1 hello\n> 2\n> 3 x\n> 4 y\n> (2 more lines)",
  );
});

test("the demo is always labelled, has no address, and stops when it is told to", async () => {
  const client = createDemoClient();
  assert.equal(client.label, "demo (no model)");
  assert.equal(client.url, "");
  assert.deepEqual(await client.facts({}), {});
  const controller = new AbortController();
  const reason = new Error("stop");
  await assert.rejects(
    client.complete({ messages: [{ role: "user", text: "hi" }], tools: [] }, {
      signal: controller.signal,
      patienceMs: 0,
      onEvent: () => controller.abort(reason),
    }),
    (error) => error === reason,
  );
});
