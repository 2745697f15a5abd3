/** Hooks around asks: they refuse, change the question, replace the answer, and fail closed. */
import assert from "node:assert/strict";
import { test } from "node:test";
import type { AcpEditor, Json } from "./support/acp_editor.ts";
import { askAgent, bash, type Keys, writeAgents } from "./support/agents.ts";
import { always, forModel, inOrder, type Rule } from "./support/model_server.ts";
import { type TestProject, withProject } from "./support/project.ts";

/** Writes you and bob with hooks of yours; bob says `Because.` unless told otherwise. */
async function withHooks(p: TestProject, hooks: Keys, options: {
  readonly bob?: Rule;
  readonly you?: Rule;
  readonly entries?: Keys;
  readonly keys?: Keys;
} = {}) {
  const server = await p.model({
    reply: [
      forModel("bob", options.bob ?? always({ text: "Because." })),
      forModel("you", options.you ?? always({ text: "Fine." })),
    ],
  });
  await writeAgents(p, {
    server,
    you: { hooks, yolo: true, ...options.keys },
    ...(options.entries === undefined ? {} : { entries: options.entries }),
  });
  return server;
}

/** A hook that answers with a JSON object. */
const answers = (value: Json) => ({ run: `cat >/dev/null; echo '${JSON.stringify(value)}'` });

const REFUSES = { run: "echo 'not about secrets' >&2; exit 2" };

const noticesOf = (editor: AcpEditor, session: string) =>
  editor.updates.filter((u) => u.sessionId === session && u.update._meta?.mm?.notice !== undefined)
    .map((u) => u.update.content.text).join("");

test("a preAsk hook that refuses: the agent is not even started, by a command, a model or a script", () =>
  withProject(async (p) => {
    const server = await withHooks(p, { preAsk: [REFUSES] }, {
      you: inOrder({ toolCalls: [askAgent("bob", "Why?")] }, { text: "Then not." }),
    });
    const words = /bob was refused: the preAsk hook ".*" refused: not about secrets/u;
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "/ask-bob Why?");
    assert.match(editor.text(session), words);
    await editor.prompt(session, "Ask bob");
    assert.match(server.requests.at(-1)?.last.text ?? "", words);
    await editor.prompt(session, "/agents");
    assert.match(editor.text(session), /bob - not started/u);
    assert.deepEqual(server.requests.map((r) => r.model), ["you", "you"]);
    // The refused question is no part of the conversation.
    assert.deepEqual(server.requests[0]?.messages.map((m) => m.role), ["system", "user"]);

    const script = await p.runMm(["--ask", "bob", "Why?"]);
    assert.equal(script.code, 3);
    assert.equal(script.stdout, "");
    assert.match(script.stderr, words);
    const json = await p.runMm(["--ask", "bob", "Why?", "-json"]);
    assert.equal(json.code, 3);
    const outcome = JSON.parse(json.stdout);
    assert.equal(outcome.stopReason, "refused");
    assert.match(outcome.error, words);
    assert.equal(server.requests.length, 2);
  }));

test("a preAsk hook that changes the question: bob gets the new one, by a command, a model or a script", () =>
  withProject(async (p) => {
    const server = await withHooks(p, {
      preAsk: [{ run: 'sed \'s/hunter2/[secret]/g; s/.*\\("prompt":"[^"]*"\\).*/{\\1}/\'' }],
    }, {
      you: inOrder({ toolCalls: [askAgent("bob", "Is hunter2 strong?")] }, { text: "No." }),
    });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "/ask-bob Is hunter2 long?");
    assert.match(noticesOf(editor, session), /a preAsk hook changed what bob is asked/u);
    await editor.prompt(session, "Ask bob");
    await p.runMm(["--ask", "bob", "Is hunter2 good?"]);
    assert.deepEqual(server.requests.filter((r) => r.model === "bob").map((r) => r.lastUser), [
      "Is [secret] long?",
      "Is [secret] strong?",
      "Is [secret] good?",
    ]);
    // What is kept is what was asked.
    const mine = server.requests.find((r) => r.model === "you");
    assert.equal(mine?.messages[1]?.content, "[asked bob (llamacpp/bob): Is [secret] long?]");
  }));

test("a hook reads who is asked what, by whom and where, and what a command of mm gets in its environment", () =>
  withProject(async (p) => {
    await withHooks(p, {
      preAsk: [{ run: "cat > pre.json; env > pre.env" }],
      postAsk: [{ run: "cat > post.json" }],
    }, {
      you: inOrder({ text: "Hello." }, { toolCalls: [askAgent("bob", "Why not?")] }, {
        text: "So.",
      }),
      keys: { yolo: true },
    });
    const editor = p.editor([], { env: { AGENT_MAX_OUTPUT: "5000" } });
    const session = await editor.start();
    await editor.prompt(session, "Hi");
    await editor.prompt(session, "/ask-with-context-bob Why?");
    const pre = JSON.parse(await p.read("pre.json"));
    assert.deepEqual(pre, {
      hook: "preAsk",
      agent: "bob",
      prompt: "Why?",
      transcript: "User: Hi\n\nAssistant: Hello.",
      by: "person",
      cwd: p.dir,
      depth: 0,
    });
    assert.deepEqual(JSON.parse(await p.read("post.json")), {
      ...pre,
      hook: "postAsk",
      answer: "Because.",
      end: "answered",
      model: "llamacpp/bob",
    });
    const env = await p.read("pre.env");
    assert.match(env, /^MM_BIN=\//mu);
    assert.match(env, new RegExp(`^MM_CONFIG=${p.path("agent.yaml")}$`, "mu"));
    assert.match(env, /^MM_TRANSCRIPT=\//mu);
    assert.match(env, /^MM_ASK_DEPTH=0$/mu);
    assert.doesNotMatch(env, /^AGENT_/mu);

    await editor.prompt(session, "Ask him");
    assert.equal(JSON.parse(await p.read("pre.json")).by, "model");
    await p.runMm(["--ask", "bob", "And?"]);
    assert.equal(JSON.parse(await p.read("pre.json")).by, "script");
    assert.match(await p.read("pre.env"), /^MM_BIN=\//mu);
  }));

test("a preAsk hook may change the transcript that goes along", () =>
  withProject(async (p) => {
    const server = await withHooks(p, { preAsk: [answers({ transcript: "User: something" })] });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "The password is hunter2");
    await editor.prompt(session, "/ask-with-context-bob Why?");
    const asked = server.requests.at(-1)?.lastUser ?? "";
    assert.match(asked, /<transcript>\nUser: something\n<\/transcript>\n\nWhy\?$/u);
    assert.doesNotMatch(asked, /hunter2/u);
  }));

test("a postAsk hook that replaces the answer: kept, printed and sent to the model is the new one", () =>
  withProject(async (p) => {
    const server = await withHooks(p, { postAsk: [answers({ answer: "Who knows." })] }, {
      you: inOrder({ text: "I see." }, { toolCalls: [askAgent("bob", "Why?")] }, { text: "Hm." }),
    });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "/ask-bob Why?");
    assert.match(editor.text(session), /^Because\.[\s\S]*Who knows\.$/u);
    assert.match(
      noticesOf(editor, session),
      /replaced bob's answer; what was shown before does not count/u,
    );
    await editor.prompt(session, "And you?");
    assert.equal(server.requests.at(-1)?.messages[2]?.content, "[bob's answer]\nWho knows.");
    await editor.prompt(session, "Ask him");
    assert.equal(server.requests.at(-1)?.last.text, "Who knows.");
    const script = await p.runMm(["--ask", "bob", "Why?"]);
    assert.equal(script.stdout, "Who knows.\n");
    assert.equal(script.code, 0);
    assert.match(script.stderr, /replaced bob's answer/u);
  }));

test("a postAsk hook that refuses withholds the answer everywhere", () =>
  withProject(async (p) => {
    const server = await withHooks(p, { postAsk: [REFUSES] }, {
      you: inOrder({ text: "I see." }, { toolCalls: [askAgent("bob", "Why?")] }, { text: "Hm." }),
    });
    const words = /bob was refused: the postAsk hook ".*" refused: not about secrets/u;
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "/ask-bob Why?");
    assert.match(noticesOf(editor, session), words);
    await editor.prompt(session, "And you?");
    assert.deepEqual(server.requests.at(-1)?.messages.map((m) => m.role), ["system", "user"]);
    await editor.prompt(session, "Ask him");
    assert.match(server.requests.at(-1)?.last.text ?? "", words);
    assert.doesNotMatch(server.requests.at(-1)?.raw ?? "", /Because/u);
    const script = await p.runMm(["--ask", "bob", "Why?"]);
    assert.equal(script.code, 3);
    assert.equal(script.stdout, "");
    assert.match(script.stderr, words);
    assert.doesNotMatch(script.stderr, /Because/u);
  }));

test("hooks run in their order, each on what the one before left, and those of other agents do not", () =>
  withProject(async (p) => {
    const add = (key: string, text: string) => ({
      run: `sed 's/.*"${key}":"\\([^"]*\\)".*/{"${key}":"\\1${text}"}/'`,
    });
    const server = await withHooks(p, {
      preAsk: [add("prompt", " one"), { match: "r*", ...REFUSES }, {
        match: "b*",
        ...add("prompt", " two"),
      }],
      postAsk: [{ match: "{bob,eve}", ...add("answer", " A") }, add("answer", " B"), {
        match: "bo",
        ...REFUSES,
      }],
    });
    const { stdout } = await p.runMm(["--ask", "bob", "zero"]);
    assert.equal(server.requests[0]?.lastUser, "zero one two");
    assert.equal(stdout, "Because. A B\n");
  }));

/** Hooks that do not work, and what is said of each. */
const BROKEN: Readonly<Record<string, readonly [Keys, RegExp]>> = {
  crash: [{ run: "exit 1" }, /exited with status 1; a hook that does not work refuses/u],
  hang: [{ run: "sleep 300", timeout: "200ms" }, /took longer than 200 ms; a hook that does not/u],
  missing: [{ run: "./no-such-hook" }, /exited with status 127 .*; a hook that does not/su],
  garbage: [{ run: "echo fine" }, /printed something that is no JSON; a hook that does not/u],
};

for (const kind of ["preAsk", "postAsk"] as const) {
  test(`a ${kind} hook that crashes, hangs, is missing or prints garbage refuses and says so`, () =>
    withProject(async (p) => {
      const names = Object.keys(BROKEN);
      const server = await withHooks(
        p,
        { [kind]: names.map((match) => ({ match, ...BROKEN[match]?.[0] })) },
        { entries: Object.fromEntries(names.map((name) => [name, { path: "bob.yaml" }])) },
      );
      const editor = p.editor();
      const session = await editor.start();
      for (const name of names) {
        const before = editor.text(session).length;
        await editor.prompt(session, `/ask-${name} Why?`);
        const said = editor.text(session).slice(before);
        assert.match(said, new RegExp(`${name} was refused: the ${kind} hook`, "u"));
        assert.match(said, BROKEN[name]?.[1] ?? /never/u);
      }
      // Nothing was asked, or nothing is kept, and the agent without a hook works.
      assert.equal(server.requests.length, kind === "preAsk" ? 0 : names.length);
      await editor.prompt(session, "/ask-bob Why?");
      await editor.prompt(session, "Well?");
      assert.deepEqual(server.requests.at(-1)?.messages.slice(1).map((m) => m.content), [
        "[asked bob (llamacpp/bob): Why?]",
        "[bob's answer]\nBecause.",
        "Well?",
      ]);
      const script = await p.runMm(["--ask", "crash", "Why?"]);
      assert.equal(script.code, 3);
      assert.equal(script.stdout, "");
    }));
}

test("a cancel ends the hook that runs, and the ask with it", () =>
  withProject(async (p) => {
    const server = await withHooks(p, {
      preAsk: [{
        match: "bob",
        run: "trap '' TERM; touch pre; sleep 300 & sleep 301",
        timeout: "5m",
      }],
      postAsk: [{ match: "eve", run: "touch post; sleep 302", timeout: "5m" }],
    }, { entries: { eve: { path: "bob.yaml" } } });
    const editor = p.editor();
    const session = await editor.start();
    for (const [agent, file] of [["bob", "pre"], ["eve", "post"]] as const) {
      const prompted = editor.prompt(session, `/ask-${agent} Why?`);
      while (!p.exists(file)) await new Promise((resolve) => setTimeout(resolve, 20));
      editor.cancel(session);
      assert.equal((await prompted).stopReason, "cancelled");
    }
    assert.deepEqual(server.requests.map((r) => r.model), ["bob"]);
    // An answer that the hook did not let through is not kept.
    await editor.prompt(session, "Well?");
    assert.deepEqual(server.requests.at(-1)?.messages.map((m) => m.role), ["system", "user"]);
  }));

test("a hook that takes longer than the watchdog ends no turn", () =>
  withProject(async (p) => {
    const server = await withHooks(p, { preAsk: [{ run: "sleep 4" }] }, {
      you: inOrder({ toolCalls: [askAgent("bob", "Why?")] }, { text: "So." }),
      keys: { watchdogTimeout: "3s" },
    });
    const editor = p.editor();
    const session = await editor.start();
    assert.equal((await editor.prompt(session, "Ask him")).stopReason, "end_turn");
    assert.equal(server.requests.at(-1)?.last.text, "Because.");
  }));

test("your hooks are about your asks: bob's own calls pass them by, and his hooks are about his", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel(
          "bob",
          inOrder({ toolCalls: [bash("echo hi"), askAgent("riker", "Go")] }, { text: "Done." }),
        ),
      ],
    });
    await writeAgents(p, {
      server,
      you: { yolo: true, hooks: { preAsk: [{ match: "riker", ...REFUSES }] } },
      bob: { hooks: { preAsk: [{ run: "echo 'bob says no' >&2; exit 2" }] } },
    });
    const { code, stdout } = await p.runMm(["--ask", "bob", "Why?"]);
    assert.equal(code, 0);
    assert.equal(stdout, "Done.\n");
    const results = server.requests.at(-1)?.messages.filter((m) => m.role === "tool") ?? [];
    assert.match(String(results[0]?.content), /hi/u);
    assert.match(String(results[1]?.content), /riker was refused: .*bob says no/u);
  }));
