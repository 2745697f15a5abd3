import assert from "node:assert/strict";
import { test } from "node:test";
import type { Keys } from "./support/agents.ts";
import { processesOf } from "./support/leftovers.ts";
import { mcpServer, startHttpMcp } from "./support/mcp_server.ts";
import { call, mcpNames, resultIn, withServer } from "./support/mcp_stage.ts";
import { always, inOrder } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { withProject } from "./support/project.ts";

/** Starts that may take long on a busy machine: the server is a program of its own. */
const SLOW = { timeoutMs: 60_000 };

test("the tools of a server reach the model with their schemas, after mm's own", () =>
  withServer(always({ text: "Hi." }), async ({ server, editor, session }) => {
    await editor.prompt(session, "Hello");
    const [request] = server.requests;
    assert.ok(request !== undefined);
    assert.deepEqual(mcpNames(request), [
      "mcp__t__echo",
      "mcp__t__look",
      "mcp__t__fail",
      "mcp__t__refuse",
      "mcp__t__rich",
      "mcp__t__big",
      "mcp__t__wait",
      "mcp__t__die",
      "mcp__t__grow",
      "mcp__t__env",
      "mcp__t__name_with_spaces_and_dots",
    ]);
    assert.deepEqual(request.toolNames.slice(-11), mcpNames(request));
    const tools = request.body["tools"] as readonly { readonly function: Keys }[];
    const echo = tools.find((tool) => tool.function["name"] === "mcp__t__echo")?.function;
    assert.deepEqual(echo, {
      name: "mcp__t__echo",
      description: "Says it again",
      parameters: {
        type: "object",
        properties: { text: { type: "string" } },
        required: ["text"],
      },
    });
  }));

test("a call goes to the server, and its result to the model and the editor", () =>
  withServer(
    inOrder(
      { toolCalls: [call("mcp__t__echo", { text: "déjà vu" })] },
      { toolCalls: [call("mcp__t__rich"), call("mcp__t__fail"), call("mcp__t__refuse")] },
      { text: "Done." },
    ),
    async ({ server, editor, session }) => {
      await editor.prompt(session, "Go");
      assert.equal(resultIn(server, 1), "ECHO déjà vu");
      const results = (server.requests[2]?.messages ?? []).filter((m) => m.role === "tool")
        .map((m) => String(m.content));
      assert.equal(
        results[1],
        "words\n[image image/png, 3 bytes, not shown]\n[resource file:///a]\ninside\n" +
          "[resource file:///b, x/y, 3 bytes, not shown]\n[resource file:///c: see there]\n" +
          '{\n "answer": 42\n}',
      );
      assert.equal(results[2], "no such thing");
      assert.match(results[3] ?? "", /^The MCP server "t" answered with an error: not like that/);
      const calls = editor.toolCalls(session);
      assert.deepEqual(calls.map((c) => c.status), ["completed", "completed", "failed", "failed"]);
      assert.equal(calls[0].title, 'echo {"text":"déjà vu"}');
      assert.deepEqual(calls[0].rawInput, { text: "déjà vu" });
      assert.equal(editor.text(session), "Done.");
    },
  ));

test("maxOutput bounds a server's result, with the facts", () =>
  withServer(
    inOrder({ toolCalls: [call("mcp__t__big")] }, { text: "Done." }),
    async ({ server, editor, session }) => {
      await editor.prompt(session, "Go");
      const result = resultIn(server, 1);
      assert.ok(result.length <= 1000, `${result.length}`);
      assert.match(result, /\d+ of 130000 characters left out/);
    },
    { keys: { maxOutput: 1000 } },
  ));

test("a call asks first unless the server says that the tool only reads", () =>
  withServer(
    inOrder(
      { toolCalls: [call("mcp__t__look"), call("mcp__t__echo", { text: "a" })] },
      { text: "Done." },
    ),
    async ({ server, editor, session }) => {
      editor.onPermission = "reject_once";
      await editor.prompt(session, "Go");
      assert.deepEqual(editor.permissions.map((q) => q.toolCall.title), ['echo {"text":"a"}']);
      const results = (server.requests[1]?.messages ?? []).filter((m) => m.role === "tool");
      assert.deepEqual(String(results[0]?.content), "the note");
      assert.match(String(results[1]?.content), /^Not run: the user rejected/);
    },
    { keys: { yolo: false } },
  ));

test("rules and the list of tools name the tools of servers, with patterns", () =>
  withServer(
    inOrder(
      {
        toolCalls: [
          call("mcp__t__look"),
          call("mcp__t__echo", { text: "a" }),
          call("mcp__t__fail"),
        ],
      },
      { text: "Done." },
    ),
    async ({ server, editor, session }) => {
      await editor.prompt(session, "Go");
      const [first, second] = server.requests;
      assert.deepEqual(first?.toolNames, [
        "read",
        "mcp__t__echo",
        "mcp__t__look",
        "mcp__t__env",
      ]);
      const results = (second?.messages ?? []).filter((m) => m.role === "tool")
        .map((m) => String(m.content));
      assert.match(results[0] ?? "", /the rule "mcp__t__l\*" denies mcp__t__look/);
      assert.equal(results[1], "ECHO a");
      assert.match(results[2] ?? "", /There is no tool "mcp__t__fail"/);
      assert.equal(editor.permissions.length, 0);
    },
    {
      keys: {
        yolo: false,
        tools: ["read", "mcp__t__e*", "mcp__*__look"],
        permissions: { allow: ["mcp__t__echo"], deny: ["mcp__t__l*"] },
      },
    },
  ));

test("the servers of an editor join those of the configuration and end with the session", () =>
  withServer(
    inOrder(
      { text: "One." },
      { toolCalls: [call("mcp__my_notes__echo", { text: "x" })] },
      { text: "Two." },
    ),
    async ({ p, server, editor, session }) => {
      const { command, args, env } = mcpServer({ log: p.path("editor.log") });
      const pairs = Object.entries(env).map(([name, value]) => ({ name, value }));
      const other = await editor.newSession({
        mcpServers: [
          { name: "my notes", command, args, env: pairs },
          { name: "t", command, args, env: pairs },
        ],
      });
      await editor.prompt(session, "Hello");
      await editor.prompt(other, "Hello");
      assert.deepEqual(
        [...new Set(mcpNames(server.requests[0]!).map((name) => name.split("__")[1]))],
        ["t"],
      );
      assert.deepEqual(
        [...new Set(mcpNames(server.requests[1]!).map((name) => name.split("__")[1]))],
        ["t", "my_notes", "t-2"],
      );
      assert.equal(resultIn(server, 2), "ECHO x");
      const running = async () =>
        (await processesOf(p.mark)).filter(({ command }) => command.includes("mcp_server.ts"))
          .length;
      assert.equal(await running(), 3, "the two sessions share the configuration's server");
      await editor.request("session/close", { sessionId: other });
      assert.equal(await running(), 1);
    },
  ));

test("a server over HTTP gets its headers, and its session ends with mm", () =>
  withProject(async (p) => {
    const web = await startHttpMcp();
    p.defer(() => web.close());
    const server = await oneAgent(
      p,
      inOrder({ toolCalls: [call("mcp__web__echo", { text: "far" })] }, { text: "Done." }),
      {
        yolo: true,
        mcpServers: { web: { url: web.url, headers: { Authorization: "Bearer abc-secret" } } },
      },
    );
    const { stdout, code } = await p.runMm(["-p", "Go"], SLOW);
    assert.equal(stdout, "Done.\n");
    assert.equal(code, 0);
    assert.equal(resultIn(server, 1), "ECHO far");
    assert.ok(web.headers.every((h) => h.authorization === "Bearer abc-secret"));
    assert.equal(web.seen.at(-1), "DELETE");
  }));

test("a server of the editor over HTTP is used where the editor offers one", () =>
  withProject(async (p) => {
    const web = await startHttpMcp();
    p.defer(() => web.close());
    const server = await oneAgent(
      p,
      inOrder({ toolCalls: [call("mcp__web__echo", { text: "far" })] }, { text: "Done." }),
      { yolo: true },
    );
    const editor = p.editor();
    const { agentCapabilities } = await editor.initialize();
    assert.deepEqual(agentCapabilities.mcpCapabilities, { http: true, sse: false });
    const headers = [{ name: "X-Key", value: "k" }];
    const session = await editor.newSession({
      mcpServers: [{ type: "http", name: "web", url: web.url, headers }],
    });
    await editor.prompt(session, "Go");
    assert.equal(resultIn(server, 1), "ECHO far");
    assert.equal(web.headers[0]?.["x-key"], "k");
  }));

test("the tools of a conversation stay when the server changes them; /new takes the new ones", () =>
  withServer(
    inOrder(
      { toolCalls: [call("mcp__t__grow")] },
      { text: "Grown." },
      { text: "Same." },
      { text: "New." },
    ),
    async ({ server, editor, session }) => {
      await editor.prompt(session, "Go");
      await editor.prompt(session, "And?");
      assert.ok(!server.requests.some((r) => r.toolNames.includes("mcp__t__added")));
      await editor.prompt(session, "/new");
      await editor.prompt(session, "Now?");
      assert.ok(server.requests.at(-1)?.toolNames.includes("mcp__t__added"));
    },
  ));

test("what is meant for mm alone does not reach a server", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      inOrder({ toolCalls: [call("mcp__t__env")] }, { text: "Done." }),
      { mcpServers: { t: mcpServer({ env: { MINE: "given" } }) }, apiKey: "${THE_KEY}" },
    );
    const env = {
      THE_KEY: "sk-of-the-model",
      OPENAI_API_KEY: "sk-other",
      AGENT_YOLO: "true",
      OTHER: "passed on",
    };
    await p.runMm(["-p", "Go"], { env, ...SLOW });
    const told = JSON.parse(resultIn(server, 1)) as { readonly cwd: string; readonly env: Keys };
    assert.equal(told.cwd, p.dir);
    assert.equal(told.env["MINE"], "given");
    assert.equal(told.env["OTHER"], "passed on");
    // MM_GROUP is the mark by which mm finds and ends what it started.
    const names = Object.keys(told.env);
    const mine = /^(?:AGENT_|OPENAI_|THE_KEY$|MM_(?!TEST_RUN|GROUP$))/;
    assert.deepEqual(names.filter((name) => mine.test(name)), []);
  }));

test("/mcp shows servers, state and tools; /tools which of them ask", () =>
  withServer(always({ text: "Hi." }), async ({ editor, session }) => {
    await editor.prompt(session, "Hello");
    await editor.prompt(session, "/mcp");
    const text = editor.text(session);
    assert.match(
      text,
      /t - ready, test-server 1\.0, 2 of 11 tools\n {2}mcp__t__echo, mcp__t__look\n/,
    );
    assert.match(text, /bad - failed\n {2}it cannot start "\/no\/such"/);
    await editor.prompt(session, "/tools");
    assert.match(editor.text(session), /mcp__t__echo \(asks\)\nmcp__t__look\n/);
  }, {
    keys: {
      yolo: false,
      tools: ["read", "mcp__t__echo", "mcp__t__look"],
      mcpServers: { t: mcpServer(), bad: { command: "/no/such" } },
    },
  }));

test("without servers /mcp says how to have some, and nothing of MCP is loaded", () =>
  withProject(async (p) => {
    await oneAgent(p, []);
    const { stdout } = await p.runMm(["-p", "/mcp"]);
    assert.match(stdout, /no MCP servers; the configuration names them under mcpServers/);
  }));

test("-check starts each server once and says what works", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ text: "ready" }), {
      tools: ["bash", "mcp__t__ech", "mcp__t__look"],
      mcpServers: { t: mcpServer() },
    });
    const good = await p.runMm(["-check"], SLOW);
    assert.equal(good.code, 0, good.stdout);
    assert.match(good.stdout, /OK +mcp t +test-server 1\.0, 1 of 11 tools, ready in /);
    assert.match(
      good.stdout,
      /"mcp__t__ech" names no tool of these servers/,
    );
    await oneAgent(p, always({ text: "ready" }), {
      mcpServers: { t: mcpServer(), gone: mcpServer({ mode: "exit" }) },
    });
    const bad = await p.runMm(["-check"], SLOW);
    assert.equal(bad.code, 1);
    assert.match(bad.stdout, /FAIL +mcp gone +it exited with status 3; its last words: no licence/);
  }));

test("wrong entries of mcpServers are errors that say what is right", () =>
  withProject(async (p) => {
    await oneAgent(p, [], {
      mcpServers: {
        "a b": { command: "x" },
        both: { command: "x", url: "http://h/" },
        none: {},
        bad: { url: "ftp://h/secret" },
        mixed: { url: "http://h/", env: { A: "b" } },
      },
    });
    const { stderr, code } = await p.runMm(["-p", "Hi"]);
    assert.equal(code, 2);
    assert.match(stderr, /"mcpServers\.a b" is not the name of an MCP server/);
    assert.match(stderr, /"mcpServers\.both" has both command and url/);
    assert.match(stderr, /"mcpServers\.none" has neither command nor url/);
    assert.match(stderr, /"mcpServers\.bad\.url" must be an address that begins with http/);
    assert.match(stderr, /"mcpServers\.mixed" has args or env, which belong to command/);
    assert.doesNotMatch(stderr, /secret/);
  }));
