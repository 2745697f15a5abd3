import assert from "node:assert/strict";
import { test } from "node:test";
import { serveAcp } from "./agent.ts";
import { fieldsOf, listOf } from "./fields.ts";
import { pipes, RawPeer, ScriptedHost, type ScriptedHostOptions, type Turn } from "./testing.ts";

function serve(turn: Turn, options: Partial<ScriptedHostOptions> = {}) {
  const { near, far } = pipes();
  const host = new ScriptedHost({ turn, ...options });
  const stop = new AbortController();
  const log: string[] = [];
  const done = serveAcp({
    host,
    streams: far,
    version: "1.2.3",
    signal: stop.signal,
    log: (line) => log.push(line),
  });
  const peer = new RawPeer(near);
  return { host, peer, done, log, stop, end: () => peer.end().then(() => done) };
}

/** A turn that ends when it is cancelled. */
const untilCancelled: Turn = ({ signal, emit }) =>
  new Promise((resolve) => {
    emit({ type: "text", messageId: "m", text: "working" });
    const onAbort = () => resolve({ end: { kind: "cancelled" } });
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });

const say: Turn = ({ emit, input }) => {
  emit({ type: "text", messageId: "m", text: `you said ${input.text}` });
  return Promise.resolve();
};

function stopOf(reply: unknown): unknown {
  return fieldsOf(fieldsOf(reply)["result"])["stopReason"];
}

function codeOf(reply: unknown): unknown {
  return fieldsOf(fieldsOf(reply)["error"])["code"];
}

test("initialize tells what the agent can do, in the shapes that editors insist on", async () => {
  const { peer, end } = serve(say);
  const result = await peer.result("initialize", { protocolVersion: 99, clientCapabilities: {} });
  assert.deepEqual(result, {
    protocolVersion: 1,
    agentInfo: { name: "mm", title: "Scripted", version: "1.2.3" },
    authMethods: [],
    agentCapabilities: {
      loadSession: false,
      promptCapabilities: { embeddedContext: true, image: false, audio: false },
      mcpCapabilities: { http: true, sse: false },
      sessionCapabilities: { close: {} },
    },
    _meta: { mm: { steer: true } },
  });
  await end();
});

test("session/new answers before the first update, also when events came while it was created", async () => {
  const { peer, end } = serve(say, {
    onCreate: ({ emit }) =>
      emit({ type: "notice", severity: "warning", text: "AGENTS.md is long" }),
  });
  const id = await peer.hello();
  await peer.find((message) => message["method"] === "session/update");
  const reply = peer.seen.findIndex((message) => fieldsOf(message["result"])["sessionId"] === id);
  const update = peer.seen.findIndex((message) => message["method"] === "session/update");
  assert.ok(reply < update);
  const [commands] = peer.updates("available_commands_update");
  assert.deepEqual(commands?.["availableCommands"], [
    { name: "ask-bob", description: "Ask bob", input: { hint: "question" } },
  ]);
  // An older client has a place for it only in an answer.
  assert.equal(peer.text(), "");
  await peer.prompt(id, "hi");
  assert.match(peer.text(), /^AGENTS\.md is long\n\n/u);
  await end();
});

test("session/new refuses a directory that is relative, missing or a file", async () => {
  const { peer, end, host } = serve(say);
  await peer.hello();
  for (const cwd of [".", "/no/such/dir", import.meta.filename ?? "/dev/null"]) {
    const reply = await peer.request("session/new", { cwd, mcpServers: [] });
    assert.equal(codeOf(reply), -32602);
    assert.ok(JSON.stringify(reply).includes(`Cannot work in \\"${cwd}\\"`));
  }
  assert.equal(host.sessions.length, 1);
  await end();
});

test("MCP servers of the editor reach the session, those of unknown kinds are named", async () => {
  let given: unknown;
  const { peer, end } = serve(say, { onCreate: ({ mcpServers }) => void (given = mcpServers) });
  await peer.result("initialize", { protocolVersion: 1 });
  const session = await peer.result("session/new", {
    cwd: "/",
    mcpServers: [
      { name: "files", command: "/bin/files", args: ["-x"], env: [{ name: "A", value: "b" }] },
      { type: "http", name: "web", url: "http://h/mcp", headers: [{ name: "X-A", value: "b" }] },
      { type: "sse", name: "old", url: "http://h/sse", headers: [] },
    ],
  });
  assert.deepEqual(given, [
    { name: "files", command: ["/bin/files", "-x"], env: { A: "b" } },
    { name: "web", url: "http://h/mcp", headers: { "X-A": "b" } },
  ]);
  const id = String(session["sessionId"]);
  assert.equal(stopOf(await peer.prompt(id, "hi")), "end_turn");
  assert.match(JSON.stringify(peer.updates()), /MCP server \\"old\\" is left out/u);
  await end();
});

test("a prompt's answer follows all its updates and says who answered", async () => {
  const { peer, end } = serve(({ emit }) => {
    for (let i = 0; i < 100; i++) emit({ type: "text", messageId: "m1", text: `${i} ` });
    return Promise.resolve({ usage: { inputTokens: 3, outputTokens: 4 } });
  });
  const reply = await peer.prompt(await peer.hello(), "count");
  assert.equal(peer.text(), Array.from({ length: 100 }, (_, i) => `${i} `).join(""));
  assert.equal(peer.seen.at(-1), reply);
  assert.deepEqual(reply["result"], {
    stopReason: "end_turn",
    _meta: {
      mm: {
        end: "answered",
        label: "test/model",
        usage: { inputTokens: 3, outputTokens: 4 },
      },
    },
  });
  await end();
});

test("every way to end has its answer", async () => {
  const ends = {
    output: { kind: "incomplete", limit: "output" },
    turns: { kind: "incomplete", limit: "turns" },
    refusal: { kind: "incomplete", limit: "refusal" },
    depth: { kind: "refused", by: "depth", reason: "bob asks nobody" },
    failed: { kind: "failed", reason: "Cannot reach http://127.0.0.1:1 with secret-key-1" },
    silent: { kind: "timed_out", afterMs: 5000 },
    died: { kind: "died", code: null, signal: "SIGKILL", stderr: "oops" },
  } as const;
  const { peer, end } = serve(({ input, emit }) => {
    if (input.text === "died") {
      emit({ type: "ask_start", askId: "1", agent: "bob", title: "Bob" });
    }
    return Promise.resolve({ end: ends[input.text as keyof typeof ends] });
  }, { apiKey: "secret-key-1" });
  const id = await peer.hello();
  assert.equal(stopOf(await peer.prompt(id, "output")), "max_tokens");
  assert.equal(stopOf(await peer.prompt(id, "turns")), "max_turn_requests");
  assert.equal(stopOf(await peer.prompt(id, "refusal")), "refusal");
  assert.equal(stopOf(await peer.prompt(id, "depth")), "end_turn");
  assert.equal(peer.text(), "The prompt was refused: bob asks nobody");
  for (
    const [prompt, sentence] of [
      ["failed", "Cannot reach http://127.0.0.1:1 with [secret]"],
      ["silent", "The turn timed out after 5 s without a sign of life"],
      ["died", "bob was killed by SIGKILL; its last words: oops"],
    ] as const
  ) {
    const error = fieldsOf((await peer.prompt(id, prompt))["error"]);
    assert.equal(error["code"], -32603);
    assert.equal(error["message"], sentence);
    assert.equal(fieldsOf(error["data"])["details"], sentence);
  }
  await end();
});

test("an exception in a turn is a readable error without a secret or a stack", async () => {
  const { peer, end } = serve(() => Promise.reject(new Error("broken with hidden-key")), {
    apiKey: "hidden-key",
  });
  const reply = await peer.prompt(await peer.hello(), "x");
  assert.deepEqual(reply["error"], {
    code: -32603,
    message: "broken with [secret]",
    data: { details: "broken with [secret]" },
  });
  await end();
});

test("session/cancel ends the prompt with a result, and the next prompt runs", async () => {
  const { peer, end, host } = serve((context) =>
    context.input.text === "wait" ? untilCancelled(context) : say(context)
  );
  const id = await peer.hello();
  const running = peer.prompt(id, "wait");
  await peer.find((message) => JSON.stringify(message).includes("working"));
  for (let i = 0; i < 3; i++) {
    await peer.send({ method: "session/cancel", params: { sessionId: id } });
  }
  assert.equal(stopOf(await running), "cancelled");
  assert.equal(stopOf(await peer.prompt(id, "next")), "end_turn");
  assert.equal(host.sessions[0]?.closed, false);
  await end();
});

test("a cancel in the same write as the prompt cancels it", async () => {
  const { peer, end } = serve(untilCancelled);
  const id = await peer.hello();
  const prompt = [{ type: "text", text: "x" }];
  await peer.send(
    { id: "p", method: "session/prompt", params: { sessionId: id, prompt } },
    { method: "session/cancel", params: { sessionId: id } },
  );
  assert.equal(stopOf(await peer.reply("p")), "cancelled");
  await end();
});

test("a cancel while nothing runs does not touch the next prompt", async () => {
  const { peer, end } = serve(say);
  const id = await peer.hello();
  await peer.send({ method: "session/cancel", params: { sessionId: id } });
  await peer.send({ method: "session/cancel", params: { sessionId: "unknown" } });
  assert.equal(stopOf(await peer.prompt(id, "x")), "end_turn");
  await end();
});

test("a turn that was cancelled is never answered end_turn, whatever it says", async () => {
  const { peer, end } = serve(async (context) => {
    await untilCancelled(context);
    return { end: { kind: "answered" } };
  });
  const id = await peer.hello();
  const running = peer.prompt(id, "x");
  await peer.find((message) => JSON.stringify(message).includes("working"));
  await peer.send({ method: "session/cancel", params: { sessionId: id } });
  assert.equal(stopOf(await running), "cancelled");
  await end();
});

test("$/cancel_request on a prompt cancels it", async () => {
  const { peer, end } = serve(untilCancelled);
  const id = await peer.hello();
  const prompt = [{ type: "text", text: "x" }];
  await peer.send({ id: 7, method: "session/prompt", params: { sessionId: id, prompt } });
  await peer.find((message) => JSON.stringify(message).includes("working"));
  await peer.send({ method: "$/cancel_request", params: { requestId: 7 } });
  assert.equal(stopOf(await peer.reply(7)), "cancelled");
  await end();
});

test("overlapping prompts are answered one after the other, each after its own updates", async () => {
  const running: string[] = [];
  const { peer, end } = serve(async ({ input, emit }) => {
    running.push(input.text);
    assert.equal(running.length, 1);
    emit({ type: "text", messageId: input.text, text: `<${input.text}` });
    await new Promise((resolve) => setTimeout(resolve, 5));
    emit({ type: "text", messageId: input.text, text: `${input.text}>` });
    running.pop();
  });
  const id = await peer.hello();
  const replies = await Promise.all(["a", "b", "c"].map((text) => peer.prompt(id, text)));
  assert.deepEqual(replies.map(stopOf), ["end_turn", "end_turn", "end_turn"]);
  assert.equal(peer.text(), "<aa><bb><cc>");
  const place = (text: string) =>
    peer.seen.findIndex((message) => JSON.stringify(message).includes(text));
  assert.ok(peer.seen.indexOf(replies[0] ?? {}) < place("<b"));
  assert.ok(peer.seen.indexOf(replies[1] ?? {}) < place("<c"));
  await end();
});

test("a cancel reaches the prompt that runs and those that wait", async () => {
  const { peer, end } = serve(untilCancelled);
  const id = await peer.hello();
  const first = peer.prompt(id, "a");
  const second = peer.prompt(id, "b");
  await peer.find((message) => JSON.stringify(message).includes("working"));
  await peer.send({ method: "session/cancel", params: { sessionId: id } });
  assert.deepEqual([stopOf(await first), stopOf(await second)], ["cancelled", "cancelled"]);
  await end();
});

test("cancelling one session leaves the other running", async () => {
  const { peer, end } = serve(untilCancelled);
  const a = await peer.hello();
  const b = String((await peer.result("session/new", { cwd: "/", mcpServers: [] }))["sessionId"]);
  const first = peer.prompt(a, "x");
  const second = peer.prompt(b, "x");
  await peer.find((message) => JSON.stringify(message["params"] ?? {}).includes(b));
  await peer.send({ method: "session/cancel", params: { sessionId: a } });
  assert.equal(stopOf(await first), "cancelled");
  assert.ok(
    !peer.seen.some((message) => stopOf(message) === "cancelled" && message["id"] === "t5"),
  );
  await peer.send({ method: "session/cancel", params: { sessionId: b } });
  assert.equal(stopOf(await second), "cancelled");
  await end();
});

test("session/close cancels what runs; the session is unknown afterwards", async () => {
  const { peer, end, host } = serve(untilCancelled);
  const id = await peer.hello();
  const running = peer.prompt(id, "x");
  await peer.find((message) => JSON.stringify(message).includes("working"));
  assert.deepEqual(await peer.result("session/close", { sessionId: id }), {});
  assert.equal(stopOf(await running), "cancelled");
  assert.equal(host.sessions[0]?.closed, true);
  const reply = fieldsOf((await peer.prompt(id, "x"))["error"]);
  assert.equal(reply["code"], -32002);
  assert.deepEqual(reply["data"], { sessionId: id });
  await end();
});

test("mode, option and the session's yolo are one and the same", async () => {
  const { peer, end, host } = serve(say);
  const id = await peer.hello();
  await peer.result("session/set_mode", { sessionId: id, modeId: "yolo" });
  assert.equal(host.sessions[0]?.yolo, true);
  assert.deepEqual(peer.updates("current_mode_update").map((u) => u["currentModeId"]), ["yolo"]);
  const value = (options: unknown, id: string) =>
    listOf(options).map(fieldsOf).find((option) => option["id"] === id)?.["currentValue"];
  const [told] = peer.updates("config_option_update");
  assert.equal(value(told?.["configOptions"], "mode"), "yolo");
  const params = { sessionId: id, configId: "mode", value: "ask" };
  const { configOptions } = await peer.result("session/set_config_option", params);
  assert.equal(value(configOptions, "mode"), "ask");
  assert.equal(value(configOptions, "model"), "test/model");
  assert.equal(host.sessions[0]?.yolo, false);
  for (
    const [method, wrong] of [
      ["session/set_mode", { modeId: "root" }],
      ["session/set_config_option", { configId: "mode", value: "root" }],
      ["session/set_config_option", { configId: "model", value: "other" }],
      ["session/set_config_option", { configId: "colour", value: "red" }],
    ] as const
  ) {
    assert.equal(codeOf(await peer.request(method, { sessionId: id, ...wrong })), -32602);
  }
  await end();
});

test("what a slash command changed is told before the prompt's answer", async () => {
  const { peer, end, host } = serve(({ session }) => {
    session.yolo = true;
    host.label = "test/found";
    (session as unknown as { commands: unknown[] }).commands = [];
    return Promise.resolve();
  });
  const reply = await peer.prompt(await peer.hello(), "/yolo");
  assert.equal(peer.seen.at(-1), reply);
  assert.equal(peer.updates("current_mode_update").length, 1);
  assert.ok(JSON.stringify(peer.updates("config_option_update")).includes("test/found"));
  assert.deepEqual(peer.updates("available_commands_update").at(-1)?.["availableCommands"], []);
  await end();
});

test("the end of input ends the agent and cancels what runs", async () => {
  let cancelled = false;
  const { peer, done } = serve(async (context) => {
    await untilCancelled(context);
    cancelled = true;
  });
  const id = await peer.hello();
  peer.prompt(id, "x").catch(() => {});
  await peer.find((message) => JSON.stringify(message).includes("working"));
  await peer.end();
  await done;
  assert.equal(cancelled, true);
});

test("a request right before the end of input is answered", async () => {
  const { peer, done } = serve(say);
  await peer.send({ id: 1, method: "initialize", params: { protocolVersion: 1 } });
  await peer.end();
  await done;
  assert.equal(fieldsOf((await peer.reply(1))["result"])["protocolVersion"], 1);
});

test("the signal ends the agent though the editor keeps the connection open", async () => {
  const { peer, done, stop } = serve(say);
  await peer.hello();
  stop.abort();
  await done;
});

test("an editor that no longer reads ends the agent", async () => {
  const { near, far } = pipes();
  const turn: Turn = async ({ emit, signal }) => {
    while (!signal.aborted) {
      emit({ type: "text", messageId: "m", text: "x" });
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
  };
  const host = new ScriptedHost({ turn });
  const broken = new WritableStream<Uint8Array>({
    write(bytes) {
      if (new TextDecoder().decode(bytes).includes("agent_message_chunk")) throw new Error("EPIPE");
    },
  });
  const streams = { input: far.input, output: broken };
  const done = serveAcp({ host, streams, version: "1", signal: AbortSignal.timeout(5000) });
  const writer = near.output.getWriter();
  const send = (message: object) =>
    writer.write(new TextEncoder().encode(JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n"));
  await send({ id: 1, method: "initialize", params: { protocolVersion: 1 } });
  await new Promise((resolve) => setTimeout(resolve, 10));
  await send({ id: 2, method: "session/new", params: { cwd: "/", mcpServers: [] } });
  while (host.sessions.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  const sessionId = host.sessions[0]?.id;
  const prompt = [{ type: "text", text: "x" }];
  await send({ id: 3, method: "session/prompt", params: { sessionId, prompt } });
  await done;
});

test("noise, batches and wrong shapes are answered and survived", async () => {
  const { peer, end } = serve(say);
  const id = await peer.hello();
  const wrong: [string, number][] = [
    ["not json\n", -32700],
    ["42\n", -32600],
    ["null\n", -32600],
    ['[{"jsonrpc":"2.0","id":1,"method":"initialize"}]\n', -32600],
  ];
  for (const [text, code] of wrong) {
    const before = peer.seen.length;
    await peer.write(text);
    const answer = await peer.find((message) => peer.seen.indexOf(message) >= before);
    assert.equal(codeOf(answer), code);
    assert.equal(answer["id"], null);
  }
  await peer.write('\n\r\n{"jsonrpc":"2.0","id":123456,"result":{}}\n');
  await peer.write(
    `{"jsonrpc":"2.0","method":"_x/deep","params":${"[".repeat(2000)}${"]".repeat(2000)}}\n`,
  );
  assert.equal(codeOf(await peer.request("session/frobnicate", {})), -32601);
  assert.equal(codeOf(await peer.request("session/prompt", { sessionId: id })), -32602);
  assert.equal(codeOf(await peer.request("session/prompt", { sessionId: id, prompt: [] })), -32602);
  assert.equal(stopOf(await peer.prompt(id, "still there")), "end_turn");
  await end();
});

test("5,000 chunks of text are sent in well under 400 ms", async () => {
  let started = 0;
  const { peer, end } = serve(({ emit }) => {
    started = performance.now();
    for (let i = 0; i < 5000; i++) emit({ type: "text", messageId: "m", text: `word ${i} ` });
    return Promise.resolve();
  });
  const id = await peer.hello();
  await peer.prompt(id, "x");
  const took = performance.now() - started;
  assert.equal(peer.updates("agent_message_chunk").length, 5000);
  assert.ok(took < 400, `took ${took} ms`);
  await end();
});
