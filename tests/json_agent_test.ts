/**
 * Agents with `structuredOutput`, end to end: what the model is told, what comes out, what happens
 * when the model does not keep to the schema.
 *
 * @module
 */
import assert from "node:assert/strict";
import { test } from "node:test";
import { askAgent, bash, type Keys, writeAgents } from "./support/agents.ts";
import {
  always,
  forModel,
  inOrder,
  type RecordedRequest,
  type Reply,
  type Rule,
} from "./support/model_server.ts";
import { oneAgent, writeAgent } from "./support/one_agent.ts";
import { withProject } from "./support/project.ts";

const SCHEMA = {
  $schema: "https://json-schema.org/draft/2020-12/schema",
  type: "object",
  properties: { verdict: { enum: ["good", "bad"] }, lines: { type: "integer" } },
  required: ["verdict"],
  additionalProperties: false,
};

const GOOD = '{"verdict": "good", "lines": 3}';

const keys = (more: Keys = {}): Keys => ({
  structuredOutput: { schema: SCHEMA },
  system: "You review.",
  tools: [],
  ...more,
});

/** Refuses requests as a server does that has no `response_format`, or none with tools. */
function refusing(when: (request: RecordedRequest) => boolean, message: string): Rule {
  const reply: Reply = { status: 400, body: { error: { message, code: 400 } } };
  return (request) =>
    request.body["response_format"] !== undefined && when(request) ? reply : undefined;
}

const formats = (requests: readonly RecordedRequest[]) =>
  requests.map((r) => r.body["response_format"] !== undefined);

test("the system prompt ends with OUTPUT FORMAT and the schema on one line, the same in every request", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, always({ text: GOOD }), keys());
    const mm = await p.runMm(["-line"], { stdin: "one\ntwo\n/new\nthree\n" });
    assert.equal(mm.code, 0);
    const { $schema: _, ...schema } = SCHEMA;
    const [system = ""] = server.requests.map((r) => r.system);
    assert.match(system, /^You review\.\n\nOUTPUT FORMAT\n\n/);
    assert.equal(system.split("\n").at(-1), JSON.stringify(schema));
    for (const request of server.requests) {
      assert.equal(request.system, system);
      assert.deepEqual(request.body["response_format"], {
        type: "json_schema",
        json_schema: { name: "answer", schema },
      });
    }
    assert.equal(server.requests.length, 3);
  }));

test("mm --ask of a JSON agent prints JSON and nothing else", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: forModel("bob", always({ text: `\`\`\`json\n${GOOD}\n\`\`\`` })),
    });
    await p.write("AGENTS.md", "Sign every answer.");
    await writeAgents(p, { server, bob: keys() });
    const { code, stdout } = await p.runMm(["--ask", "bob", "Well?"]);
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(stdout), { verdict: "good", lines: 3 });
    assert.equal(stdout, `${GOOD}\n`);
    const { stdout: whole } = await p.runMm(["--ask", "bob", "-json", "Well?"]);
    const outcome = JSON.parse(whole);
    assert.deepEqual(JSON.parse(outcome.answer), { verdict: "good", lines: 3 });
    assert.equal(outcome.stopReason, "end_turn");
  }));

test("-p prints the JSON alone on stdout, also when the model thinks and calls tools", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      inOrder(
        { reasoning: "Let me see", text: "I look first.", toolCalls: [bash("echo three")] },
        { text: `It is fine:\n\n${GOOD}\n\nAnything else?` },
      ),
      keys({ tools: ["bash"], yolo: true }),
    );
    const { code, stdout, stderr } = await p.runMm(["-p", "Well?"]);
    assert.equal(stdout, `${GOOD}\n`);
    assert.equal(code, 0);
    assert.match(stderr, /I look first/, "what is said beside a call is shown as thought");
    assert.deepEqual(formats(server.requests), [false, false], "a grammar would prevent the call");
  }));

test("an editor gets the answer as text once, and no failed attempt", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      inOrder(
        { text: "I think it is good." },
        { text: '{"verdict": "fine"}' },
        { text: GOOD },
        { text: GOOD },
      ),
      keys(),
    );
    const editor = p.editor();
    const session = await editor.start();
    const { stopReason } = await editor.prompt(session, "Well?");
    assert.equal(stopReason, "end_turn");
    assert.equal(editor.text(session), GOOD);
    assert.equal(editor.updatesOf(session, "agent_message_chunk").length, 1);
    assert.match(editor.thoughts(session), /asking again \(1 of 2\)[\s\S]*asking again \(2 of 2\)/);
    await editor.prompt(session, "And now?");
    assert.deepEqual(
      server.requests.at(-1)?.messages.map((m) => m.role),
      ["system", "user", "assistant", "user", "assistant", "user", "assistant", "user"],
    );
  }));

test("the model is told the validator's words, as the next user message", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      inOrder(
        { text: '{"verdict": "fine", "more": 1}' },
        { text: "{verdict: good}" },
        { text: GOOD },
      ),
      keys(),
    );
    const { stdout } = await p.runMm(["-p", "Well?"]);
    assert.equal(stdout, `${GOOD}\n`);
    const [, second, third] = server.requests;
    assert.deepEqual(second?.messages.slice(1, 3), [
      { role: "user", content: "Well?" },
      { role: "assistant", content: '{"verdict": "fine", "more": 1}' },
    ]);
    assert.match(second?.last.text ?? "", /the value must NOT have additional properties: "more"/);
    assert.match(
      second?.last.text ?? "",
      /\/verdict must be equal to one of the allowed values: \["good","bad"\]/,
    );
    assert.match(third?.last.text ?? "", /it is no JSON: /);
  }));

test("after two repairs it fails with the words, exit 1, and the last text is there", () =>
  withProject(async (p) => {
    const reply = inOrder({ text: "one" }, { text: "two" }, { text: '{"verdict": "no"}' });
    const server = await oneAgent(p, reply, keys());
    const { code, stdout, stderr } = await p.runMm(["-p", "Well?"]);
    assert.equal(code, 1);
    assert.equal(stdout, '{"verdict": "no"}\n');
    assert.match(
      stderr,
      /The turn failed: the answer does not satisfy structuredOutput, also after 2 attempts to mend it: \/verdict must be equal/,
    );
    assert.equal(server.requests.length, 3);
  }));

test("a failed answer of an asked JSON agent: exit 1, the reason, and the conversation goes on", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("bob", always({ text: "No idea." })),
        forModel("you", always({ text: "ok" })),
      ],
    });
    await writeAgents(p, { server, bob: keys() });
    const { code, stdout } = await p.runMm(["--ask", "bob", "-json", "Well?"]);
    assert.equal(code, 1);
    const outcome = JSON.parse(stdout);
    assert.equal(outcome.exit, 1);
    assert.equal(outcome.answer, "No idea.");
    assert.match(outcome.error, /bob failed: .*does not satisfy structuredOutput/);

    const editor = p.editor();
    const session = await editor.start();
    await assert.rejects(
      editor.prompt(session, "/ask-bob Well?"),
      /does not satisfy structuredOutput/,
    );
    await editor.prompt(session, "Go on");
    assert.equal(editor.text(session), "No idea.ok");
  }));

test("ask_agent gets the JSON", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "Well?")] }, { text: "Good then." })),
        forModel("bob", inOrder({ text: "Good!" }, { text: `Sorry. ${GOOD}` })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true }, bob: keys() });
    const { stdout } = await p.runMm(["-p", "Ask bob"]);
    assert.equal(stdout, "Good then.\n");
    assert.equal(server.requests.at(-1)?.last.text, GOOD);
  }));

test("while the answer is held back the asking agent sees signs of life", () =>
  withProject(async (p) => {
    const long = {
      text: `{"verdict": "good"${" ".repeat(20)}}`,
      chunks: [...'{"verdict":  "good"}'],
    };
    const server = await p.model({
      reply: forModel("bob", always({ ...long, chunkDelayMs: 200 })),
    });
    // Twenty pieces take four seconds: longer than the silence that is allowed.
    await writeAgents(p, { server, bob: keys(), bobEntry: { timeout: "2500ms" } });
    const { code, stdout, stderr } = await p.runMm(["--ask", "bob", "Well?"]);
    assert.equal(code, 0, stderr);
    assert.deepEqual(JSON.parse(stdout), { verdict: "good" });
  }));

test("a server without response_format is asked without it from then on", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      // The script needs two rules: what is refused, and what is answered.
      (request) =>
        refusing(() => true, "This response_format type is unavailable now")(request) ??
          { text: GOOD },
      keys(),
    );
    const { code, stdout } = await p.runMm(["-line"], { stdin: "one\ntwo\n" });
    assert.equal(code, 0);
    assert.deepEqual(formats(server.requests), [true, false, false]);
    assert.doesNotMatch(stdout, /unavailable/);
  }));

test("E29: a server that refuses it with tools gets it in the last attempt, without tools", () =>
  withProject(async (p) => {
    const refuse = refusing(
      (r) => r.toolNames.length > 0,
      "Cannot use custom grammar constraints with tools.",
    );
    const replies = inOrder(
      { toolCalls: [bash("echo three")] },
      { text: "It is good." },
      { text: "Really, it is good." },
      { text: GOOD },
    );
    const server = await oneAgent(
      p,
      (request) => {
        // Without tools the prompt begins in another way; that is the price of the last attempt.
        if (request.number === 4) server.allowNewPrefix();
        return refuse(request) ?? replies(request);
      },
      keys({ tools: ["bash"], yolo: true }),
    );
    const { code, stdout } = await p.runMm(["-p", "Well?"]);
    assert.equal(code, 0);
    assert.equal(stdout, `${GOOD}\n`);
    assert.deepEqual(
      server.requests.map((r) => [r.toolNames.length, r.body["response_format"] !== undefined]),
      // The work, the first repair (refused with the schema, then without), the last one.
      [[1, false], [1, false], [1, true], [1, false], [0, true]],
    );
  }));

test("a server that takes it with tools gets it when the answer is due, tools and prefix unchanged", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      inOrder({ text: "Good." }, { text: GOOD }),
      keys({ tools: ["bash"] }),
    );
    const { stdout } = await p.runMm(["-p", "Well?"]);
    assert.equal(stdout, `${GOOD}\n`);
    assert.deepEqual(formats(server.requests), [false, true]);
    assert.deepEqual(server.requests.map((r) => r.toolNames), [["bash"], ["bash"]]);
  }));

test("a provider that can do both gets it in every request, until it refuses", () =>
  withProject(async (p) => {
    const refuse = refusing(
      (r) => r.toolNames.length > 0,
      "json mode cannot be combined with tool/function calling",
    );
    const replies = inOrder({ toolCalls: [bash("echo three")] }, { text: GOOD });
    const server = await p.model({ reply: (request) => refuse(request) ?? replies(request) });
    await writeAgent(p, server, {
      provider: "groq",
      apiKey: "k",
      ...keys({ tools: ["bash"], yolo: true }),
    });
    const { stdout } = await p.runMm(["-p", "Well?"]);
    assert.equal(stdout, `${GOOD}\n`);
    assert.deepEqual(formats(server.requests), [true, false, false]);
  }));

test("an answer cut at the output limit is incomplete, and its text is there", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, always({ text: '{"verdict": "go', finish: "length" }), keys());
    const { code, stdout } = await p.runMm(["-p", "Well?"]);
    assert.equal(code, 4);
    assert.equal(stdout, '{"verdict": "go\n');
    assert.equal(server.requests.length, 1);
  }));

test("repairs count as requests of maxTurns", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, always({ text: "no" }), keys({ maxTurns: 2 }));
    const { code } = await p.runMm(["-p", "Well?"]);
    assert.equal(code, 4);
    assert.equal(server.requests.length, 2);
  }));

test("cancelled in the middle, nothing is shown and the next prompt is accepted", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      inOrder({ text: "no" }, { chunks: ["{", '"verdict"'], hang: true, holdAfter: 1 }, {
        text: GOOD,
      }),
      keys(),
    );
    const editor = p.editor();
    const session = await editor.start();
    const prompted = editor.prompt(session, "Well?");
    await server.waitForRequest((r) => r.number === 2);
    await editor.waitForUpdate(({ kind }) => kind === "session_info_update");
    editor.cancel(session);
    assert.equal((await prompted).stopReason, "cancelled");
    assert.equal(editor.text(session), "");
    await editor.prompt(session, "Again");
    assert.equal(editor.text(session), GOOD);
  }));

test("two different values in one answer are not guessed between", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      inOrder({ text: 'Either {"verdict":"good"} or {"verdict":"bad"}.' }, { text: GOOD }),
      keys(),
    );
    const { stdout } = await p.runMm(["-p", "Well?"]);
    assert.equal(stdout, `${GOOD}\n`);
    assert.match(server.requests[1]?.last.text ?? "", /it holds 2 JSON values that satisfy it/);
  }));

test("a schema from a file is used, and a wrong one is an error at the start", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ text: "[1]" }), {
      structuredOutput: { file: "answer.json" },
      tools: [],
    });
    await p.write("answer.json", '{"type": "array", "items": {"type": "integer"}}');
    assert.equal((await p.runMm(["-p", "Well?"])).stdout, "[1]\n");
    await p.write("answer.json", '{"type": "aray"}');
    const { code, stderr, stdout } = await p.runMm(["-p", "Well?"]);
    assert.equal(code, 2);
    assert.equal(stdout, "");
    assert.match(
      stderr,
      /agent\.yaml:\d+:\d+: "structuredOutput\.file": the file ".*answer\.json" is no valid JSON Schema: \/type must be equal/,
    );
  }));
