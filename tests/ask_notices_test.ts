/** What an asked agent waits for reaches who asks it, and is no part of its answer. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { askAgent, writeAgents } from "./support/agents.ts";
import { forModel, inOrder } from "./support/model_server.ts";
import { type TestProject, withProject } from "./support/project.ts";

const LOADING = { status: 503, body: { error: { message: "Loading model" } } };
const WAIT = /bob: .*Loading model; trying again in/g;

/** Bob's server is not ready twice; yours is asked to let bob answer. */
const withWaitingBob = (body: (p: TestProject) => Promise<void>) =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "Why?")] }, { text: "He says so." })),
        forModel("bob", inOrder(LOADING, LOADING, { text: "Because." })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    await body(p);
  });

test("--ask shows on stderr each time the asked agent waits for its server", () =>
  withWaitingBob(async (p) => {
    const { code, stdout, stderr } = await p.runMm(["--ask", "bob", "Why?"]);
    assert.deepEqual([code, stdout], [0, "Because.\n"]);
    assert.equal(stderr.match(WAIT)?.length, 2, stderr);
  }));

test("line mode shows it in an ask of the model and in a typed one", () =>
  withWaitingBob(async (p) => {
    const { stdout } = await p.runMm(["-line"], { stdin: "Ask bob\n/quit\n" });
    assert.equal(stdout.match(WAIT)?.length, 2, stdout);
  }).then(() =>
    withWaitingBob(async (p) => {
      const { stdout } = await p.runMm(["-line"], { stdin: "/ask-bob Why?\n/quit\n" });
      assert.equal(stdout.match(WAIT)?.length, 2, stdout);
    })
  ));

test("an editor sees it inside the call that asks, and the model only the answer", () =>
  withWaitingBob(async (p) => {
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "Ask bob");
    await editor.waitForUpdate(({ kind, update }) =>
      kind === "tool_call_update" && JSON.stringify(update.content ?? "").match(WAIT) !== null
    );
    assert.equal(editor.text(session), "He says so.");
  }));
