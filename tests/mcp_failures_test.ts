import assert from "node:assert/strict";
import { test } from "node:test";
import { assertNoProcessLeft } from "./support/leftovers.ts";
import { mcpServer, startHttpMcp } from "./support/mcp_server.ts";
import { call, mcpNames, resultIn, withServer } from "./support/mcp_stage.ts";
import { always, inOrder } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { withProject } from "./support/project.ts";

test("broken servers are named and left out, in bounded time; session/new waits for none", () =>
  withProject(async (p) => {
    const web = await startHttpMcp();
    web.failWith(500);
    p.defer(() => web.close());
    const server = await oneAgent(p, always({ text: "Hi." }), {
      mcpServers: {
        missing: { command: "/no/such/server" },
        nowhere: { command: "mm-test-no-such-program" },
        gone: mcpServer({ mode: "exit" }),
        silent: mcpServer({ mode: "hang" }),
        chatty: mcpServer({ mode: "banner" }),
        web: { url: web.url },
      },
    });
    const editor = p.editor();
    const before = performance.now();
    const session = await editor.start();
    const opened = performance.now() - before;
    await editor.prompt(session, "Hello");
    const took = performance.now() - before;
    assert.ok(took < 5000 + opened + 4000, `${took} ms, ${opened} to open`);
    const text = editor.text(session);
    assert.match(
      text,
      /MCP server "missing" cannot start "\/no\/such\/server": there is no such file/,
    );
    assert.match(text, /MCP server "nowhere" cannot start .*no such program on the PATH/);
    assert.match(text, /MCP server "gone" exited with status 3; its last words: no licence/);
    assert.match(text, /MCP server "silent" is not ready after 5 s/);
    assert.match(text, /MCP server "web" answered with the HTTP status 500: it is broken/);
    assert.doesNotMatch(text, /"chatty"/);
    assert.match(text, /Hi\.$/);
    assert.match(editor.thoughts(session), /Waiting for the MCP servers .*silent/);
    assert.deepEqual(
      [...new Set(mcpNames(server.requests[0]!).map((name) => name.split("__")[1]))],
      ["chatty"],
    );
    const again = performance.now();
    await editor.prompt(session, "Hello again");
    assert.ok(performance.now() - again < 3000, "the second prompt waits for no server");
    assert.equal(server.requests[1]?.toolNames.length, server.requests[0]?.toolNames.length);
  }));

test("the first prompt waits for a slow server, so that its tools are there from the start", () =>
  withServer(always({ text: "Hi." }), async ({ server, editor, session }) => {
    await editor.prompt(session, "Hello");
    assert.equal(mcpNames(server.requests[0]!).length, 11);
  }, { mode: "slow" }));

test("a cancel ends the wait for a server at once", () =>
  withServer([], async ({ server, editor, session }) => {
    const prompt = editor.prompt(session, "Hello");
    await editor.waitForUpdate(({ update }) => /Waiting for/.test(update.content?.text ?? ""));
    const before = performance.now();
    editor.cancel(session);
    assert.equal((await prompt).stopReason, "cancelled");
    assert.ok(performance.now() - before < 2000);
    assert.equal(server.requests.length, 0);
  }, { mode: "hang" }));

test("a server that dies in a call fails the call; the next call starts it again and says so", () =>
  withServer(
    inOrder(
      { toolCalls: [call("mcp__t__die")] },
      { toolCalls: [call("mcp__t__echo", { text: "back" })] },
      { toolCalls: [call("mcp__t__die")] },
      { toolCalls: [call("mcp__t__echo", { text: "no" })] },
      { text: "Done." },
    ),
    async ({ server, editor, session, seen }) => {
      await editor.prompt(session, "Go");
      assert.match(
        resultIn(server, 1),
        /^The MCP server "t" exited with status 4; its last words: out of memory\. Whether .*The next call starts/,
      );
      assert.match(
        resultIn(server, 2),
        /^\[The MCP server "t" had ended \(it exited with status 4.*\) and was started again for this call\]\nECHO back$/s,
      );
      assert.match(resultIn(server, 3), /exited with status 4.*\/new tries to start it again/s);
      assert.match(resultIn(server, 4), /^The MCP server "t" exited with status 4.*\/new/s);
      assert.equal((await seen()).filter((entry) => entry["start"] !== undefined).length, 2);
      assert.equal(editor.text(session), "Done.");
    },
  ));

test("a server that dies after each call is started again once, not over and over", () =>
  withServer(
    inOrder(
      ...["one", "two", "three", "four"].map((text) => ({
        delayMs: 300,
        toolCalls: [call("mcp__t__echo", { text })],
      })),
      { text: "Done." },
    ),
    async ({ server, editor, session, seen }) => {
      await editor.prompt(session, "Go");
      assert.equal(resultIn(server, 1), "ECHO one");
      assert.match(resultIn(server, 2), /started again for this call\]\nECHO two$/);
      assert.match(resultIn(server, 3), /^The MCP server "t" exited with status 5/);
      assert.match(resultIn(server, 4), /^The MCP server "t" exited with status 5/);
      assert.equal((await seen()).filter((entry) => entry["start"] !== undefined).length, 2);
    },
    { mode: "die_after_call" },
  ));

test("an HTTP server that lost its session, or breaks off an answer, is reached again", () =>
  withProject(async (p) => {
    const web = await startHttpMcp();
    p.defer(() => web.close());
    const server = await oneAgent(
      p,
      inOrder(
        { toolCalls: [call("mcp__web__die")] },
        { toolCalls: [call("mcp__web__echo", { text: "a" })] },
        () => {
          web.forget();
          return { toolCalls: [call("mcp__web__echo", { text: "b" })] };
        },
        { text: "Done." },
      ),
      { yolo: true, mcpServers: { web: { url: web.url } } },
    );
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "Go");
    assert.match(resultIn(server, 1), /^The MCP server "web" closed the connection/);
    assert.match(resultIn(server, 2), /ECHO a$/);
    assert.match(resultIn(server, 3), /^\[The MCP server "web" had ended .*404.*\]\nECHO b$/s);
  }));

test("a cancel reaches the server, and the session goes on", () =>
  withServer(
    inOrder(
      { toolCalls: [call("mcp__t__wait")] },
      { toolCalls: [call("mcp__t__echo", { text: "still" })] },
      { text: "Done." },
    ),
    async ({ server, editor, session, seen }) => {
      const prompt = editor.prompt(session, "Go");
      await editor.waitForUpdate(({ update }) =>
        /a third is done/.test(JSON.stringify(update.content ?? ""))
      );
      editor.cancel(session);
      assert.equal((await prompt).stopReason, "cancelled");
      await editor.prompt(session, "Again");
      assert.equal(resultIn(server, 2), "ECHO still");
      const [started] = (await seen()).filter((entry) => entry["name"] === "wait");
      const [cancelled] = (await seen())
        .filter((entry) => entry["method"] === "notifications/cancelled");
      assert.ok(started !== undefined && cancelled !== undefined);
    },
  ));

test("a call without a sign of life ends after bashTimeoutMax, and the turn goes on", () =>
  withServer(
    inOrder({ toolCalls: [call("mcp__t__wait")] }, { text: "Done." }),
    async ({ server, editor, session }) => {
      await editor.prompt(session, "Go");
      assert.equal(resultIn(server, 1), 'The MCP server "t" gave no answer within 1 s');
      assert.equal(editor.text(session), "Done.");
    },
    // The watchdog would come first if it counted while a call runs.
    { keys: { bashTimeout: "1s", bashTimeoutMax: "1s", watchdogTimeout: "900ms" } },
  ));

test("servers end with mm, also those that ignore it, and when mm is killed", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ text: "Hi." }), {
      mcpServers: { a: mcpServer({ mode: "stubborn" }), b: mcpServer() },
    });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "Hello");
    const before = performance.now();
    editor.mm.endInput();
    await editor.mm.exit;
    assert.ok(performance.now() - before < 4000);
    await assertNoProcessLeft(p.mark);

    const killed = p.editor();
    await killed.prompt(await killed.start(), "Hello");
    killed.mm.signal("SIGKILL");
    await killed.mm.exit;
    await assertNoProcessLeft(p.mark);
  }));
