import assert from "node:assert/strict";
import { Writable } from "node:stream";
import { test } from "node:test";
import { ChildError, type ChildSession, type ChildUpdate } from "../agents/child_connection.ts";
import type { PermissionAnswer } from "../gate/question.ts";
import { connectChild } from "./client.ts";
import { guardConsole } from "./console.ts";
import { type Fields, fieldsOf } from "./fields.ts";
import { pipes, RawPeer } from "./testing.ts";

const soon = () => AbortSignal.timeout(5000);

/** A program on the other side that does what `answer` does with each request. */
function program(answer: (peer: RawPeer, message: Fields) => void) {
  const { near, far } = pipes();
  const peer = new RawPeer(far);
  peer.onRequest = (message) => answer(peer, message);
  const streams = { stdin: near.output, stdout: near.input };
  return { peer, streams };
}

interface AgentScript {
  readonly initialize?: object;
  readonly session?: object;
  readonly prompt?: (peer: RawPeer, id: unknown, params: Fields) => void;
}

/** A minimal agent, connected, with one session. */
async function withAgent(script: AgentScript) {
  const { peer, streams } = program((peer, { id, method, params }) => {
    const result = (result: object) => void peer.send({ id, result });
    switch (method) {
      case "initialize":
        return result({ protocolVersion: 1, ...script.initialize });
      case "session/new":
        return result({ sessionId: "s1", ...script.session });
      case "session/prompt":
        return script.prompt?.(peer, id, fieldsOf(params));
      default:
        return result({});
    }
  });
  const connection = await connectChild(streams, { signal: soon() });
  const session = await connection.newSession({ cwd: "/x", signal: soon() });
  return { peer, connection, session };
}

async function prompt(session: ChildSession, signal: AbortSignal = soon()) {
  const updates: ChildUpdate[] = [];
  const reply = await session.prompt("question", {
    signal,
    onUpdate: (update) => updates.push(update),
    onPermission: () => Promise.resolve({ kind: "reject_once" }),
  });
  return { updates, reply };
}

const update = (update: object, sessionId = "s1") => ({
  method: "session/update",
  params: { sessionId, update },
});

const chunk = (text: string, sessionId?: string) =>
  update({ sessionUpdate: "agent_message_chunk", content: { type: "text", text } }, sessionId);

test("an agent of another version is refused with the version it named", async () => {
  const { streams } = program((peer, { id }) =>
    void peer.send({ id, result: { protocolVersion: 2 } })
  );
  await assert.rejects(connectChild(streams, { signal: soon() }), (error) => {
    assert.ok(error instanceof ChildError);
    assert.equal(error.kind, "protocol");
    assert.match(error.message, /version 2 of the protocol, mm speaks 1/u);
    return true;
  });
});

test("a program that prints text and never answers is given up, with what it printed", async () => {
  const { peer, streams } = program(() => {});
  await peer.write("Welcome to the calculator!\n> ");
  const stop = new AbortController();
  setTimeout(() => stop.abort(new DOMException("Too slow", "TimeoutError")), 50);
  await assert.rejects(connectChild(streams, { signal: stop.signal }), (error) => {
    assert.ok(error instanceof ChildError);
    assert.match(error.message, /in time; it printed "Welcome to the calculator! >"$/u);
    return true;
  });
  assert.equal(peer.seen.filter((message) => "error" in message).length, 0);
});

test("a program that echoes its input or ends at once is no agent", async () => {
  const { near, far } = pipes();
  void far.input.pipeTo(far.output);
  const echo = { stdin: near.output, stdout: near.input };
  await assert.rejects(connectChild(echo, { signal: soon() }), /with an error/u);
  const gone = program(() => {});
  await gone.peer.end();
  await assert.rejects(
    connectChild(gone.streams, { signal: soon() }),
    /closed its output before it answered "initialize"; it printed nothing/u,
  );
});

test("a cancel during the greeting is passed on as it is", async () => {
  const { streams } = program(() => {});
  const stop = new AbortController();
  const connecting = connectChild(streams, { signal: stop.signal });
  const reason = new Error("the user left");
  stop.abort(reason);
  await assert.rejects(connecting, reason);
});

test("lines that are no JSON do not disturb an agent that speaks", async () => {
  const { peer, session } = await withAgent({
    prompt: (peer, id) =>
      void peer.write("debug: thinking\n").then(() =>
        peer.send(chunk("yes"), { id, result: { stopReason: "end_turn" } })
      ),
  });
  const { updates, reply } = await prompt(session);
  assert.deepEqual(updates, [{ type: "text", text: "yes" }]);
  assert.equal(reply.stop, "end_turn");
  assert.ok(!peer.seen.some((message) => "error" in message));
});

test("all updates of a prompt come before its reply, though all is in one write", async () => {
  const count = 500;
  const { session } = await withAgent({
    prompt: (peer, id) => {
      const chunks = Array.from({ length: count }, (_, i) => chunk(`${i} `));
      void peer.send(...chunks, { id, result: { stopReason: "end_turn" } });
    },
  });
  const { updates } = await prompt(session);
  assert.equal(
    updates.map((update) => update.type === "text" ? update.text : "").join(""),
    Array.from({ length: count }, (_, i) => `${i} `).join(""),
  );
});

test("updates of another session and updates outside of a prompt go nowhere", async () => {
  const { peer, session } = await withAgent({
    prompt: (peer, id) =>
      void peer.send(chunk("mine"), chunk("other", "s2"), {
        id,
        result: { stopReason: "end_turn" },
      }),
  });
  await peer.send(chunk("early"));
  const { updates } = await prompt(session);
  assert.deepEqual(updates, [{ type: "text", text: "mine" }]);
});

test("an agent's calls are understood from whatever it gives; the unknown is a sign of life", async () => {
  const { session } = await withAgent({
    prompt: (peer, id) =>
      void peer.send(
        update({
          sessionUpdate: "tool_call",
          toolCallId: "t1",
          title: "Edit",
          kind: "switch_mode",
          rawInput: { a: 1 },
          locations: [{ path: "/x/a", line: 0 }, { path: "b" }, null],
          content: [
            { type: "diff", path: "/x/a", newText: "n" },
            { type: "content", content: { type: "text", text: "note" } },
            { type: "terminal", terminalId: "1" },
          ],
          _meta: { claudeCode: { toolName: "Edit", parentToolUseId: "t0" } },
        }),
        update({ sessionUpdate: "tool_call_update", toolCallId: "t1", status: "completed" }),
        update({ sessionUpdate: "tool_call_update", status: "completed" }),
        update({ sessionUpdate: "agent_thought_chunk", content: { type: "text", text: "hm" } }),
        update({ sessionUpdate: "agent_message_chunk", content: { type: "image", data: "" } }),
        update({ sessionUpdate: "agent_message_chunk", content: null }),
        update({ sessionUpdate: "usage_update", used: 5, size: 10 }),
        update({ sessionUpdate: "notice", severity: "loud", title: "I wait", description: "5 s" }),
        update({ sessionUpdate: "notice", severity: "error" }),
        update({ sessionUpdate: "hologram", data: [1] }),
        { method: "session/update", params: "nonsense" },
        { id, result: { stopReason: "tired" } },
      ),
  });
  const { updates, reply } = await prompt(session);
  assert.deepEqual(updates, [
    {
      type: "tool_call",
      status: "pending",
      call: {
        id: "t1",
        name: "Edit",
        title: "Edit",
        kind: "other",
        input: { a: 1 },
        locations: [{ path: "/x/a" }],
        diffs: [{ path: "/x/a", oldText: null, newText: "n" }],
        parentId: "t0",
      },
    },
    { type: "tool_update", callId: "t1", call: {}, text: "note" },
    { type: "tool_update", callId: "t1", call: {}, status: "completed" },
    { type: "thought", text: "hm" },
    { type: "other" },
    { type: "usage", used: 5, size: 10 },
    { type: "notice", severity: "info", text: "I wait\n5 s" },
    { type: "other" },
    { type: "other" },
  ]);
  assert.deepEqual(reply.stop, { unknown: "tired" });
});

test("the label comes from mm's own facts, else the model option, else the agent's name", async () => {
  const configOptions = [{ id: "m", category: "model", currentValue: "gpt" }];
  const own = await withAgent({ session: { _meta: { mm: { label: "p/m" } }, configOptions } });
  assert.equal(own.session.label, "p/m");
  const option = await withAgent({ session: { configOptions } });
  assert.equal(option.session.label, "gpt");
  const named = await withAgent({ initialize: { agentInfo: { name: "codex", version: "1" } } });
  assert.equal(named.session.label, "codex");
  assert.equal(named.connection.title, "codex");
  assert.equal((await withAgent({})).session.label, undefined);
});

test("an agent's error is told in its own words", async () => {
  const errors = [
    { code: -32603, message: "Internal error", data: { details: "quota used up" } },
    { code: -32603, message: "Internal error: no model" },
    { code: -32000, message: "Authentication required" },
  ];
  const { session } = await withAgent({
    prompt: (peer, id) => void peer.send({ id, error: errors.shift() }),
  });
  for (
    const words of ["quota used up", "Internal error: no model", /wants a login first/u] as const
  ) {
    await assert.rejects(prompt(session), (error) => {
      assert.ok(error instanceof ChildError);
      assert.equal(error.kind, "agent");
      if (typeof words === "string") assert.equal(error.message, words);
      else assert.match(error.message, words);
      return true;
    });
  }
});

test("a cancel is sent once, and the prompt waits for its answer", async () => {
  const { peer, session } = await withAgent({ prompt: () => {} });
  const stop = new AbortController();
  const running = prompt(session, stop.signal);
  const { id } = await peer.find((message) => message["method"] === "session/prompt");
  stop.abort();
  await peer.find((message) => message["method"] === "session/cancel");
  await peer.send(chunk("last words"), { id, result: { stopReason: "cancelled" } });
  const { updates, reply } = await running;
  assert.deepEqual(updates, [{ type: "text", text: "last words" }]);
  assert.equal(reply.stop, "cancelled");
  assert.equal(peer.seen.filter((m) => m["method"] === "session/cancel").length, 1);
});

test("files and terminals are refused: an agent works with its own", async () => {
  const { peer } = await withAgent({});
  for (const method of ["fs/read_text_file", "terminal/create", "elicitation/create"]) {
    await peer.send({ id: method, method, params: { sessionId: "s1", path: "/etc/passwd" } });
    assert.equal(fieldsOf((await peer.reply(method))["error"])["code"], -32601);
  }
});

test("a permission question is answered with the options that were offered", async () => {
  const all = ["allow_once", "allow_always", "reject_once", "reject_always"];
  const cases: [PermissionAnswer, string[], string][] = [
    [{ kind: "allow_once" }, all, "id-allow_once"],
    [{ kind: "allow_session" }, all, "id-allow_always"],
    [{ kind: "allow_session" }, ["allow_once", "reject_once"], "id-allow_once"],
    [{ kind: "allow_once" }, ["allow_always", "reject_once"], "id-reject_once"],
    [{ kind: "reject_session" }, all, "id-reject_always"],
    [{ kind: "reject_once" }, ["allow_once", "reject_always"], "id-reject_always"],
    [{ kind: "reject_once" }, ["allow_once"], "cancelled"],
    [{ kind: "cancelled" }, all, "cancelled"],
    [{ kind: "unavailable", reason: "nobody is there" }, all, "id-reject_once"],
  ];
  const { peer, session } = await withAgent({ prompt: () => {} });
  const asked: unknown[] = [];
  for (const [answer, offered, expected] of cases) {
    const running = session.prompt("x", {
      signal: soon(),
      onUpdate: () => {},
      onPermission: (call) => {
        asked.push(call);
        return Promise.resolve(answer);
      },
    });
    const id = `q${asked.length}`;
    const prompts = peer.seen.filter((m) => m["method"] === "session/prompt").length;
    const started = await peer.find((m) =>
      m["method"] === "session/prompt" &&
      peer.seen.filter((other) => other["method"] === "session/prompt").indexOf(m) >= prompts
    );
    const options = offered.map((kind) => ({ kind, optionId: `id-${kind}`, name: kind }));
    const toolCall = { toolCallId: "t1", title: "rm x", rawInput: { command: "rm x" } };
    const params = { sessionId: "s1", toolCall, options };
    await peer.send({ id, method: "session/request_permission", params });
    const reply = fieldsOf((await peer.reply(id))["result"]);
    const outcome = fieldsOf(reply["outcome"]);
    assert.equal(outcome["optionId"] ?? outcome["outcome"], expected);
    if (answer.kind === "unavailable") {
      assert.deepEqual(reply["_meta"], { mm: { reason: "nobody is there" } });
    }
    await peer.send({ id: started["id"], result: { stopReason: "end_turn" } });
    await running;
  }
  assert.deepEqual(asked[0], { id: "t1", title: "rm x", input: { command: "rm x" } });
});

test("an option whose id stands for two options is never chosen", async () => {
  const { peer, session } = await withAgent({ prompt: () => {} });
  const option = (kind: string, optionId: string) => ({ kind, optionId, name: kind });
  const cases: [PermissionAnswer["kind"], object[], string][] = [
    ["reject_once", [option("reject_once", "x"), option("allow_once", "x")], "cancelled"],
    ["allow_once", [option("allow_once", "x"), option("allow_always", "x")], "cancelled"],
    [
      "allow_once",
      [option("allow_once", "x"), option("allow_always", "x"), option("reject_once", "no")],
      "no",
    ],
    [
      "reject_once",
      [option("reject_once", "x"), option("allow_once", "x"), option("reject_always", "never")],
      "never",
    ],
  ];
  let next: PermissionAnswer = { kind: "cancelled" };
  const running = session.prompt("x", {
    signal: soon(),
    onUpdate: () => {},
    onPermission: () => Promise.resolve(next),
  });
  const { id } = await peer.find((message) => message["method"] === "session/prompt");
  for (const [at, [kind, options, expected]] of cases.entries()) {
    next = { kind } as PermissionAnswer;
    const params = { sessionId: "s1", toolCall: { toolCallId: "t1" }, options };
    await peer.send({ id: `q${at}`, method: "session/request_permission", params });
    const outcome = fieldsOf(fieldsOf((await peer.reply(`q${at}`))["result"])["outcome"]);
    assert.equal(outcome["optionId"] ?? outcome["outcome"], expected);
  }
  await peer.send({ id, result: { stopReason: "end_turn" } });
  await running;
});

test("an open question is answered cancelled when the prompt is cancelled; without one nothing is permitted", async () => {
  const { peer, session } = await withAgent({ prompt: () => {} });
  const options = [{ kind: "allow_once", optionId: "yes", name: "Yes" }];
  const params = { sessionId: "s1", toolCall: { toolCallId: "t1" }, options };
  const ask = { method: "session/request_permission", params };
  await peer.send({ id: "early", ...ask });
  const cancelled = { outcome: { outcome: "cancelled" } };
  assert.deepEqual((await peer.reply("early"))["result"], cancelled);

  const stop = new AbortController();
  const running = session.prompt("x", {
    signal: stop.signal,
    onUpdate: () => {},
    onPermission: () => {
      setTimeout(() => stop.abort(), 5);
      return new Promise(() => {});
    },
  });
  const { id } = await peer.find((message) => message["method"] === "session/prompt");
  await peer.send({ id: "open", ...ask });
  assert.deepEqual((await peer.reply("open"))["result"], cancelled);
  await peer.send({ id, result: { stopReason: "cancelled" } });
  assert.equal((await running).stop, "cancelled");
});

test("an agent that goes away ends the connection and rejects what waits", async () => {
  const { peer, connection, session } = await withAgent({ prompt: (peer) => void peer.end() });
  await assert.rejects(
    prompt(session),
    (error) => error instanceof ChildError && error.kind === "closed",
  );
  await connection.closed;
  await session.close();
  assert.ok(peer.seen.length > 0);
});

test("closing a session tells an agent that can close one, and only that", async () => {
  const can = { agentCapabilities: { sessionCapabilities: { close: {} } } };
  const closing = await withAgent({ initialize: can });
  await closing.session.close();
  assert.equal(closing.peer.seen.at(-1)?.["method"], "session/close");
  const keeping = await withAgent({});
  await keeping.session.close();
  assert.equal(keeping.peer.seen.at(-1)?.["method"], "session/new");
});

test("closing the connection closes the agent's input", async () => {
  const { peer, connection } = await withAgent({});
  connection.close();
  await connection.closed;
  await peer.ended;
});

test("slips of an agent are not printed on the user's terminal", async () => {
  let printed = "";
  const collect = new Writable({
    write(chunk, _encoding, done) {
      printed += chunk;
      done();
    },
  });
  const restore = guardConsole(collect);
  try {
    const { session } = await withAgent({
      prompt: (peer, id) => {
        const reply = { id, result: { stopReason: "end_turn" } };
        void peer.send({ id: 999, result: {} }, update({ sessionUpdate: 5 }), reply, reply);
      },
    });
    await prompt(session);
    await prompt(session);
  } finally {
    restore();
  }
  assert.equal(printed, "");
});
