import assert from "node:assert/strict";
import { test } from "node:test";
import type { ChildOpening } from "../agents/child_connection.ts";
import { ChildError } from "../agents/child_connection.ts";
import type { CreateSessionOptions } from "../session/types.ts";
import { serveAcp } from "./agent.ts";
import { connectChild } from "./client.ts";
import { fieldsOf } from "./fields.ts";
import { pipes, RawPeer, ScriptedHost, type ScriptedHostOptions, type Turn } from "./testing.ts";

const soon = () => AbortSignal.timeout(5000);

const quiet = {
  signal: soon(),
  onUpdate: () => {},
  onPermission: () => Promise.resolve({ kind: "reject_once" } as const),
};

async function connected(turn: Turn, options: Partial<ScriptedHostOptions> = {}) {
  const { near, far } = pipes();
  const created: CreateSessionOptions[] = [];
  const host = new ScriptedHost({
    turn,
    subagent: true,
    onCreate: (options) => created.push(options),
    ...options,
  });
  const done = serveAcp({ host, streams: far, version: "1", signal: new AbortController().signal });
  const streams = { stdin: near.output, stdout: near.input };
  const connection = await connectChild(streams, { signal: soon() });
  const close = async () => {
    connection.close();
    await done;
  };
  return { host, connection, created, close };
}

const still: Turn = () => Promise.resolve();

test("what a subagent's session begins with reaches its host", async () => {
  const opening: ChildOpening = {
    save: false,
    mcpServers: [
      { name: "files", command: ["serve", "--all"], env: { ROOT: "/x" } },
      { name: "web", url: "http://127.0.0.1:1/mcp", headers: { authorization: "Bearer t" } },
    ],
    fork: {
      system: "You are you.",
      tools: [{ name: "ls", description: "Lists", parameters: { type: "object" } }],
      allow: [],
    },
  };
  const { connection, created, close } = await connected(still);
  await connection.newSession({ cwd: "/", signal: soon(), opening });
  await connection.newSession({ cwd: "/", signal: soon() });
  const [first, second] = created;
  assert.equal(first?.save, false);
  assert.deepEqual(first?.fork, opening.fork);
  assert.deepEqual(first?.mcpServers, opening.mcpServers);
  assert.equal(second?.save, undefined);
  assert.equal(second?.fork, undefined);
  await close();
});

test("a fork is ignored by a process that is no subagent's", async () => {
  const { connection, created, close } = await connected(still, { subagent: false });
  const fork = { system: "Obey.", tools: [] };
  await connection.newSession({ cwd: "/", signal: soon(), opening: { fork } });
  assert.equal(created[0]?.fork, undefined);
  await close();
});

test("a message reaches the session whose prompt runs, and no other", async () => {
  const begun = Promise.withResolvers<void>();
  const go = Promise.withResolvers<void>();
  const { host, connection, close } = await connected(async () => {
    begun.resolve();
    await go.promise;
  });
  const one = await connection.newSession({ cwd: "/", signal: soon() });
  const two = await connection.newSession({ cwd: "/", signal: soon() });
  assert.equal(await one.steer("too early"), false);
  const prompt = one.prompt("work", quiet);
  await begun.promise;
  assert.equal(await one.steer("in time"), true);
  assert.equal(await two.steer("to nobody"), false);
  const [first] = host.sessions;
  host.steers = false;
  assert.equal(await one.steer("past the last look"), false);
  go.resolve();
  await prompt;
  assert.equal(await one.steer("too late"), false);
  assert.deepEqual(first?.steered, ["in time"]);
  await close();
});

test("a message is not accepted once the connection is gone", async () => {
  const begun = Promise.withResolvers<void>();
  const { connection, close } = await connected(async ({ signal }) => {
    begun.resolve();
    await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
  });
  const session = await connection.newSession({ cwd: "/", signal: soon() });
  const prompt = session.prompt("work", quiet).catch(() => {});
  await begun.promise;
  await close();
  assert.equal(await session.steer("hello?"), false);
  await prompt;
});

test("an agent that saves nothing cannot go on with a session", async () => {
  const { connection, close } = await connected(still);
  await assert.rejects(
    connection.loadSession({ id: crypto.randomUUID(), cwd: "/", signal: soon() }),
    (error) => {
      assert.ok(error instanceof ChildError);
      assert.equal(error.message, "it cannot go on with a saved session");
      return true;
    },
  );
  await close();
});

test("a message to an unknown session, or of another shape, is an error", async () => {
  const { near, far } = pipes();
  const host = new ScriptedHost({ turn: still });
  const done = serveAcp({ host, streams: far, version: "1", signal: new AbortController().signal });
  const peer = new RawPeer(near);
  const sessionId = await peer.hello();
  const code = async (params: unknown) =>
    fieldsOf((await peer.request("_mm/steer", params))["error"])["code"];
  assert.equal(await code({ sessionId: "none", text: "hello" }), -32002);
  assert.equal(await code({ sessionId, text: " " }), -32602);
  assert.equal(await code({ sessionId, text: ["hello"] }), -32602);
  assert.equal(await code({ text: "hello" }), -32602);
  assert.deepEqual(await peer.result("_mm/steer", { sessionId, text: "hello" }), {
    accepted: false,
  });
  await peer.end();
  await done;
});
