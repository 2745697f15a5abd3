import assert from "node:assert/strict";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import type { Json } from "./support/acp_editor.ts";
import { askAgent, bash, writeAgents } from "./support/agents.ts";
import { always, forModel, inOrder, onTool, onUser } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { withProject } from "./support/project.ts";
import { messages } from "./support/wire_messages.ts";

test("a wrong configuration leaves stdout empty and ends with 2", () =>
  withProject(async (p) => {
    await p.write("agent.yaml", "nonsense: 1\n");
    const { code, stdout, stderr } = await p.runMm(["-acp"], {
      stdin: '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}\n',
    });
    assert.equal(code, 2);
    assert.equal(stdout, "");
    assert.match(stderr, /agent\.yaml:1:1: unknown key "nonsense"/);
  }));

test("with a model server that is down, sessions open, the wait is visible, a cancel ends it", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, []);
    await server.close();
    const editor = p.editor();
    const session = await editor.start();
    const prompt = editor.prompt(session, "Go");
    await editor.waitForUpdate((u) => /cannot be reached/.test(u.update.content?.text ?? ""));
    editor.cancel(session);
    assert.equal((await prompt).stopReason, "cancelled");
    messages(editor);
  }));

test("probes that fail, hang or answer nonsense disturb neither stdout nor the prompt", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: always({ text: "Fine." }),
      route: ({ path }) =>
        path === "/props" ? { hang: true } : { status: 200, body: "<html>not json</html>" },
    });
    await p.write("agent.yaml", `provider: llamacpp\nbaseUrl: ${server.url}\nmodel: m\n`);
    const editor = p.editor();
    const session = await editor.start();
    assert.equal((await editor.prompt(session, "Go")).stopReason, "end_turn");
    assert.equal(editor.text(session), "Fine.");
    messages(editor);
  }));

test("a command that prints to everything it can reach stays out of stdout", () =>
  withProject(async (p) => {
    const noise = "echo out; echo err >&2; (echo tty > /dev/tty) 2>&1; printf 'no newline'; " +
      "for fd in 3 4 5 6 7 8 9; do (echo leaked >&$fd) 2>/dev/null && echo open $fd; done; " +
      'cat; echo end of input; printf \'\\xff\\xfe\\0\\r\\n{"jsonrpc":"2.0"}\\n\'';
    const server = await oneAgent(p, inOrder({ toolCalls: [bash(noise)] }, { text: "Loud." }), {
      yolo: true,
    });
    const editor = p.editor(["-verbose"]);
    const session = await editor.start();
    assert.equal((await editor.prompt(session, "Go")).stopReason, "end_turn");
    const result = server.requests[1]?.last.text ?? "";
    assert.match(result, /out[\s\S]*err[\s\S]*no newline[\s\S]*end of input/);
    assert.doesNotMatch(result, /open \d/);
    messages(editor);
  }));

test("mm asks an editor for nothing but permission, and sends it nothing but updates", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel(
          "you",
          inOrder(
            { reasoning: "Hm", toolCalls: [bash("echo 1"), askAgent("bob", "Hi")] },
            { toolCalls: [{ name: "write", arguments: { path: "x", content: "1" } }] },
            { text: "ok" },
          ),
        ),
        forModel("bob", inOrder({ toolCalls: [bash("echo 2")] }, { text: "Hello." })),
      ],
    });
    await writeAgents(p, { server });
    // This editor claims that it can do everything.
    const editor = p.editor();
    editor.onPermission = "allow_once";
    await editor.initialize({
      clientCapabilities: {
        fs: { readTextFile: true, writeTextFile: true },
        terminal: true,
        session: { notices: {}, compaction: {} },
      },
    });
    const session = await editor.newSession();
    await editor.prompt(session, "Go");
    assert.equal(await p.read("x"), "1");
    const methods = messages(editor).map((m) => m.method).filter((m) => m !== undefined);
    assert.deepEqual([...new Set(methods)].sort(), [
      "session/request_permission",
      "session/update",
    ]);
  }));

test("stdin closed in the middle of a turn ends mm, its command and the asked agent", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", always({ toolCalls: [askAgent("bob", "Work")] })),
        forModel("bob", always({ toolCalls: [bash("trap '' TERM HUP; sleep 300 | cat")] })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const editor = p.editor();
    const session = await editor.start();
    editor.prompt(session, "Go").catch(() => {});
    await editor.waitForUpdate((u) => /sleep 300/.test(JSON.stringify(u.update)));
    const closed = performance.now();
    editor.mm.endInput();
    assert.deepEqual(await editor.mm.exit, { code: 0, signal: null });
    // That no process is left is checked for every test.
    assert.ok(performance.now() - closed < 5000);
  }));

test("stdin closed before anything was said ends mm with 0 and an empty stdout", () =>
  withProject(async (p) => {
    await oneAgent(p, []);
    const { code, stdout, stderr } = await p.runMm(["-acp"]);
    assert.deepEqual({ code, stdout, stderr }, { code: 0, stdout: "", stderr: "" });
  }));

test("two sessions at the same time have each their directory, their files and their grants", () =>
  withProject(async (p) => {
    const both = Promise.withResolvers<void>();
    const server = await oneAgent(p, [
      onUser("Write", {
        toolCalls: [bash("pwd > where; echo $PWD"), { name: "read", arguments: { path: "name" } }],
        holdUntil: both.promise,
      }),
      onUser("Edit", {
        toolCalls: [{
          name: "edit",
          arguments: { path: "name", old_string: "I am", new_string: "You are" },
        }],
      }),
      onTool("", { text: "Done." }),
    ]);
    for (const name of ["a", "b"]) await p.write(`${name}/name`, `I am ${name}\n`);
    const editor = p.editor();
    await editor.initialize();
    const a = await editor.newSession({ cwd: p.path("a") });
    const b = await editor.newSession({ cwd: p.path("b") });
    const prompts = [editor.prompt(a, "Write"), editor.prompt(b, "Write")];
    await server.waitForRequest((r) => r.number === 2);
    both.resolve();
    for (const session of [a, b]) {
      const question = await editor.waitForPermission((q) => q.sessionId === session);
      question.choose(session === a ? "allow_always" : "allow_once");
    }
    await Promise.all(prompts);
    for (const name of ["a", "b"]) {
      assert.equal(await p.read(`${name}/where`), `${p.path(name)}\n`);
    }
    const seen = server.requests.filter((r) => r.last.role === "tool").map((r) => r.last.text);
    assert.ok(
      seen.some((text) => text.includes("I am a")) && seen.some((t) => t.includes("I am b")),
    );
    // The grant of one session is no grant of the other.
    const questions = editor.permissions.length;
    await editor.prompt(a, "Write");
    assert.equal(editor.permissions.length, questions);
    const asked = editor.prompt(b, "Write");
    (await editor.waitForPermission((q) => q.sessionId === b)).choose("reject_once");
    await asked;
    const editing = editor.prompt(b, "Edit");
    (await editor.waitForPermission((q) => q.sessionId === b)).choose("allow_once");
    await editing;
    assert.equal(await p.read("b/name"), "You are b\n");
    assert.equal(await p.read("a/name"), "I am a\n");
  }));

test("a relative directory and one that is not there open no session", () =>
  withProject(async (p) => {
    await oneAgent(p, []);
    const editor = p.editor();
    await editor.initialize();
    await assert.rejects(editor.newSession({ cwd: "here" }), /"cwd" must be absolute.*-32602/);
    await assert.rejects(editor.newSession({ cwd: p.path("no") }), /does not exist.*-32602/);
    await assert.rejects(editor.newSession({ cwd: p.path("agent.yaml") }), /no directory.*-32602/);
    await editor.newSession();
  }));

test("links and embedded files reach the model where they were mentioned", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, always({ text: "ok" }));
    const editor = p.editor();
    const session = await editor.start();
    const uri = pathToFileURL(p.path("src/näme with space.ts")).href;
    await editor.prompt(session, [
      { type: "text", text: "Compare " },
      { type: "resource_link", uri, name: "näme with space.ts" },
      { type: "text", text: " with " },
      {
        type: "resource",
        resource: { uri: "zed:///rules", text: "Be ``` brief", mimeType: "x/y" },
      },
      { type: "text", text: ", please" },
      { type: "resource", resource: { uri: "file:///a/logo.png", blob: "QUJD", mimeType: "i/p" } },
    ]);
    const text = server.requests[0]?.lastUser ?? "";
    assert.match(text, /^Compare \[näme with space\.ts\]\(/);
    assert.ok(
      text.includes(`(${p.path("src/näme with space.ts")}) with [rules](zed:///rules), please`),
    );
    assert.match(text, /logo\.png.*not shown/);
    assert.match(text, /Content of zed:\/\/\/rules:\n````+\nBe ``` brief\n````+/);
    assert.doesNotMatch(text, /QUJD/);
  }));

test("images are offered and sent only where the model is known to take them", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: always({ text: "A cat." }),
      route: ({ path }) =>
        path === "/props"
          ? {
            body: {
              default_generation_settings: { n_ctx: 4096 },
              modalities: { vision: true, audio: false },
            },
          }
          : undefined,
    });
    await p.write("agent.yaml", `provider: llamacpp\nbaseUrl: ${server.url}\nmodel: m\n`);
    const editor = p.editor();
    const session = await editor.start();
    // What the server takes is known once it was asked.
    const image = { type: "image", data: "iVBORw0KGgo=", mimeType: "image/png" };
    let sent: unknown;
    for (let attempt = 0; attempt < 40 && sent === undefined; attempt++) {
      sent = await editor.prompt(session, [{ type: "text", text: "What is it?" }, image])
        .catch(() => new Promise((resolve) => setTimeout(resolve, 50)));
    }
    const content = server.requests[0]?.messages.at(-1)?.content;
    assert.ok(Array.isArray(content));
    assert.match(JSON.stringify(content), /data:image\/png;base64,iVBORw0KGgo=/);
  }));

test("the mode, its option and /yolo say the same, whichever was used", () =>
  withProject(async (p) => {
    await oneAgent(p, [
      onUser("Go", { toolCalls: [bash("true")] }),
      onTool("", { text: "Done." }),
    ]);
    const editor = p.editor();
    await editor.initialize();
    const opened = await editor.request("session/new", { cwd: p.dir, mcpServers: [] });
    const session = opened.sessionId;
    const modeIn = (options: Json[]) => options.find((o) => o.id === "mode").currentValue;
    assert.equal(opened.modes.currentModeId, "ask");
    assert.equal(modeIn(opened.configOptions), "ask");
    const told = () => [
      editor.updatesOf(session, "current_mode_update").at(-1)?.currentModeId,
      modeIn(
        editor.updatesOf(session, "config_option_update").at(-1)?.configOptions ?? [{ id: "mode" }],
      ),
    ];

    await editor.request("session/set_mode", { sessionId: session, modeId: "yolo" });
    await editor.prompt(session, "Go");
    assert.equal(editor.permissions.length, 0);
    assert.deepEqual(told(), ["yolo", "yolo"]);

    const set = await editor.request("session/set_config_option", {
      sessionId: session,
      configId: "mode",
      value: "ask",
    });
    assert.equal(modeIn(set.configOptions), "ask");
    editor.onPermission = "allow_once";
    await editor.prompt(session, "Go");
    assert.equal(editor.permissions.length, 1);
    assert.deepEqual(told(), ["ask", "ask"]);

    await editor.prompt(session, "/yolo on");
    await editor.prompt(session, "Go");
    assert.equal(editor.permissions.length, 1);
    assert.deepEqual(told(), ["yolo", "yolo"]);

    for (
      const [method, params] of [
        ["session/set_mode", { modeId: "danger" }],
        ["session/set_config_option", { configId: "mode", value: "danger" }],
        ["session/set_config_option", { configId: "nothing", value: "x" }],
        ["session/set_config_option", { configId: "model", value: "other/model" }],
      ] as const
    ) {
      await assert.rejects(editor.request(method, { sessionId: session, ...params }), /-32602/);
    }
    assert.deepEqual(told(), ["yolo", "yolo"]);
  }));

test("the mode can be changed while a turn runs, and counts from the next call on", () =>
  withProject(async (p) => {
    await oneAgent(
      p,
      inOrder({ toolCalls: [bash("true")] }, { toolCalls: [bash("touch ran")] }, { text: "ok" }),
    );
    const editor = p.editor();
    const session = await editor.start();
    const prompt = editor.prompt(session, "Go");
    const question = await editor.waitForPermission();
    await editor.request("session/set_mode", { sessionId: session, modeId: "yolo" });
    question.choose("allow_once");
    assert.equal((await prompt).stopReason, "end_turn");
    assert.equal(editor.permissions.length, 1);
    assert.equal(p.exists("ran"), true);
  }));

test("a closed session cancels what runs in it and is known no more; others go on", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [onUser("One", { hang: true }), always({ text: "ok" })]);
    const editor = p.editor();
    const first = await editor.start();
    const second = await editor.newSession();
    const prompt = editor.prompt(first, "One");
    await server.waitForRequest(() => true);
    await editor.request("session/close", { sessionId: first });
    assert.equal((await prompt).stopReason, "cancelled");
    await assert.rejects(editor.prompt(first, "Two"), /-32002/);
    assert.equal((await editor.prompt(second, "Two")).stopReason, "end_turn");
  }));

test("lines that are no message are answered with an error and disturb nothing", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ text: "Fine." }));
    const editor = p.editor();
    const session = await editor.start();
    for (const line of ["not json", "{", '"text"', "[]", "", "\u{feff}", "\0\0"]) {
      editor.sendRaw(`${line}\n`);
    }
    editor.sendRaw(new Uint8Array([0xff, 0xfe, 0x0a]));
    await assert.rejects(editor.request("nonsense/method", {}), /-32601/);
    await assert.rejects(editor.request("session/prompt", { sessionId: session }), /-32602/);
    assert.equal((await editor.prompt(session, "Go")).stopReason, "end_turn");
    messages(editor);
  }));

test("tokens in use are told after each request, and paths are absolute under the session's cwd", () =>
  withProject(async (p) => {
    await p.write("sub/file.txt", "text\n");
    await oneAgent(
      p,
      inOrder(
        { toolCalls: [{ name: "read", arguments: { path: "file.txt" } }] },
        { text: "ok", usage: { prompt_tokens: 1000, completion_tokens: 24 } },
      ),
      { contextWindow: 4096 },
    );
    const editor = p.editor();
    await editor.initialize();
    const session = await editor.newSession({ cwd: p.path("sub") });
    await editor.prompt(session, "Go");
    const { used, size } = editor.updatesOf(session, "usage_update").at(-1);
    assert.deepEqual({ used, size }, { used: 1024, size: 4096 });
    const [call] = editor.toolCalls(session);
    assert.equal(call.kind, "read");
    assert.equal(call.locations[0].path, p.path("sub/file.txt"));
  }));
