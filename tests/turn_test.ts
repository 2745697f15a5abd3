import assert from "node:assert/strict";
import { test } from "node:test";
import { bash } from "./support/agents.ts";
import { always, inOrder, onTool, onUser } from "./support/model_server.ts";
import { asksAgain, still, withTurn } from "./support/turn_stage.ts";

/** Waits, in a command, until the file exists that another one makes. */
const until = (file: string) =>
  `for i in $(seq 200); do [ -e ${file} ] && break; sleep 0.05; done; [ -e ${file} ] && echo met`;

test("commands of one answer run one after the other", () =>
  withTurn([
    inOrder(
      {
        toolCalls: [
          bash("date +%s%N > a; sleep 0.3; date +%s%N > b"),
          bash("date +%s%N > c"),
        ],
      },
      { text: "Done." },
    ),
  ], async ({ p, editor, session }) => {
    await editor.prompt(session, "Go");
    assert.equal(editor.text(session), "Done.");
    assert.ok(BigInt(await p.read("b")) < BigInt(await p.read("c")));
  }));

test("calls of tools that only read are all announced and running before the first one ends", () =>
  withTurn(
    inOrder(
      { toolCalls: ["a", "b", "c"].map((word) => grep(`text of ${word}`)) },
      (request) => {
        const results = request.messages.filter((m) => m.role === "tool");
        assert.deepEqual(
          results.map((m) => /text of ./.exec(String(m.content))?.[0]),
          ["text of a", "text of b", "text of c"],
        );
        return { text: "Read." };
      },
    ),
    async ({ p, editor, session }) => {
      for (const name of ["a", "b", "c"]) await p.write(name, `text of ${name}\n`);
      await editor.prompt(session, "Read them");
      const states = editor.updates.filter((u) => u.update.toolCallId !== undefined)
        .map((u) => u.update.status as string);
      assert.equal(states.filter((state) => state === "completed").length, 3);
      assert.ok(states.indexOf("completed") > states.lastIndexOf("in_progress"), `${states}`);
      assert.equal(editor.text(session), "Read.");
    },
  ));

function grep(pattern: string) {
  return { name: "grep", arguments: { pattern } };
}

test("the results stand in the order of the calls, each under its own id", () =>
  withTurn(
    inOrder(
      {
        toolCalls: [
          { name: "read", arguments: { path: "missing" }, id: "one" },
          { ...bash("echo two"), id: "two" },
          { name: "read", arguments: { path: "agent.yaml" }, id: "three" },
        ],
      },
      { text: "ok" },
    ),
    async ({ editor, server, session }) => {
      await editor.prompt(session, "Go");
      const results = server.requests[1]?.messages.filter((m) => m.role === "tool") ?? [];
      assert.deepEqual(results.map((m) => m.tool_call_id), ["one", "two", "three"]);
      assert.match(String(results[1]?.content), /two/);
      assert.match(String(results[2]?.content), /llamacpp/);
    },
  ));

test("an unknown tool, wrong arguments and broken JSON are results that say how it is right", () =>
  withTurn([
    onUser("Go", {
      toolCalls: [
        { name: "raed", arguments: { path: "x" } },
        { name: "Bash", arguments: { command: "printf meant" } },
        { name: "read", arguments: {} },
        { name: "read", arguments: { path: "x", limit: "many" } },
        { name: "bash", arguments: '{"command": "echo' },
        { name: "bash", arguments: "" },
      ],
    }),
    onTool("", { text: "I see." }),
    still,
  ], async (stage) => {
    const { editor, server, session } = stage;
    await editor.prompt(session, "Go");
    const results = (server.requests[1]?.messages ?? [])
      .filter((m) => m.role === "tool").map((m) => String(m.content));
    assert.match(results[0] ?? "", /no tool "raed".*bash, .*write.*; did you mean "read"\?/);
    assert.match(results[1] ?? "", /^meant/, "another case of a tool's name is that tool");
    assert.match(results[2] ?? "", /Wrong arguments for read: .*path/);
    assert.match(results[3] ?? "", /Wrong arguments for read: .*limit/);
    assert.match(results[4] ?? "", /Wrong arguments for bash: .*not valid JSON/);
    assert.match(results[5] ?? "", /Wrong arguments for bash: .*command/);
    assert.deepEqual(
      editor.toolCalls(session).map((c) => c.status),
      ["failed", "completed", "failed", "failed", "failed", "failed"],
    );
    assert.deepEqual(
      editor.toolCalls(session).map((c) => c.title),
      [
        'unknown tool "raed"',
        "printf meant",
        "wrong arguments for read",
        "wrong arguments for read",
        "wrong arguments for bash",
        "wrong arguments for bash",
      ],
    );
    await asksAgain(stage);
  }));

test("maxTurns ends the turn with its own stop reason, the results of the last calls kept", () =>
  withTurn([
    still,
    always({ text: "On it.", toolCalls: [bash("echo again")] }),
  ], async (stage) => {
    const { editor, server, session } = stage;
    const { stopReason } = await editor.prompt(session, "Never end");
    assert.equal(stopReason, "max_turn_requests");
    assert.equal(server.requests.length, 3);
    const messages = await asksAgain(stage);
    assert.match(messages.at(-3) ?? "", /^tool: .*again/s);
    assert.equal(messages.at(-2), "assistant: [stopped at a limit]");
  }, { maxTurns: 3 }));

test("maxOutput bounds what a result adds to the conversation, with the facts, and shows all", () =>
  withTurn(
    inOrder({ toolCalls: [bash("seq 1 3000")] }, { text: "Counted." }),
    async ({ editor, server, session }) => {
      await editor.prompt(session, "Count");
      const result = server.requests[1]?.last.text ?? "";
      assert.ok(result.length <= 1000, `${result.length}`);
      assert.match(result, /^1\n2\n/);
      assert.match(result, /3000/);
      assert.match(result, /left out/);
    },
    { maxOutput: 1000 },
  ));

test("an answer cut by the output limit is kept as far as it came, and the next question works", () =>
  withTurn([
    onUser("Tell", { text: "Once upon a", finish: "length" }),
    still,
  ], async (stage) => {
    const { editor, session } = stage;
    const { stopReason } = await editor.prompt(session, "Tell");
    assert.equal(stopReason, "max_tokens");
    assert.equal(editor.text(session), "Once upon a");
    assert.equal((await asksAgain(stage))[1], "assistant: Once upon a");
  }));

test("calls whose arguments were cut by the output limit do not run", () =>
  withTurn([
    onUser("Go", {
      text: "Now",
      toolCalls: [bash("touch ran"), { name: "bash", arguments: '{"command": "touch r' }],
      finish: "length",
    }),
    still,
  ], async (stage) => {
    const { p, editor, session } = stage;
    const { stopReason } = await editor.prompt(session, "Go");
    assert.equal(stopReason, "max_tokens");
    assert.equal(p.exists("ran"), false);
    await asksAgain(stage);
  }));

test("the model's refusal is no complete answer, and is not sent as an empty message later", () =>
  withTurn([
    onUser("Bad", { text: "", finish: "content_filter" }),
    onUser("Worse", { text: "I will not.", finish: "content_filter" }),
    still,
  ], async (stage) => {
    const { editor, session } = stage;
    assert.equal((await editor.prompt(session, "Bad")).stopReason, "refusal");
    assert.equal((await editor.prompt(session, "Worse")).stopReason, "refusal");
    const messages = await asksAgain(stage);
    assert.equal(messages[1], "assistant: [refused]");
    assert.equal(messages[3], "assistant: I will not.");
  }));

test("an empty answer is asked for once more, a second one ends the turn with a message", () =>
  withTurn([
    onUser("Once", inOrderReplies({ text: "" }, { text: "Here." })),
    onUser("Twice", { reasoning: "Hm.", text: "" }),
    still,
  ], async (stage) => {
    const { editor, server, session } = stage;
    assert.equal((await editor.prompt(session, "Once")).stopReason, "end_turn");
    assert.match(editor.text(session), /Here\.$/);
    await assert.rejects(editor.prompt(session, "Twice"), /llamacpp\/m gave an empty answer twice/);
    assert.equal(server.requests.length, 4);
    assert.equal((await asksAgain(stage)).at(-2), "assistant: [failed]");
  }));

/** Like `inOrder`, for use inside another rule. */
function inOrderReplies(...replies: readonly { readonly text: string }[]) {
  let next = 0;
  return () => replies[next++] ?? { text: "none left" };
}

for (
  const { status, body, words } of [
    {
      status: 400,
      body: { error: { message: "no such template" } },
      words: /HTTP 400: no such template/,
    },
    { status: 401, body: { error: "who are you" }, words: /HTTP 401: who are you.*API key/ },
    { status: 404, body: "page not found", words: /HTTP 404: page not found/ },
    { status: 500, body: { error: { message: "boom" } }, words: /HTTP 500: boom \(5 attempts/ },
    {
      status: 503,
      body: { error: { message: "busy" } },
      words: /HTTP 503: busy \(5 attempts/,
    },
  ]
) {
  test(`status ${status} of the model server ends the turn with its words, and a further question works`, () =>
    withTurn([
      // The server says how long to wait, so that the test takes no longer than it has to.
      onUser("Go", { status, body, headers: { "retry-after": "0" } }),
      still,
    ], async (stage) => {
      const { editor, server, session } = stage;
      await assert.rejects(editor.prompt(session, "Go"), (error: Error) => {
        assert.match(error.message, words);
        assert.ok(error.message.includes(`"m" at ${server.url}/chat/completions`), error.message);
        return true;
      });
      assert.equal(server.requests.length, status < 500 ? 1 : 5);
      assert.equal((await asksAgain(stage))[1], "assistant: [failed]");
    }));
}

test("a server that recovers is asked again, visibly, and the turn goes on", () =>
  withTurn([
    inOrder(
      {
        status: 503,
        body: { error: { message: "Loading model" } },
        headers: { "retry-after": "0" },
      },
      { status: 500, body: "oops", headers: { "retry-after": "0" } },
      { text: "Up now." },
    ),
  ], async ({ editor, session }) => {
    assert.equal((await editor.prompt(session, "Go")).stopReason, "end_turn");
    assert.equal(editor.text(session), "Up now.");
    const thoughts = editor.thoughts(session);
    assert.match(thoughts, /answered HTTP 503: Loading model; trying again in/);
    assert.match(thoughts, /answered HTTP 500: oops; trying again in/);
  }));

test("a stream cut in the middle is not taken for an answer; its text is kept in the conversation", () =>
  withTurn([
    onUser("Go", { chunks: ["Half", " of", " it"], cutAfter: 2 }),
    still,
  ], async (stage) => {
    const { editor, server, session } = stage;
    await assert.rejects(editor.prompt(session, "Go"), /the stream ended early/);
    assert.equal(editor.text(session), "Half of");
    assert.equal(server.requests.length, 1);
    assert.equal((await asksAgain(stage))[1], "assistant: Half of\n[failed]");
  }));

test("a stream that breaks off before anything was shown is asked for again", () =>
  withTurn(
    inOrder({ chunks: ["x"], cutAfter: 0 }, { text: "Whole." }),
    async ({ editor, server, session }) => {
      await editor.prompt(session, "Go");
      assert.equal(editor.text(session), "Whole.");
      assert.equal(server.requests.length, 2);
    },
  ));

test("calls of a stream that ended early do not run", () =>
  withTurn([
    onUser("Go", { raw: cutCall() }),
    still,
  ], async (stage) => {
    const { p, editor, session } = stage;
    await assert.rejects(editor.prompt(session, "Go"), /the stream ended early/);
    assert.equal(p.exists("ran"), false);
    await asksAgain(stage);
  }));

/** A stream that ends behind a whole call, without the mark that the answer is over. */
function cutCall(): string {
  const chunk = (delta: unknown) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: null }] })}\n\n`;
  const call = { name: "bash", arguments: '{"command":"touch ran"}' };
  return chunk({ role: "assistant", content: "Now" }) +
    chunk({ tool_calls: [{ index: 0, id: "c", type: "function", function: call }] });
}

test("a silent model server ends the turn with a message that names it", () =>
  withTurn([onUser("Go", { hang: true }), still], async (stage) => {
    const { editor, session } = stage;
    await assert.rejects(
      editor.prompt(session, "Go"),
      /timed out after 1 s without a sign of life from llamacpp\/m/,
    );
    assert.equal((await asksAgain(stage))[1], "assistant: [timed out]");
  }, { watchdogTimeout: "1s" }));

test("a server that goes silent in mid-answer ends the turn and keeps the text", () =>
  withTurn([
    onUser("Go", { chunks: ["So", " far"], hang: true, holdAfter: 2 }),
    still,
  ], async (stage) => {
    const { editor, session } = stage;
    await assert.rejects(editor.prompt(session, "Go"), /timed out after 1 s/);
    assert.equal((await asksAgain(stage))[1], "assistant: So far\n[timed out]");
  }, { watchdogTimeout: "1s" }));

test("pieces that come slowly are signs of life", () =>
  withTurn(
    onUser("Go", { chunks: ["a", "b", "c", "d", "e", "f"], chunkDelayMs: 400 }),
    async ({ editor, session }) => {
      assert.equal((await editor.prompt(session, "Go")).stopReason, "end_turn");
      assert.equal(editor.text(session), "abcdef");
    },
    { watchdogTimeout: "1s" },
  ));

test("an open permission question and a silent command within its budget trip no watchdog", () =>
  withTurn(
    inOrder({ toolCalls: [bash("sleep 1.6; echo slept")] }, { text: "Done." }),
    async ({ editor, session }) => {
      const prompt = editor.prompt(session, "Go");
      const question = await editor.waitForPermission();
      await new Promise((resolve) => setTimeout(resolve, 1600));
      question.choose("allow_once");
      assert.equal((await prompt).stopReason, "end_turn");
      assert.match(JSON.stringify(editor.toolCalls(session)), /slept/);
    },
    { watchdogTimeout: "1s", yolo: false },
  ));

test("a command over its budget is ended, the model is told, and the turn goes on", () =>
  withTurn([
    onUser("Go", { toolCalls: [bash("echo before; sleep 300")] }),
    onTool("", (request) => ({ text: request.last.text })),
  ], async ({ editor, server, session }) => {
    await editor.prompt(session, "Go");
    const result = server.requests[1]?.last.text ?? "";
    assert.match(result, /before/);
    assert.match(result, /timed out after 1 s/i);
  }, { bashTimeout: "1s" }));

test("reasoning is shown as thought and is no part of the answer, however the server sends it", () =>
  withTurn([
    onUser("field", { reasoning: "Let me think", text: "Forty-two." }),
    onUser("tags", { chunks: ["<thi", "nk>Hidden", "</think>", "\n\nForty", "-three."] }),
    still,
  ], async (stage) => {
    const { editor, session } = stage;
    await editor.prompt(session, "field");
    assert.equal(editor.thoughts(session), "Let me think");
    assert.equal(editor.text(session), "Forty-two.");
    await editor.prompt(session, "tags");
    assert.equal(editor.thoughts(session), "Let me thinkHidden");
    assert.equal(editor.text(session), "Forty-two.Forty-three.");
    const messages = await asksAgain(stage);
    assert.equal(messages[1], "assistant: Forty-two.");
    assert.doesNotMatch(messages[3] ?? "", /Hidden|think/);
  }));

test("a rejected call is a result with the reason and the turn goes on", () =>
  withTurn([
    onUser("Go", { toolCalls: [bash("touch ran"), bash("touch ran2")] }),
    onTool("", { text: "As you wish." }),
    still,
  ], async (stage) => {
    const { p, editor, server, session } = stage;
    editor.onPermission = "reject_once";
    assert.equal((await editor.prompt(session, "Go")).stopReason, "end_turn");
    assert.equal(p.exists("ran") || p.exists("ran2"), false);
    const results = server.requests[1]?.messages.filter((m) => m.role === "tool") ?? [];
    for (const { content } of results) {
      assert.match(String(content), /^Not run: the user rejected this call of bash\./);
    }
    await asksAgain(stage);
  }, { yolo: false }));

test("commands of one answer see what the earlier ones did", () =>
  withTurn(
    inOrder({ toolCalls: [bash("touch mark"), bash(until("mark"))] }, { text: "ok" }),
    async ({ editor, server, session }) => {
      await editor.prompt(session, "Go");
      assert.match(server.requests[1]?.last.text ?? "", /met/);
    },
  ));
