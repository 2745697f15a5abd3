import assert from "node:assert/strict";
import { test } from "node:test";
import type { AcpEditor, Json } from "./support/acp_editor.ts";
import { askAgent, writeAgents } from "./support/agents.ts";
import { forModel, inOrder, type ModelServer } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { type TestProject, withProject } from "./support/project.ts";

const question = {
  name: "ask_user",
  arguments: { question: "Which colour?", options: ["red", "green"] },
};
const open = { name: "ask_user", arguments: { question: "What name?" } };

/** Capabilities of an editor that shows forms. */
const FORMS = { elicitation: { form: {} } };

interface Stage {
  readonly p: TestProject;
  readonly server: ModelServer;
  readonly editor: AcpEditor;
  readonly session: string;
}

/** Runs a turn in which the model asks once; the editor's answers come from `answer`. */
function asking(
  call: typeof question | typeof open,
  answer: (params: Json) => Promise<Json> | undefined,
  body: (stage: Stage) => Promise<void>,
  keys: Json = {},
): Promise<void> {
  return withProject(async (p) => {
    const server = await oneAgent(p, inOrder({ toolCalls: [call] }, { text: "Fine." }), keys);
    const editor = p.editor();
    await editor.initialize({ clientCapabilities: FORMS });
    editor.onOtherRequest = (method, params) =>
      method === "elicitation/create" ? answer(params) : undefined;
    const session = await editor.newSession();
    await body({ p, server, editor, session });
  });
}

test("an editor with forms shows the question, and the model gets the answer", async () => {
  let asked: Json;
  await asking(question, (params) => {
    asked = params;
    return Promise.resolve({ action: "accept", content: { answer: "green" } });
  }, async ({ server, editor, session }) => {
    await editor.prompt(session, "Go");
    const [call] = editor.toolCalls(session);
    assert.deepEqual(asked, {
      mode: "form",
      sessionId: session,
      toolCallId: call.toolCallId,
      message: "Which colour?",
      requestedSchema: {
        type: "object",
        properties: { answer: { type: "string", title: "Answer", enum: ["red", "green"] } },
        required: ["answer"],
      },
    });
    assert.equal(server.requests[1]?.last.text, "green");
    assert.equal(call.status, "completed");
    assert.equal(editor.permissions.length, 0);
  });
});

test("a person who does not want to answer, an error and a wrong answer are told as they are", async () => {
  const cases: [Promise<Json> | undefined, RegExp][] = [
    [Promise.resolve({ action: "decline" }), /^\[the user does not want to answer; decide/],
    [Promise.resolve({ action: "cancel" }), /^\[the user does not want to answer; decide/],
    [Promise.resolve({ action: "accept", content: {} }), /^\[the user does not want/],
    [
      Promise.resolve({ action: "shrug" }),
      /^Cannot ask the user: the editor's answer was no answer/,
    ],
    [undefined, /^Cannot ask the user: the editor could not ask: /],
  ];
  for (const [answer, expected] of cases) {
    await asking(open, () => answer, async ({ server, editor, session }) => {
      assert.equal((await editor.prompt(session, "Go")).stopReason, "end_turn");
      assert.match(server.requests[1]?.last.text ?? "", expected);
    });
  }
});

test("a cancel withdraws a question that nobody answers", () =>
  asking(open, () => new Promise(() => {}), async ({ server, editor, session }) => {
    const prompt = editor.prompt(session, "Go");
    await editor.waitForUpdate(({ update }) => update.status === "in_progress");
    editor.cancel(session);
    assert.equal((await prompt).stopReason, "cancelled");
    assert.equal(server.requests.length, 1);
    assert.equal(editor.toolCalls(session)[0].status, "failed");
  }));

test("the watchdog waits while a question is open", () => {
  const later = new Promise((resolve) =>
    setTimeout(() => resolve({ action: "accept", content: { answer: "Ada" } }), 1500)
  );
  return asking(open, () => later, async ({ server, editor, session }) => {
    assert.equal((await editor.prompt(session, "Go")).stopReason, "end_turn");
    assert.equal(server.requests[1]?.last.text, "Ada");
  }, { watchdogTimeout: "700ms" });
});

test("an editor without forms gets the question as the answer of the turn", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      inOrder({ toolCalls: [question] }, { text: "Which colour, red or green?" }),
    );
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "Go");
    assert.match(
      server.requests[1]?.last.text ?? "",
      /^\[the user cannot be asked in the middle of a turn here\. End your turn now with the question/,
    );
    assert.equal(editor.text(session), "Which colour, red or green?");
  }));

test("a question of an asked agent comes back as its answer, and does not reach the person", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "Paint it")] }, { text: "Hm." })),
        forModel("bob", inOrder({ toolCalls: [question] }, { text: "Which colour?" })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const editor = p.editor();
    await editor.initialize({ clientCapabilities: FORMS });
    editor.onOtherRequest = (method) => assert.fail(method);
    const session = await editor.newSession();
    await editor.prompt(session, "Ask bob");
    assert.match(server.requests[2]?.last.text ?? "", /^\[the user cannot be asked/);
    assert.match(server.requests[3]?.last.text ?? "", /Which colour\?/);
  }));

test("line mode asks in the terminal; a number chooses an option, other text is the answer", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      inOrder(
        { toolCalls: [question] },
        { toolCalls: [question] },
        { toolCalls: [open] },
        { text: "Fine." },
      ),
    );
    const { stdout } = await p.runMm(["-line"], { stdin: "Go\n2\nblue\n\n" });
    assert.match(
      stdout,
      /❓ Which colour\?\n {2}1\. red\n {2}2\. green\n {2}number or answer, .* > /,
    );
    assert.match(stdout, /❓ What name\?\n {2}answer, nothing for none > /);
    assert.equal(server.requests[1]?.last.text, "green");
    assert.equal(server.requests[2]?.last.text, "blue");
    assert.match(server.requests[3]?.last.text ?? "", /does not want to answer/);
  }));

test("an input that ends, and a prompt that nobody watches, say that nobody can answer", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      (request) => request.last.role === "tool" ? { text: "Fine." } : { toolCalls: [open] },
    );
    await p.runMm(["-line"], { stdin: "Go\n" });
    assert.match(
      server.requests[1]?.last.text ?? "",
      /^Cannot ask the user: the input ended before the question was answered\. Decide yourself/,
    );
    const { code } = await p.runMm(["-p", "Go"]);
    assert.equal(code, 0);
    assert.match(
      server.requests[3]?.last.text ?? "",
      /^Cannot ask the user: nobody is there to answer\. Decide yourself/,
    );
  }));

test("mm --ask tells an asked agent that it cannot ask", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: forModel("bob", inOrder({ toolCalls: [open] }, { text: "What name?" })),
    });
    await writeAgents(p, { server });
    const { stdout, code } = await p.runMm(["--ask", "bob", "Name it"]);
    assert.equal(stdout, "What name?\n");
    assert.equal(code, 0);
    assert.match(server.requests[1]?.last.text ?? "", /End your turn now with the question/);
  }));

test("an empty question is answered with what is wrong", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      inOrder(
        { toolCalls: [{ name: "ask_user", arguments: { question: "  " } }] },
        { toolCalls: [{ name: "ask_user", arguments: { options: ["a"] } }] },
        { text: "Fine." },
      ),
    );
    await p.runMm(["-p", "Go"]);
    assert.match(server.requests[1]?.last.text ?? "", /"question" is empty/);
    assert.match(server.requests[2]?.last.text ?? "", /"question" is missing/);
  }));
