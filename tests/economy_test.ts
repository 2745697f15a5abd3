import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { askAgent, bash, writeAgents } from "./support/agents.ts";
import { always, forModel, inOrder, type RecordedRequest } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { withProject } from "./support/project.ts";
import { rawMembers } from "./support/raw_json.ts";

/** The most that a first request may take, in bytes. */
const FIRST_REQUEST = 8192;

/** A request's body from its first byte to the last message, before the messages are closed. */
function upToLastMessage({ raw }: RecordedRequest): string {
  const messages = rawMembers(raw).get("messages") ?? "";
  const at = raw.indexOf(messages);
  assert.ok(messages.startsWith("[") && at > 0);
  return raw.slice(0, at + messages.length - 1);
}

/** Checks that each request begins with the bytes of the one before it. */
function assertGrows(requests: readonly RecordedRequest[]): void {
  for (const [index, request] of requests.entries()) {
    const before = requests[index - 1];
    if (before === undefined) continue;
    assert.ok(request.raw.startsWith(upToLastMessage(before)), `request ${request.number}`);
    assert.ok(request.bytes.length > before.bytes.length);
  }
}

test("a plain prompt costs one model request, by whatever way it comes", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, always({ text: "Hi." }));
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "Hello");
    assert.equal(server.requests.length, 1);
    await p.runMm(["-p", "Hello"]);
    assert.equal(server.requests.length, 2);
    await p.runMm(["-line"], { stdin: "Hello\n" });
    assert.equal(server.requests.length, 3);
  }));

test("slash commands that only tell something cost no model request", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, []);
    const { code } = await p.runMm(["-line"], {
      stdin: "/help\n/agents\n/model\n/tools\n/status\n/yolo on\n/new\n/quit\n",
    });
    assert.equal(code, 0);
    assert.equal(server.requests.length, 0);
  }));

test("an ask that the model makes costs three model requests, a typed one a single one", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "Why?")] }, { text: "So." })),
        forModel("bob", always({ text: "Because." })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "Ask bob");
    assert.deepEqual(server.requests.map((r) => r.model), ["you", "bob", "you"]);
    await editor.prompt(session, "/ask-bob Why?");
    assert.deepEqual(server.requests.slice(3).map((r) => r.model), ["bob"]);
    await p.runMm(["--ask", "bob", "Why?"]);
    assert.deepEqual(server.requests.slice(4).map((r) => r.model), ["bob"]);
  }));

test("the first request with all tools and two agents to ask stays within 8 KB", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: always({ text: "Hi." }) });
    await writeAgents(p, {
      server,
      entries: { eve: { path: "riker.yaml", description: "reviews changes before a release" } },
    });
    const { stdout } = await p.runMm(["-p", "What does this project do?"]);
    assert.equal(stdout, "Hi.\n");
    const [request] = server.requests;
    for (const name of "bash read write edit glob grep ls ask_agent".split(" ")) {
      assert.ok(request?.toolNames.includes(name), name);
    }
    assert.match(request?.raw ?? "", /"eve|eve[^a-z]/);
    const bytes = request?.bytes.length ?? Infinity;
    const tools = request?.toolNames.join(" ");
    process.stdout.write(`the first request has ${bytes} bytes with the tools ${tools}\n`);
    assert.ok(bytes <= FIRST_REQUEST, `${bytes} bytes`);
  }));

test("each request of a conversation begins with the bytes of the one before it", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      inOrder(
        {
          reasoning: "Look first.",
          text: "Let me see.",
          toolCalls: [bash("echo a"), bash("false")],
        },
        { toolCalls: [{ name: "read", arguments: { path: "agent.yaml" } }] },
        { text: "Fine \u{1f600}." },
        { text: "Half", finish: "length" },
        { status: 400, body: "no" },
        { text: "Again." },
      ),
      { yolo: true },
    );
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "One");
    await editor.prompt(session, "Two");
    await assert.rejects(editor.prompt(session, "Three"));
    await editor.prompt(session, "/yolo off");
    await editor.prompt(session, "Four");
    assert.equal(server.requests.length, 6);
    assertGrows(server.requests);
  }));

test("the beginning holds nothing that differs between two starts in one directory", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, always({ text: "Hi." }));
    await p.runMm(["-p", "Hello"]);
    await p.runMm(["-p", "Hello"]);
    await p.runMm(["-yolo", "-p", "Hello"]);
    const [first, second, third] = server.requests;
    assert.equal(second?.raw, first?.raw);
    assert.equal(third?.raw, first?.raw);
  }));

test("a typed ask adds its pair at the end and changes nothing before it", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [forModel("you", always({ text: "Yes." })), forModel("bob", always({ text: "No." }))],
    });
    await writeAgents(p, { server });
    const editor = p.editor();
    const session = await editor.start();
    for (const prompt of ["One", "/ask-bob Two?", "/ask-bob Three?", "Four"]) {
      await editor.prompt(session, prompt);
    }
    assertGrows(server.requests.filter((r) => r.model === "you"));
  }));

test("probing asks for facts only and never for a completion", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, []);
    const editor = p.editor();
    await editor.start();
    await editor.newSession();
    assert.equal(server.requests.length, 0);
    for (const probe of server.probes) assert.equal(probe.method, "GET");
  }));
