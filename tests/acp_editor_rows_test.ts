/** What editors punish: the cases of `docs/reference/acp.md`, "How it is tested". */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { type Json, RpcError } from "./support/acp_editor.ts";
import { askAgent, bash, writeAgents } from "./support/agents.ts";
import { fakeAgent } from "./support/fake_agent.ts";
import { mcpServer } from "./support/mcp_server.ts";
import {
  always,
  forModel,
  inOrder,
  type ModelServer,
  onTool,
  onUser,
} from "./support/model_server.ts";
import { oneAgent, writeAgent } from "./support/one_agent.ts";
import { listOf, treeOf, waitForTree } from "./support/process_tree.ts";
import { withProject } from "./support/project.ts";
import { protocolSchema } from "./support/protocol_schema.ts";
import { messages } from "./support/wire_messages.ts";

test("each case of the reference names tests that there are", async () => {
  const page = await readFile(new URL("../docs/reference/acp.md", import.meta.url), "utf8");
  const section = page.slice(page.indexOf("## How it is tested"));
  const rows = [...section.matchAll(/^\| (D\d\d) +\|.*?\|(.*)\|$/gm)];
  assert.deepEqual(rows.map(([, id]) => id), [
    ...["D01", "D03", "D04", "D06", "D07", "D08", "D09", "D10", "D11", "D14"],
  ]);
  for (const [, id, tests = ""] of rows) {
    const named = [...tests.matchAll(/`([\w./]+_test\.ts)`: ([^;|]+)/g)];
    assert.ok(named.length > 0, id);
    for (const [, file = "", name = ""] of named) {
      const source = await readFile(new URL(`../${file}`, import.meta.url), "utf8");
      assert.ok(source.includes(name.trim()), `${id}: no test "${name.trim()}" in ${file}`);
    }
  }
});

test("all that can be noisy at once leaves stdout to the protocol", () =>
  withProject(async (p) => {
    // The window is known from a probe that has to fail, the instructions nearly fill it.
    const server = await p.model({
      reply: inOrder({ toolCalls: [bash("echo out; echo err >&2")] }, { text: "Fine." }),
      route: ({ path }) => path === "/v1/models" ? { status: 500, body: "<html>" } : undefined,
    });
    await p.write("AGENTS.md", "Never panic. ".repeat(2000));
    await writeAgent(p, server, {
      yolo: true,
      contextWindow: 16_384,
      mcpServers: {
        banner: mcpServer({ mode: "banner" }),
        broken: mcpServer({ mode: "exit" }),
        none: { command: "/no/such/program" },
      },
    });
    const editor = p.editor(["-verbose"]);
    const session = await editor.start();
    await editor.prompt(session, "Go");
    assert.match(editor.text(session), /Fine\.$/);
    const said = editor.text(session) + editor.thoughts(session);
    for (const words of [/AGENTS\.md/, /broken/, /none/]) assert.match(said, words);
    assert.ok(messages(editor).length > 5);
    assert.match(editor.mm.stderr, /AGENTS\.md/);
  }));

test("an editor that answers nothing holds up neither a cancel nor the end", () =>
  withProject(async (p) => {
    const question = { name: "ask_user", arguments: { question: "Which?", options: ["a", "b"] } };
    await oneAgent(p, [
      onUser("Permit", { toolCalls: [bash("touch ran")] }),
      onUser("Choose", { toolCalls: [question] }),
      always({ text: "ok" }),
    ]);
    const editor = p.editor();
    // It offers everything there is, and leaves each question open.
    await editor.initialize({
      clientCapabilities: {
        fs: { readTextFile: true, writeTextFile: true },
        terminal: true,
        elicitation: { form: {}, url: {} },
        session: { notices: {}, compaction: {}, configOptions: { boolean: {} } },
        _meta: { terminal_output: true },
      },
    });
    const asked: string[] = [];
    editor.onOtherRequest = (method) => {
      asked.push(method);
      return new Promise(() => {});
    };
    const session = await editor.newSession();
    for (const text of ["Permit", "Choose"]) {
      const prompt = editor.prompt(session, text);
      await editor.waitForUpdate((u) =>
        u.kind === "tool_call" && u.update.name === (text === "Permit" ? "bash" : "ask_user")
      );
      if (text === "Permit") await editor.waitForPermission();
      editor.cancel(session);
      assert.equal((await prompt).stopReason, "cancelled");
    }
    assert.equal((await editor.prompt(session, "Go on")).stopReason, "end_turn");
    assert.equal(p.exists("ran"), false);
    // And with a question open, the end of the input is the end.
    editor.prompt(session, "Permit").catch(() => {});
    await editor.waitForPermission((q) => !q.answered && editor.permissions.indexOf(q) > 0);
    const closed = performance.now();
    editor.mm.endInput();
    assert.deepEqual(await editor.mm.exit, { code: 0, signal: null });
    assert.ok(performance.now() - closed < 5000);
    assert.deepEqual(asked.filter((method) => method !== "elicitation/create"), []);
    const methods = new Set(messages(editor).flatMap((m) => m.method ?? []));
    methods.delete("$/cancel_request");
    methods.delete("elicitation/create");
    assert.deepEqual([...methods].sort(), ["session/request_permission", "session/update"]);
  }));

test("an asked agent that wants to read a file through mm is told at once that there is no such method", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: forModel("you", inOrder({ toolCalls: [askAgent("bob", "Read")] }, { text: "ok" })),
    });
    await writeAgents(p, {
      server,
      you: { yolo: true },
      bobEntry: { command: fakeAgent({ behaviour: "read_file" }) },
    });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "Go");
    assert.match(server.requests.at(-1)?.last.text ?? "", /-32601/);
  }));

test("the end of the input in the middle of a call ends commands, MCP servers and asked agents", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", always({ toolCalls: [askAgent("bob", "Work")] })),
        forModel(
          "bob",
          always({ toolCalls: [bash("trap '' TERM HUP; sleep 300 & echo up; sleep 300")] }),
        ),
      ],
    });
    await writeAgents(p, {
      server,
      you: { yolo: true, mcpServers: { own: mcpServer({ mode: "stubborn" }) } },
      bob: { mcpServers: { his: mcpServer({ mode: "stubborn" }) } },
    });
    const editor = p.editor();
    await editor.initialize();
    const session = await editor.newSession({
      mcpServers: [{ name: "editors", args: [], env: [], ...commandOf(mcpServer()) }],
    });
    editor.prompt(session, "Go").catch(() => {});
    await editor.waitForUpdate(
      (u) => /^```\nup\n/.test(u.update.content?.[0]?.content?.text ?? ""),
      {
        timeoutMs: 60_000,
      },
    );
    // The shell says "up" before it has started the last of them.
    const tree = await waitForTree(() => treeOf(editor.mm.pid, p.mark), (all) => {
      const running = all.map(({ command }) => command).join("\n");
      return running.match(/mcp_server\.ts/g)?.length === 3 &&
        running.match(/^sleep 300/gm)?.length === 2;
    });
    assert.match(listOf(tree), /bob\.yaml/);
    const closed = performance.now();
    editor.mm.endInput();
    assert.deepEqual(await editor.mm.exit, { code: 0, signal: null });
    assert.ok(performance.now() - closed < 5000, `${performance.now() - closed} ms`);
    // That no process is left is checked when the project closes.
  }));

/** An entry of the configuration as an editor writes it. */
function commandOf({ command, args }: { command: string; args: readonly string[] }): Json {
  return { command, args };
}

test("nothing that mm sends comes near 32 MiB, whatever models and commands write", () =>
  withProject(async (p) => {
    const huge = "x".repeat(6 * 1024 * 1024);
    await p.write("old.txt", `${huge}\nend\n`);
    const server = await p.model({
      reply: [
        onUser("Go", {
          chunks: [`${huge}\u{1f600}`, `${huge}`],
          toolCalls: [
            bash("head -c 45000000 /dev/zero | tr '\\0' y"),
            { name: "write", arguments: { path: "new.txt", content: huge } },
            { name: "edit", arguments: { path: "old.txt", old_string: "end", new_string: "end!" } },
          ],
        }),
        onTool("", { text: "Done." }),
      ],
      window: 100_000_000,
    });
    await writeAgent(p, server);
    const editor = p.editor();
    editor.onPermission = "allow_once";
    const session = await editor.start();
    const reply = await editor.request("session/prompt", {
      sessionId: session,
      prompt: [{ type: "text", text: "Go" }],
    }, { timeoutMs: 90_000 });
    assert.equal(reply.stopReason, "end_turn");
    assert.equal((await p.read("new.txt")).length, huge.length);
    const lengths = editor.mm.stdout.split("\n").map((line) => line.length);
    assert.ok(Math.max(...lengths) < 4 * 1024 * 1024, `${Math.max(...lengths)}`);
    // All of the answer came all the same, in pieces.
    assert.equal(editor.text(session).length, 2 * huge.length + 2 + "Done.".length);
    for (const { toolCall } of editor.permissions) {
      assert.ok(JSON.stringify(toolCall).length < 4 * 1024 * 1024);
    }
  }));

test("every kind of update that the protocol has is sent, and fits its schema", () =>
  withProject(async (p) => {
    const schema = await protocolSchema();
    const todo = { todos: [{ content: "Ask bob", status: "in_progress" }] };
    const server: ModelServer = await p.model({
      reply: [
        forModel("bob", always({ text: "I am bob." })),
        onUser("Write the summary of this conversation", () => {
          server.allowNewPrefix();
          return { text: "They planned." };
        }),
        onUser("Go", {
          reasoning: "Hm.",
          text: "I begin.",
          toolCalls: [
            { name: "todo", arguments: todo },
            { name: "write", arguments: { path: "a.txt", content: "a\n" } },
            { name: "read", arguments: { path: "a.txt" } },
            bash("echo one"),
            askAgent("bob", "Who are you?"),
          ],
        }),
        onTool("", { text: "Done." }),
        onUser("Fail", { status: 400, body: { error: { message: "boom" } } }),
      ],
    });
    await writeAgents(p, { server });
    const capabilities = {
      session: { notices: {}, compaction: {} },
      _meta: { terminal_output: true },
    };
    const editor = p.editor();
    editor.onPermission = "allow_once";
    const replies: [string, Json][] = [];
    const hello = { clientCapabilities: capabilities };
    replies.push(["InitializeResponse", await editor.initialize(hello)]);
    const opened = await editor.request("session/new", { cwd: p.dir, mcpServers: [] });
    replies.push(["NewSessionResponse", opened]);
    const { sessionId } = opened;
    replies.push([
      "SetSessionConfigOptionResponse",
      await editor.request("session/set_config_option", {
        sessionId,
        configId: "mode",
        value: "yolo",
      }),
    ]);
    await editor.request("session/set_mode", { sessionId, modeId: "ask" });
    replies.push(["PromptResponse", await editor.prompt(sessionId, "Go")]);
    await editor.prompt(sessionId, "/ask-bob Hello");
    await editor.prompt(sessionId, "/compact");
    await assert.rejects(editor.prompt(sessionId, "Fail"), RpcError);
    const list = await editor.request("session/list", {});
    replies.push(["ListSessionsResponse", list]);
    await editor.request("session/close", { sessionId });
    const params = { sessionId, cwd: p.dir, mcpServers: [] };
    replies.push(["LoadSessionResponse", await editor.request("session/load", params)]);

    const faults = replies.flatMap(([type, reply]) => schema.faults(type, reply));
    for (const message of messages(editor)) {
      if (message.method === "session/update") {
        faults.push(...schema.faults("SessionNotification", message.params));
      } else if (message.method === "session/request_permission") {
        faults.push(...schema.faults("RequestPermissionRequest", message.params));
      }
    }
    assert.deepEqual([...new Set(faults)], []);
    const sent = new Set(editor.updates.map((update) => update.kind));
    assert.equal(schema.updateKinds.length, 14);
    assert.deepEqual(schema.updateKinds.filter((kind) => !sent.has(kind)), []);
  }));
