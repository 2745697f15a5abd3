import assert from "node:assert/strict";
import { test } from "node:test";
import { askAgent, bash, writeAgents } from "./support/agents.ts";
import { always, forModel, inOrder, onUser } from "./support/model_server.ts";
import { withProject } from "./support/project.ts";

test("a typed ask costs one model request, of bob's model, and shows bob's answer", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: forModel("bob", onUser("Why?", { text: "Because." })) });
    await writeAgents(p, { server });
    const editor = p.editor();
    const session = await editor.start();
    const { stopReason } = await editor.prompt(session, "/ask-bob Why?");
    assert.equal(stopReason, "end_turn");
    assert.equal(editor.text(session), "Because.");
    assert.deepEqual(server.requests.map((r) => r.model), ["bob"]);
  }));

test("the answer enters the history as a pair that says who said what", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("bob", always({ text: "Because." })),
        forModel("you", onUser("And?", { text: "So be it." })),
      ],
    });
    await writeAgents(p, { server });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "/ask-bob Why?");
    await editor.prompt(session, "And?");
    const [, request] = server.requests;
    assert.deepEqual(request?.messages.slice(1), [
      { role: "user", content: "[asked bob (llamacpp/bob): Why?]" },
      { role: "assistant", content: "[bob's answer]\nBecause." },
      { role: "user", content: "And?" },
    ]);
    assert.equal(server.requests.length, 2);
  }));

test("two asks in a row and a failed one keep the roles in turn", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel(
          "bob",
          onUser("one", { text: "1" }),
          onUser("fail", { status: 400, body: { error: { message: "no such thing" } } }),
          onUser("two", { text: "2" }),
        ),
        forModel("you", always({ text: "fine" })),
      ],
    });
    await writeAgents(p, { server });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "/ask-bob one");
    await assert.rejects(editor.prompt(session, "/ask-bob fail"), /no such thing/);
    await editor.prompt(session, "/ask bob two");
    await editor.prompt(session, "Sum up");
    const mine = server.requests.filter((r) => r.model === "you");
    assert.deepEqual(mine[0]?.messages.map((m) => m.role), [
      "system",
      "user",
      "assistant",
      "user",
      "assistant",
      "user",
    ]);
  }));

test("the answer is capped at maxOutput with the facts, and shown whole", () =>
  withProject(async (p) => {
    const long = "word ".repeat(1000);
    const server = await p.model({
      reply: [forModel("bob", always({ text: long })), forModel("you", always({ text: "ok" }))],
    });
    await writeAgents(p, { server, you: { maxOutput: 1000 } });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "/ask-bob Talk");
    assert.equal(editor.text(session), long);
    await editor.prompt(session, "Thanks");
    const kept = String(server.requests[1]?.messages[2]?.content);
    assert.ok(kept.length <= 1000 + "[bob's answer]\n".length, `${kept.length}`);
    assert.match(kept, /\[\.\.\. \d+ of 5000 characters left out \.\.\.\]/);
  }));

test("each ask is a fresh conversation for bob, in the one process", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: forModel(
        "bob",
        inOrder({ toolCalls: [bash("echo $PPID")] }, { text: "a" }, {
          toolCalls: [bash("echo $PPID")],
        }, { text: "b" }),
      ),
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "/ask-bob first");
    await editor.prompt(session, "/ask-bob second");
    const second = server.requests[2];
    assert.deepEqual(second?.messages.slice(1), [{ role: "user", content: "second" }]);
    const parents = server.requests.map((r) => /^\d+/m.exec(r.last.text)?.[0]).filter(Boolean);
    assert.equal(parents.length, 2);
    assert.equal(parents[0], parents[1], "both sessions run in the same child");
  }));

test("a transcript goes with the question only when it is asked for, without outputs, system prompt and reasoning", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel(
          "you",
          inOrder(
            { reasoning: "SECRET THOUGHT", toolCalls: [bash("seq 1 20000")] },
            { text: "It counts." },
          ),
        ),
        forModel("bob", always({ text: "Right." })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true, system: "SYSTEM PROMPT" } });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "Count");
    await editor.prompt(session, "/ask-with-context-bob Is that right?");
    await editor.prompt(session, "/ask-with-context bob Again?");
    const [, , first, second] = server.requests;
    assert.match(
      first?.last.text ?? "",
      /User: Count\n\n- bash seq 1 20000/,
    );
    assert.match(first?.last.text ?? "", /Assistant: It counts\./);
    assert.match(first?.last.text ?? "", /Is that right\?$/);
    assert.doesNotMatch(first?.raw ?? "", /SYSTEM PROMPT|SECRET THOUGHT|19999/);
    assert.match(second?.last.text ?? "", /User: \[asked bob .*Is that right\?\]/);
    assert.match(second?.last.text ?? "", /\[bob's answer\]\nRight\./);
  }));

test("the question alone is sent without --with-context", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [forModel("you", always({ text: "Hi" })), forModel("bob", always({ text: "Ho" }))],
    });
    await writeAgents(p, { server });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "Hello");
    await editor.prompt(session, "/ask-bob Who are you?");
    assert.equal(server.requests[1]?.last.text, "Who are you?");
    assert.equal(server.requests[1]?.messages.length, 2);
  }));

test("bob's own tools, prompt and model are his: nothing of yours reaches him", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: forModel("bob", always({ text: "x" })) });
    await writeAgents(p, {
      server,
      you: { system: "YOUR PROMPT" },
      bob: { system: "BOB PROMPT", tools: ["read"] },
    });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "/ask-bob q");
    const [request] = server.requests;
    assert.equal(request?.system, "BOB PROMPT");
    assert.deepEqual(request?.body.tools?.map((t) => t.function.name), ["read"]);
    assert.doesNotMatch(request?.raw ?? "", /YOUR PROMPT/);
  }));

test("an agent that is not there and a missing question are said, and nothing is started", () =>
  withProject(async (p) => {
    const server = await p.model({});
    await writeAgents(p, { server });
    const editor = p.editor();
    const session = await editor.start();
    await assert.rejects(
      editor.prompt(session, "/ask bop hi"),
      /no agent "bop", only bob; did you mean "bob"/,
    );
    await assert.rejects(
      editor.prompt(session, "/ask-bop hi"),
      /no command \/ask-bop, see \/help; did you mean "\/ask-bob"/,
    );
    await assert.rejects(editor.prompt(session, "/ask-bob   "), /needs a question/);
    assert.equal(server.requests.length, 0);
  }));

test("one command per agent is offered to editors, after the reply to session/new", () =>
  withProject(async (p) => {
    const server = await p.model({});
    await writeAgents(p, {
      server,
      entries: { eve: { path: "bob.yaml", description: "reviews" } },
    });
    const editor = p.editor();
    const session = await editor.start();
    const { update } = await editor.waitForUpdate((u) => u.kind === "available_commands_update");
    const names = update.availableCommands.map((c: { name: string }) => c.name);
    for (
      const name of [
        "ask-bob",
        "ask-with-context-bob",
        "ask-eve",
        "ask-with-context-eve",
        "ask",
        "agents",
      ]
    ) {
      assert.ok(names.includes(name), `${name} in ${names}`);
    }
    await editor.prompt(session, "/agents");
    assert.match(
      editor.text(session),
      /^bob - not started, knows all about bob\n.*\neve - not started, reviews\n.*\n\nSubagents:\nexplore - /,
    );
  }));

test("bob's tool calls are shown as his, and his thoughts and text as they come", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: forModel(
        "bob",
        inOrder({ reasoning: "Let me see", toolCalls: [bash("echo seen")] }, { text: "Seen." }),
      ),
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "/ask-bob look");
    assert.equal(editor.text(session), "Seen.");
    assert.equal(editor.thoughts(session), "Let me see");
    const [call] = editor.toolCalls(session);
    assert.equal(call.name, "bob/bash");
    assert.equal(call.status, "completed");
    assert.match(JSON.stringify(call.content), /seen/);
  }));

test("the model's own ask in the same session still works after a typed one", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "two")] }, { text: "done" })),
        forModel("bob", onUser("one", { text: "1" }), onUser("two", { text: "2" })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "/ask-bob one");
    await editor.prompt(session, "go on");
    assert.equal(server.requests.at(-1)?.last.text, "2");
  }));
