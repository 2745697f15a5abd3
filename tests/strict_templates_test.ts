/**
 * What mm sends, as the strictest chat templates and prompt caches want it, in every situation that has
 * broken other agents: see also `property_test.ts`, which puts the situations together by chance.
 *
 * The model server of all tests checks every request for roles in order and for a stable prefix; these
 * tests lead it through the situations and look at what is particular of each.
 *
 * @module
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bash, writeAgents } from "./support/agents.ts";
import { always, onTool, onUser, type Reply } from "./support/model_server.ts";
import { oneAgent, writeAgent } from "./support/one_agent.ts";
import { withProject } from "./support/project.ts";
import { textOfMessage } from "./support/wire.ts";

const FAILS: Reply = { status: 400, body: { error: { message: "Not today" } } };

test("asks, a failed ask, a failed turn, a cancel, a queued prompt: roles alternate, nothing is lost", () =>
  withProject(async (p) => {
    await p.write("AGENTS.md", "Be kind.");
    const server = await p.model({
      reply: [
        onUser("Bob fails", FAILS),
        onUser("Bob", { text: "Bob knows." }),
        onUser("Fail", FAILS),
        onUser("Wait", { hang: true }),
        onUser("Half", { chunks: ["Half ", "of it"], hang: true, holdAfter: 1 }),
        always((request) => ({ text: `Answer to ${request.lastUser}.` })),
      ],
    });
    await writeAgents(p, { server });
    const editor = p.editor();
    const session = await editor.start();
    const ask = (text: string) => editor.prompt(session, text).catch(() => undefined);
    const cancelled = async (text: string) => {
      const prompt = ask(text);
      const queued = ask("Queued");
      await server.waitForRequest((r) => r.lastUser === text);
      if (text === "Half") await editor.waitForText(session, "Half ");
      editor.cancel(session);
      assert.equal((await prompt)?.stopReason, "cancelled");
      assert.equal((await queued)?.stopReason, "cancelled");
    };
    await ask("/ask-bob Bob one");
    await ask("One");
    await ask("/ask-bob Bob two");
    await ask("/ask-bob Bob three");
    await ask("Two");
    await ask("/ask-bob Bob fails");
    await ask("Three");
    await ask("Fail");
    await ask("Four");
    await cancelled("Wait");
    await ask("Five");
    await cancelled("Half");
    await Promise.all([ask("Six"), ask("/ask-bob Bob four"), ask("Seven")]);

    const mine = server.requests.filter((request) => request.model === "you");
    const said = (mine.at(-1)?.messages ?? []).slice(1).map((m) => textOfMessage(m).split("\n")[0]);
    assert.deepEqual(said, [
      ...["[asked bob (llamacpp/bob): Bob one]", "[bob's answer]", "One", "Answer to One."],
      ...["[asked bob (llamacpp/bob): Bob two]", "[bob's answer]"],
      ...["[asked bob (llamacpp/bob): Bob three]", "[bob's answer]", "Two", "Answer to Two."],
      ...["Three", "Answer to Three.", "Fail", "[failed]", "Four", "Answer to Four."],
      ...["Wait", "[cancelled by the user]", "Five", "Answer to Five."],
      ...["Half", "Half ", "Six", "Answer to Six."],
      ...["[asked bob (llamacpp/bob): Bob four]", "[bob's answer]", "Seven"],
    ]);
  }));

test("a turn that is cancelled before any answer is closed, not withdrawn: its prefix stays", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      onUser("Wait", { hang: true }),
      always({ text: "Here." }),
    ]);
    const editor = p.editor();
    const session = await editor.start();
    const waiting = editor.prompt(session, "Wait");
    await server.waitForRequest((r) => r.lastUser === "Wait");
    editor.cancel(session);
    await waiting;
    await editor.prompt(session, "And now?");
    const [first, second] = server.requests;
    assert.deepEqual(second?.messages.slice(0, first?.messages.length), first?.messages);
    assert.deepEqual(second?.messages.slice(1).map((m) => m.role), ["user", "assistant", "user"]);
  }));

test("a call whose result is missing gets one when the conversation is resumed", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      onUser("Go", { text: "I go.", toolCalls: [bash("echo one"), bash("touch on; sleep 60")] }),
      always({ text: "Yes." }),
    ], { yolo: true });
    const mm = p.mm(["-p", "Go"]);
    await mm.waitForOutput("I go.");
    while (!p.exists("on")) await new Promise((resolve) => setTimeout(resolve, 20));
    mm.signal("SIGKILL");
    await mm.exit;
    await p.runMm(["-p", "Well?", "-continue"]);
    assert.deepEqual(server.requests.at(-1)?.messages.slice(1).map((m) => m.role), [
      ...["user", "assistant", "tool", "tool", "assistant", "user"],
    ]);
  }));

test("thoughts go back to llama.cpp with their calls, and to no server that does not want them", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        onUser("Look", { reasoning: "A command.", toolCalls: [bash("echo seen")] }),
        onTool("seen", { reasoning: "It is there.", text: "Seen." }),
        onUser("Again", { text: "Yes." }),
      ],
    });
    const thoughts = async (keys: Record<string, unknown>) => {
      const before = server.requests.length;
      await writeAgent(p, server, { yolo: true, ...keys });
      await p.runMm(["-line"], { stdin: "Look\nAgain\n" });
      return server.requests.slice(before).map(({ messages }) =>
        messages.filter((m) => m.role === "assistant")
          .map((m) => (m as { readonly reasoning_content?: string }).reasoning_content)
      );
    };
    const sent = [[], ["A command."], ["A command.", "It is there."]];
    assert.deepEqual(await thoughts({}), sent);
    assert.deepEqual(await thoughts({ sendReasoning: false }), [[], [undefined], [
      undefined,
      undefined,
    ]]);
    assert.deepEqual(await thoughts({ provider: "custom" }), [[], [undefined], [
      undefined,
      undefined,
    ]]);
    assert.deepEqual(await thoughts({ provider: "custom", sendReasoning: true }), sent);
  }));

test("request N + 1 begins with request N, byte for byte, also while AGENTS.md and the files change", () =>
  withProject(async (p) => {
    await p.write("AGENTS.md", "First rule.");
    const server = await oneAgent(p, [
      onUser("Work", { toolCalls: [bash("echo Second > AGENTS.md; date")] }),
      always({ text: "Done." }),
    ], { yolo: true });
    const mm = p.mm(["-line"]);
    for (const text of ["Work", "More", "/yolo off", "Much more"]) {
      const from = (await mm.waitForOutput(/> $/)).end;
      mm.write(`${text}\n`);
      await mm.waitForOutput(/\n> $/, { from });
      await p.write("AGENTS.md", `Rule of ${text}`);
    }
    await mm.stop();
    assert.equal(server.requests.length, 4);
    const bodies = server.requests.map(({ raw }) => raw.replace(/\]\}$/u, ""));
    bodies.slice(1).forEach((body, at) => assert.ok(body.startsWith(bodies[at] ?? "-")));
    for (const { system } of server.requests) assert.match(system, /First rule\.$/);
    assert.doesNotMatch(server.requests[0]?.system ?? "", /\b20\d\d\b/, "no date");
  }));

test("ids of calls are nine letters and digits for Mistral, the same in each request", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        onUser("Look", {
          toolCalls: [
            { ...bash("echo one"), id: "call_00_a-very-long-id" },
            { ...bash("echo two"), id: "abcDEF123" },
          ],
        }),
        always({ text: "Seen." }),
      ],
    });
    await writeAgent(p, server, { provider: "mistral", apiKey: "key", yolo: true });
    await p.runMm(["-line"], { stdin: "Look\nAgain\n" });
    const ids = server.requests.slice(1).map(({ messages }) => [
      messages.flatMap((m) => (m.tool_calls ?? []).map((call) => call.id)),
      messages.flatMap((m) => m.tool_call_id ?? []),
    ]);
    const [[asked, answered] = []] = ids;
    assert.deepEqual(asked, answered);
    assert.deepEqual(ids[0], ids[1]);
    assert.equal(asked?.[1], "abcDEF123");
    for (const id of asked ?? []) assert.match(id, /^[A-Za-z0-9]{9}$/);
    assert.equal(new Set(asked).size, 2);
  }));
