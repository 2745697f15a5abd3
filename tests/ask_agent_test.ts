import assert from "node:assert/strict";
import { test } from "node:test";
import { askAgent, bash, writeAgents } from "./support/agents.ts";
import { always, forModel, inOrder, onUser } from "./support/model_server.ts";
import { withProject } from "./support/project.ts";

test("the model asks bob with three requests in all, and carries on with his answer in the same turn", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "Why?")] }, { text: "He says so." })),
        forModel("bob", onUser("Why?", { text: "Because." })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const editor = p.editor();
    const session = await editor.start();
    const { stopReason } = await editor.prompt(session, "Ask bob why");
    assert.equal(stopReason, "end_turn");
    assert.deepEqual(server.requests.map((r) => r.model), ["you", "bob", "you"]);
    assert.deepEqual(
      server.requests[2]?.last,
      server.requests[2]?.messages.at(-1) && {
        role: "tool",
        text: "Because.",
      },
    );
    assert.equal(editor.text(session), "He says so.");
  }));

test("the tool lists the agents with what each is for, else with its title", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: forModel("you", always({ text: "ok" })) });
    await writeAgents(p, {
      server,
      entries: { eve: { path: "eve.yaml" } },
    });
    await p.write(
      "eve.yaml",
      JSON.stringify({ provider: "demo", acp: { title: "Eve, who reviews" } }),
    );
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "hi");
    const tool = server.requests[0]?.body.tools?.find((t) => t.function.name === "ask_agent");
    assert.match(
      tool?.function.description ?? "",
      /^- bob: knows all about bob\n- eve: Eve, who reviews$/m,
    );
  }));

test("the call is gated like bash, and shows the prompt the model wrote before it goes", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel(
          "you",
          inOrder({ toolCalls: [askAgent("bob", "Delete it")] }, { text: "I did not ask." }),
        ),
      ],
    });
    await writeAgents(p, { server });
    const editor = p.editor();
    const session = await editor.start();
    const turn = editor.prompt(session, "go");
    const question = await editor.waitForPermission();
    assert.match(question.toolCall.title, /bob: Delete it/);
    assert.deepEqual(question.toolCall.rawInput, { agent: "bob", prompt: "Delete it" });
    assert.equal(server.requests.length, 1);
    question.choose("reject_once");
    await turn;
    assert.match(
      server.requests[1]?.last.text ?? "",
      /Not run: the user rejected this call of ask_agent/,
    );
    assert.deepEqual(server.requests.map((r) => r.model), ["you", "you"]);
  }));

test("bob's gated calls are questions to your front end, named bob/bash, with the whole command", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "work")] }, { text: "done" })),
        forModel(
          "bob",
          inOrder({ toolCalls: [bash("touch one")] }, { toolCalls: [bash("touch two")] }, {
            text: "finished",
          }),
        ),
      ],
    });
    // Bob's own yolo does not count while he answers you.
    await writeAgents(p, { server, bob: { yolo: true } });
    const editor = p.editor();
    const session = await editor.start();
    const turn = editor.prompt(session, "go");
    (await editor.waitForPermission((q) => /^bob: /.test(q.toolCall.title))).choose(
      "allow_once",
    );
    const first = await editor.waitForPermission();
    assert.match(first.toolCall.title, /bob\/bash.*touch one/);
    assert.equal(first.toolCall.rawInput.command, "touch one");
    assert.equal(first.sessionId, session);
    first.choose("allow_once");
    const second = await editor.waitForPermission();
    second.choose("reject_once");
    await turn;
    assert.ok(p.exists("one"));
    assert.ok(!p.exists("two"));
    const refused = server.requests.filter((r) => r.model === "bob")[2];
    assert.match(refused?.last.text ?? "", /Not run: .*rejected this call of bash/);
  }));

test("allowing your bash for the session does not allow bob's", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel(
          "you",
          inOrder(
            { toolCalls: [bash("echo mine")] },
            { toolCalls: [askAgent("bob", "work")] },
            { toolCalls: [bash("echo again")] },
            { text: "done" },
          ),
        ),
        forModel("bob", inOrder({ toolCalls: [bash("echo his")] }, { text: "finished" })),
      ],
    });
    await writeAgents(p, { server });
    const editor = p.editor();
    editor.onPermission = (q) => q.choose("allow_always");
    const session = await editor.start();
    await editor.prompt(session, "go");
    assert.deepEqual(
      editor.permissions.map((q) => q.toolCall.rawInput.command ?? "ask"),
      ["echo mine", "ask", "echo his"],
    );
  }));

test("your entry for bob decides: yolo true lets his calls run while yours ask", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: forModel("bob", inOrder({ toolCalls: [bash("touch one")] }, { text: "finished" })),
    });
    await writeAgents(p, { server, bobEntry: { yolo: true } });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "/ask-bob work");
    assert.ok(p.exists("one"));
    assert.equal(editor.permissions.length, 0);
  }));

test("your entry for bob decides: yolo false asks for each of his calls while yours run", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "work")] }, { text: "done" })),
        forModel("bob", inOrder({ toolCalls: [bash("touch one")] }, { text: "finished" })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true }, bobEntry: { yolo: false } });
    const editor = p.editor();
    editor.onPermission = "reject_once";
    const session = await editor.start();
    await editor.prompt(session, "go");
    assert.ok(!p.exists("one"));
    assert.equal(editor.permissions.length, 1);
  }));

test("bob's text, thoughts and calls stream into the ask_agent call, and are shown once", () =>
  withProject(async (p) => {
    const release = Promise.withResolvers<void>();
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "work")] }, { text: "Done." })),
        forModel(
          "bob",
          inOrder(
            { text: "I look.", toolCalls: [bash("echo seen")] },
            { chunks: ["All ", "is well."], holdAfter: 1, holdUntil: release.promise },
          ),
        ),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const editor = p.editor();
    const session = await editor.start();
    const turn = editor.prompt(session, "go");
    // While bob still works, what he said so far is there.
    await editor.waitForUpdate((u) =>
      u.kind === "tool_call_update" && /I look\.[\s\S]*All /.test(JSON.stringify(u.update.content))
    );
    release.resolve();
    await turn;
    assert.equal(editor.text(session), "Done.");
    const [ask, his] = editor.toolCalls(session);
    assert.equal(ask.name, "ask_agent");
    assert.equal(ask.status, "completed");
    assert.equal(his.name, "bob/bash");
    assert.equal(his._meta.mm.parentCallId, ask.toolCallId);
    assert.equal(his.status, "completed");
    // Only his last words are the answer.
    assert.equal(server.requests.at(-1)?.last.text, "All is well.");
  }));

test("eight asks in one message run at the same time and answer in the order of the calls", () =>
  withProject(async (p) => {
    const release = Promise.withResolvers<void>();
    const count = 8;
    const server = await p.model({
      reply: [
        forModel(
          "you",
          inOrder(
            { toolCalls: Array.from({ length: count }, (_, i) => askAgent("bob", `q${i}`)) },
            { text: "done" },
          ),
        ),
        forModel("bob", (request) => ({
          text: `a${request.last.text.slice(1)}`,
          holdUntil: release.promise,
        })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const editor = p.editor();
    const session = await editor.start();
    const turn = editor.prompt(session, "go");
    await server.waitForRequest(() => server.maxOpen === count);
    release.resolve();
    await turn;
    const results = server.requests.at(-1)?.messages.filter((m) => m.role === "tool");
    assert.deepEqual(
      results?.map((m) => m.content),
      Array.from({ length: count }, (_, i) => `a${i}`),
    );
  }));

test("forty asks in one message are bounded, the rest waits and says so, and all are answered", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel(
          "you",
          inOrder(
            { toolCalls: Array.from({ length: 40 }, (_, i) => askAgent("bob", `q${i}`)) },
            { text: "done" },
          ),
        ),
        forModel("bob", (request) => ({ text: `a${request.last.text.slice(1)}`, delayMs: 30 })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "go");
    assert.ok(server.maxOpen <= 8, `${server.maxOpen} at the same time`);
    const results = server.requests.at(-1)?.messages.filter((m) => m.role === "tool");
    assert.deepEqual(results?.map((m) => m.content), Array.from({ length: 40 }, (_, i) => `a${i}`));
    assert.ok(
      editor.updates.some((u) => /waits for \d+ other asks?/.test(JSON.stringify(u.update))),
    );
  }));

test("a misspelt agent is a result that names the right one, and nothing is started", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: forModel("you", inOrder({ toolCalls: [askAgent("bop", "q")] }, { text: "ok" })),
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "go");
    assert.match(
      server.requests[1]?.last.text ?? "",
      /no agent "bop", only bob; did you mean "bob"/,
    );
  }));

test("a sign of life of bob keeps your turn alive; a long silence ends it and names him", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "work")] })),
        forModel(
          "bob",
          always({
            chunks: Array.from({ length: 12 }, (_, i) => `${i} `),
            chunkDelayMs: 250,
            holdAfter: 12,
            hang: true,
          }),
        ),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true, watchdogTimeout: "1500ms" } });
    const editor = p.editor();
    const session = await editor.start();
    const started = performance.now();
    await assert.rejects(
      editor.prompt(session, "go"),
      /timed out after 1\.5 s without a sign of life from bob/,
    );
    assert.ok(performance.now() - started > 3000, "bob worked for three seconds first");
    const [call] = editor.toolCalls(session);
    assert.equal(call.status, "failed");
    await server.requests[1]?.aborted;
  }));

test("bob's command may be silent for longer than your watchdog, within its own budget", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "work")] }, { text: "done" })),
        forModel(
          "bob",
          inOrder({ toolCalls: [bash("sleep 5; echo slept")] }, { text: "finished" }),
        ),
      ],
    });
    await writeAgents(p, {
      server,
      you: { yolo: true, watchdogTimeout: "3s" },
      bob: { watchdogTimeout: "3s" },
    });
    const editor = p.editor();
    const session = await editor.start();
    const { stopReason } = await editor.prompt(session, "go");
    assert.equal(stopReason, "end_turn");
    assert.equal(server.requests.at(-1)?.last.text, "finished");
  }));

test("a permission question of bob's that stays open trips no watchdog", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "work")] }, { text: "done" })),
        forModel("bob", inOrder({ toolCalls: [bash("echo ok")] }, { text: "finished" })),
      ],
    });
    await writeAgents(p, {
      server,
      you: { watchdogTimeout: "2s", permissions: { allow: ["ask_agent"] } },
      bob: { watchdogTimeout: "2s" },
    });
    const editor = p.editor();
    const session = await editor.start();
    const turn = editor.prompt(session, "go");
    const question = await editor.waitForPermission();
    await new Promise((resolve) => setTimeout(resolve, 4000));
    question.choose("allow_once");
    assert.equal((await turn).stopReason, "end_turn");
  }));
