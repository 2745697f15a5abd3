/**
 * Compression of conversations end to end: by hand, by itself, after a server said that a request does
 * not fit. The server checks in every test that roles alternate, and that nothing changes in what was
 * sent but at a compression.
 *
 * @module
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { writeAgents } from "./support/agents.ts";
import {
  always,
  inOrder,
  type ModelServer,
  onTool,
  onUser,
  type Reply,
  type Rule,
} from "./support/model_server.ts";
import { oneAgent, writeAgent } from "./support/one_agent.ts";
import { type TestProject, withProject } from "./support/project.ts";
import { conversationFiles, linesOf } from "./support/saved_files.ts";
import { textOfMessage } from "./support/wire.ts";

const MARK = "[Summary of the conversation";

/** Answers the request for a summary; the request after it may begin with something new. */
function summary(server: () => ModelServer, text = "They spoke about numbers."): Rule {
  return onUser("Write the summary of this conversation", () => {
    server().allowNewPrefix();
    return { text };
  });
}

/** A small window, and no more in the prefix than the test needs. */
const SMALL = { contextWindow: 4096, tools: ["bash"], system: "Be brief.", yolo: true };

/** A text of so many characters that begins with some. */
function long(beginning: string, characters: number): string {
  return `${beginning} ${"lorem ipsum ".repeat(Math.ceil(characters / 12))}`.slice(0, characters);
}

/** Runs line mode on some lines. */
async function line(p: TestProject, lines: readonly string[], args: readonly string[] = []) {
  const result = await p.runMm(["-line", ...args], { stdin: `${lines.join("\n")}\n` });
  assert.equal(result.code, 0, result.stderr);
  return result.stdout;
}

function summaryRequests(server: ModelServer) {
  return server.requests.filter((r) => r.lastUser.includes("Write the summary of this"));
}

/** Role and beginning of each message of the last request. */
function lastMessages(server: ModelServer): string[] {
  return (server.requests.at(-1)?.messages ?? []).map((m) =>
    `${m.role}: ${textOfMessage(m).split("\n")[0]?.slice(0, MARK.length)}`
  );
}

test("/compact puts a summary in place of what was said, with what it is told to keep", () =>
  withProject(async (p) => {
    const server: ModelServer = await oneAgent(p, [
      summary(() => server),
      onUser("One", { text: long("Uno.", 3000) }),
      onUser("Two", { text: "Dos." }),
    ], SMALL);
    const shown = await line(p, ["One", "/compact all Spanish words", "Two"]);
    assert.match(shown, /The conversation was compressed: about \d+ tokens became \d+\./);
    const [asked] = summaryRequests(server);
    assert.equal(asked?.toolNames.length, 0);
    assert.match(asked?.lastUser ?? "", /User: One\n\nAgent: Uno\. lorem/);
    assert.match(asked?.lastUser ?? "", /above all: all Spanish words$/);
    assert.deepEqual(lastMessages(server), [
      "system: Be brief.",
      `user: ${MARK}`,
      "assistant: [I go on from this summary.]",
      "user: Two",
    ]);
    assert.match(textOfMessage(server.requests.at(-1)?.messages[1]), /They spoke about numbers\.$/);
  }));

test("a long conversation is compressed before it outgrows the window, and whole turns are kept", () =>
  withProject(async (p) => {
    const server: ModelServer = await oneAgent(p, [
      summary(() => server),
      always((request) => ({ text: long(`Answer to ${request.lastUser}.`, 2000) })),
    ], SMALL);
    const shown = await line(p, ["a", "b", "c", "d", "e", "f", "g", "h"]);
    assert.match(shown, /Compressing the conversation: about \d+ of 4096 tokens are in use/);
    assert.match(shown, /The conversation was compressed: about \d+ tokens became \d+/);
    assert.ok(summaryRequests(server).length >= 1);
    for (const request of server.requests) assert.ok(request.bytes.length / 4 < 4096);
    const second = summaryRequests(server)[1] ?? summaryRequests(server)[0];
    const after = server.requests.find((r) => r.number === (second?.number ?? 0) + 1);
    const kept = (after?.messages ?? []).slice(3);
    assert.ok(kept.length >= 3, "a turn and the question are kept");
    assert.equal(kept[0]?.role, "user");
    assert.match(textOfMessage(kept[1]), /^Answer to \w\./);
  }));

test("a turn of many calls is compressed in the middle; calls keep their results", () =>
  withProject(async (p) => {
    let round = 0;
    const work = (): Reply =>
      ++round > 8 ? { text: "All done." } : {
        text: `Round ${round}.`,
        toolCalls: [{
          name: "bash",
          arguments: { command: `echo ${round}; head -c 2500 /dev/zero | tr '\\0' x` },
        }],
      };
    const server: ModelServer = await oneAgent(p, [
      summary(() => server, "Rounds were made."),
      always(work),
    ], SMALL);
    const shown = await line(p, ["Do the rounds"]);
    assert.match(shown, /All done\./);
    assert.ok(summaryRequests(server).length >= 1);
    const [, first, second, third] = server.requests.at(-1)?.messages ?? [];
    assert.match(textOfMessage(first), /Rounds were made\.\n\n\[The request.*\]\n\nDo the rounds$/);
    assert.equal(second?.role, "assistant");
    assert.equal(second?.tool_calls?.length, 1);
    assert.equal(third?.role, "tool");
    for (const request of server.requests) assert.ok(request.bytes.length / 4 < 4096);
  }));

test("an ask of another agent is never divided", () =>
  withProject(async (p) => {
    const server: ModelServer = await p.model({
      reply: [
        summary(() => server),
        onUser(/^Question/, { text: long("Bob knows.", 2000) }),
        always((request) => ({ text: long(`Answer to ${request.lastUser}.`, 900) })),
      ],
    });
    const { system, contextWindow } = SMALL;
    await writeAgents(p, { server, you: { system, contextWindow, tools: ["bash"] } });
    await line(p, [
      ...["/ask-bob Question 1", "a", "/ask-bob Question 2", "/ask-bob Question 3", "b"],
      ...["/ask-bob Question 4", "c", "/ask-bob Question 5", "/ask-bob Question 6", "d"],
    ]);
    const mine = server.requests.filter((request) => request.model === "you");
    assert.ok(summaryRequests(server).length >= 1);
    for (const { messages } of mine) {
      messages.forEach((message, at) => {
        if (!textOfMessage(message).startsWith("[asked bob")) return;
        assert.match(textOfMessage(messages[at + 1]), /^\[bob's answer\]/);
      });
    }
  }));

test("what cannot be compressed below the threshold stops it after two attempts, and is said once", () =>
  withProject(async (p) => {
    const server: ModelServer = await oneAgent(p, [
      summary(() => server),
      always({ text: long("Well.", 900) }),
    ], { ...SMALL, tools: [], system: long("Rules.", 13_000) });
    const shown = await line(p, ["a", "b", "c", "d", "e", "f", "g"]);
    assert.equal(summaryRequests(server).length, 2);
    const warnings = [...shown.matchAll(/! The conversation is not compressed any more/g)];
    assert.equal(warnings.length, 1, shown);
    assert.equal([...shown.matchAll(/Well\./g)].length, 7, "the turns go on");
  }));

test("a conversation that stays near the threshold is not compressed at every step", () =>
  withProject(async (p) => {
    const server: ModelServer = await oneAgent(p, [
      summary(() => server),
      always({ text: long("Well.", 900) }),
    ], { ...SMALL, tools: [], system: long("Rules.", 11_600) });
    const prompts = ["a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k", "l"];
    const shown = await line(p, prompts);
    assert.ok(summaryRequests(server).length <= 4, `${summaryRequests(server).length}`);
    assert.doesNotMatch(shown, /not compressed any more/);
    for (const request of server.requests) assert.ok(request.bytes.length / 4 < 4096);
  }));

test("system prompt and AGENTS.md above the threshold: one clear warning, no request for a summary", () =>
  withProject(async (p) => {
    await p.write("AGENTS.md", long("Rule.", 6000));
    const server = await oneAgent(p, always({ text: "Ok." }), {
      ...SMALL,
      tools: [],
      system: long("Rules.", 6000),
    });
    const shown = await line(p, ["a", "b", "c"]);
    assert.equal(server.requests.length, 3);
    assert.equal([...shown.matchAll(/nothing in it can be compressed/g)].length, 1, shown);
    assert.match(shown, /about \d+ of 4096 tokens are in use, \d+ of them by system prompt/);
  }));

const FAILURES: readonly (readonly [string, Reply, RegExp])[] = [
  [
    "fails",
    { status: 400, body: { error: { message: "No summaries here" } } },
    /No summaries here/,
  ],
  ["is empty", { text: "" }, /the model gave an empty summary/],
  ["is refused", { text: "No.", finish: "content_filter" }, /the model refused to summarise/],
];

for (const [what, reply, words] of FAILURES) {
  test(`a summary that ${what} changes nothing, by hand and by itself`, () =>
    withProject(async (p) => {
      // Nothing new is allowed: the server finds any change of what was sent.
      const server = await oneAgent(p, [
        onUser("Write the summary", reply),
        onUser("small", { text: "Short." }),
        always({ text: long("Long.", 4000) }),
      ], SMALL);
      const shown = await line(p, ["small", "/compact", "a", "b", "c", "d", "e", "f", "g"]);
      assert.match(shown, words);
      assert.equal(summaryRequests(server).length, 3, shown);
      assert.equal(server.requests.length, 11, "every turn went on");
    }));
}

test("a compression that is cancelled changes nothing", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      onUser("Write the summary", { text: "So", hang: true, holdAfter: 1 }),
      onUser("Go on", { text: "Gladly." }),
      always({ text: long("Long.", 3000) }),
    ], SMALL);
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "Tell");
    const compacting = editor.prompt(session, "/compact");
    await server.waitForRequest((r) => r.lastUser.includes("Write the summary"));
    editor.cancel(session);
    assert.equal((await compacting).stopReason, "cancelled");
    assert.equal((await editor.prompt(session, "Go on")).stopReason, "end_turn");
    assert.equal(server.requests.at(-1)?.messages.length, 4);
  }));

const EXCEEDED: readonly (readonly [string, Reply])[] = [
  ["llama.cpp", {
    status: 400,
    body: {
      error: {
        code: 400,
        message: "request (9 tokens) exceeds the available context size (8 tokens)",
        type: "exceed_context_size_error",
      },
    },
  }],
  ["OpenAI", {
    status: 400,
    body: { error: { message: "too much", code: "context_length_exceeded" } },
  }],
  ["vLLM", {
    status: 400,
    body: { detail: "This model's maximum context length is 8 tokens. You requested 9." },
  }],
  ["an error inside the stream", {
    raw: 'data: {"error":{"message":"the request exceeds the available context size"}}\n\n',
  }],
  ["an answer without room for a word", { text: "", finish: "length" }],
];

for (const [who, reply] of EXCEEDED) {
  test(`a request that does not fit leads to one compression and one retry: ${who}`, () =>
    withProject(async (p) => {
      const server: ModelServer = await oneAgent(p, [
        summary(() => server),
        twice("Two", reply, { text: "Dos." }),
        always({ text: long("Uno.", 2000) }),
      ], SMALL);
      const shown = await line(p, ["One", "Two"]);
      assert.match(shown, /Dos\./);
      assert.equal(server.requests.length, 4);
      assert.deepEqual(lastMessages(server).slice(1), [
        `user: ${MARK}`,
        "assistant: [I go on from this summary.]",
        "user: Two",
      ]);
    }));
}

/** Answers the first and the second request that ends with a prompt in another way. */
function twice(prompt: string, first: Reply, second: Reply): Rule {
  const replies = inOrder(first, second);
  return (request) => request.last.text === prompt ? replies(request) : undefined;
}

test("a request that does not fit after a compression either is not tried a third time", () =>
  withProject(async (p) => {
    const exceeded = EXCEEDED[0]?.[1] ?? {};
    const server: ModelServer = await oneAgent(p, [
      summary(() => server),
      onUser("Two", exceeded),
      always({ text: long("Uno.", 2000) }),
    ], SMALL);
    const { code, stdout } = await p.runMm(["-line"], { stdin: "One\nTwo\n" });
    assert.equal(code, 0);
    assert.match(stdout, /✗ .*exceeds the available context size/);
    assert.equal(server.requests.length, 4);
    assert.equal(summaryRequests(server).length, 1);
  }));

test("with compaction.enabled false nothing happens by itself, and a full window names /compact", () =>
  withProject(async (p) => {
    const server: ModelServer = await oneAgent(p, [
      summary(() => server),
      twice("c", EXCEEDED[0]?.[1] ?? {}, { text: "Fine." }),
      always({ text: long("Long.", 7000) }),
    ], { ...SMALL, compaction: { enabled: false } });
    const shown = await line(p, ["a", "b", "c", "/compact", "c"]);
    assert.match(shown, /does not fit the model's window any more; \/compact makes room in it/);
    assert.equal(summaryRequests(server).length, 1);
    assert.match(shown, /Fine\./);
  }));

test("there is nothing to compress in a conversation that did not begin", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, always({ text: "Hi." }), SMALL);
    assert.match(await line(p, ["/compact"]), /There is nothing to compress yet\./);
    assert.equal(server.requests.length, 0);
  }));

test("a compressed conversation is shown whole and goes on from its summary when it is resumed", () =>
  withProject(async (p) => {
    const server: ModelServer = await oneAgent(p, [
      summary(() => server),
      onUser("Two", { text: "Dos." }),
      onUser("Three", { text: "Tres." }),
      always({ text: long("Uno.", 3000) }),
    ], SMALL);
    await line(p, ["One", "/compact", "Two"]);
    const before = server.requests.at(-1)?.messages ?? [];
    const shown = await line(p, ["Three"], ["-continue"]);
    assert.match(shown, /> One\n[\s\S]*Uno\. lorem[\s\S]*> Two\n[\s\S]*Dos\./);
    assert.match(shown, /The conversation was compressed: about \d+ tokens became \d+\./);
    const after = server.requests.at(-1)?.messages ?? [];
    assert.deepEqual(after.slice(0, before.length), before);
    assert.deepEqual(lastMessages(server).slice(before.length), ["assistant: Dos.", "user: Three"]);
    const [{ path } = { path: "" }] = await conversationFiles(p);
    const lines = await linesOf(path);
    assert.ok(lines.some(({ message }) => message?.text?.startsWith("Uno. lorem")), "on disk");
  }));

test("a turn that was compressed in the middle is resumed without a word more", () =>
  withProject(async (p) => {
    let round = 0;
    const server: ModelServer = await oneAgent(p, [
      summary(() => server, "Rounds were made."),
      onUser("And now?", { text: "Nothing." }),
      always(() =>
        ++round > 6 ? { text: "All done." } : {
          toolCalls: [{
            name: "bash",
            arguments: { command: `echo ${round}; head -c 3000 /dev/zero | tr '\\0' x` },
          }],
        }
      ),
    ], SMALL);
    await line(p, ["Do the rounds"]);
    const before = server.requests.at(-1)?.messages ?? [];
    assert.ok(summaryRequests(server).length >= 1);
    await line(p, ["And now?"], ["-continue"]);
    const after = server.requests.at(-1)?.messages ?? [];
    assert.deepEqual(after.slice(0, before.length), before);
    assert.equal(after.length, before.length + 2);
  }));

test("an editor with a place for compressions is told of them; another one reads notices", () =>
  withProject(async (p) => {
    const server: ModelServer = await oneAgent(p, [
      summary(() => server, "They greeted."),
      always({ text: long("Hello.", 3000) }),
    ], SMALL);
    for (const modern of [true, false]) {
      const editor = p.editor();
      await editor.initialize(
        modern ? { clientCapabilities: { session: { compaction: {}, notices: {} } } } : {},
      );
      const session = await editor.newSession();
      await editor.prompt(session, "Hi");
      await editor.prompt(session, "/compact");
      const updates = editor.updatesOf(session, "compaction_update");
      const chunks = editor.updatesOf(session, "compaction_summary_chunk");
      assert.match(editor.text(session), /The conversation was compressed: about/);
      if (!modern) {
        assert.deepEqual([...updates, ...chunks], []);
        assert.match(editor.thoughts(session), /^Compressing the conversation: about \d+/);
        continue;
      }
      assert.deepEqual(updates.map(({ status }) => status), ["in_progress", "completed"]);
      assert.equal(updates[0].compactionId, updates[1].compactionId);
      assert.deepEqual(updates[1].summary, [{ type: "text", text: "They greeted." }]);
      assert.equal(chunks.map(({ content }) => content.text).join(""), "They greeted.");
      // A second conversation begins in the other editor.
      server.allowNewPrefix();
    }
  }));

test("the declared window counts, whatever the server says, and stands in the banner", () =>
  withProject(async (p) => {
    const server = await p.model({ window: 2048, reply: always({ text: "Hi." }) });
    await writeAgent(p, server, { ...SMALL, contextWindow: 3000 });
    const mm = p.mm(["-line"]);
    await mm.waitForOutput(/^mm · llamacpp\/m · window 3000 tokens\n/);
    await mm.waitForOutput(/! contextWindow declares 3000 tokens, and the server says .* 2048/);
    mm.write("/status\n");
    await mm.waitForOutput(/model: llamacpp\/m at .*, window 3000 tokens/);
    await mm.stop();
    await writeAgent(p, server, { ...SMALL, contextWindow: 1500 });
    const smaller = await line(p, ["Hello", "/status"]);
    assert.doesNotMatch(smaller, /declares/, "a smaller one is a choice");
  }));

test("what the server counts wins over the estimate", () =>
  withProject(async (p) => {
    // 1200 characters are 343 tokens by the estimate; the server counts one for each character.
    const answer = "字".repeat(1200);
    let characters = 0;
    const counted = (request: { readonly messages: readonly unknown[] }): Reply => {
      characters = JSON.stringify(request.messages).length;
      return { text: answer, usage: { prompt_tokens: characters, completion_tokens: 1200 } };
    };
    const server: ModelServer = await oneAgent(p, [
      summary(() => server, "短い。"),
      always(counted),
    ], { ...SMALL, tools: [] });
    const shown = await line(p, ["a", "b", "c", "d"]);
    assert.ok(summaryRequests(server).length >= 1, shown);
    const [first] = summaryRequests(server);
    assert.ok((first?.lastUser.length ?? Infinity) < 4096, "the request for a summary fits too");

    const estimating: ModelServer = await p.model({
      reply: always({ text: answer, usage: false }),
    });
    await writeAgent(p, estimating, { ...SMALL, tools: [] });
    await line(p, ["a", "b", "c", "d"]);
    assert.equal(summaryRequests(estimating).length, 0, "by characters / 3.5 nothing is due");
  }));

test("a result that alone is too large for the window is shortened, and the turn goes on", () =>
  withProject(async (p) => {
    const server: ModelServer = await oneAgent(p, [
      onUser("Read it", {
        toolCalls: [{
          name: "bash",
          arguments: { command: "head -c 18000 /dev/zero | tr '\\0' x; echo; echo the end" },
        }],
      }),
      onTool(/x{5000}/, () => {
        server.allowNewPrefix();
        return EXCEEDED[0]?.[1] ?? {};
      }),
      onTool("the end", { text: "I saw the end." }),
    ], SMALL);
    const shown = await line(p, ["Read it"]);
    assert.match(shown, /The results of calls were shortened.* about \d+ tokens became \d+/);
    assert.match(shown, /I saw the end\./);
    assert.equal(server.requests.length, 3);
    assert.match(server.requests.at(-1)?.last.text ?? "", /characters left out/);
  }));
