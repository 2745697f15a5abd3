/** The transcript that goes along with a question: no more than the asked agent's window has room for. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bash, writeAgents } from "./support/agents.ts";
import { always, forModel, onUser } from "./support/model_server.ts";
import { type TestProject, withProject } from "./support/project.ts";

const CHARACTERS_PER_TOKEN = 3.5;

/** You, who have talked at length, and bob. */
async function talkers(p: TestProject, bob: { readonly contextWindow?: number }, window = 32_768) {
  const server = await p.model({
    reply: [
      forModel(
        "you",
        onUser("Ask him", { toolCalls: [bash('"$MM_BIN" --ask-with-context bob "So?"')] }),
      ),
      forModel("you", always({ text: "Lorem ipsum dolor sit amet. ".repeat(20) })),
      forModel("bob", always({ text: "Aha." })),
    ],
    window,
  });
  await writeAgents(p, { server, you: { yolo: true, contextWindow: 32_768 }, bob });
  const editor = p.editor();
  const session = await editor.start();
  for (let turn = 1; turn <= 12; turn++) await editor.prompt(session, `Question ${turn}`);
  return { server, editor, session };
}

/** Checks the question that bob got last. */
function checkCapped(asked: string, window: number): void {
  assert.ok(asked.length <= window * CHARACTERS_PER_TOKEN, `${asked.length}`);
  assert.match(
    asked,
    /<transcript>\n\[the first \d+ of \d+ turns are left out: the window of the/u,
  );
  assert.doesNotMatch(asked, /User: Question 1\n/u);
  assert.match(asked, /User: Question 12\n/u);
  assert.ok(asked.isWellFormed());
}

test("a transcript keeps to the window in bob's own file, from the first ask on", () =>
  withProject(async (p) => {
    const { server, editor, session } = await talkers(p, { contextWindow: 2000 });
    await editor.prompt(session, "/ask-with-context-bob So?");
    checkCapped(server.requests.at(-1)?.lastUser ?? "", 2000);
    // A script in a command has no other way to know it than from bob himself.
    await editor.prompt(session, "Ask him");
    checkCapped(server.requests.findLast((r) => r.model === "bob")?.lastUser ?? "", 2000);
  }));

test("a transcript keeps to the window that bob told of while he was asked before", () =>
  withProject(async (p) => {
    const { server, editor, session } = await talkers(p, {}, 2000);
    await editor.prompt(session, "/ask-bob Are you there?");
    await editor.prompt(session, "/ask-with-context-bob So?");
    checkCapped(server.requests.at(-1)?.lastUser ?? "", 2000);
  }));

test("a transcript that has room in bob's window goes along whole", () =>
  withProject(async (p) => {
    const { server, editor, session } = await talkers(p, {});
    await editor.prompt(session, "/ask-with-context-bob So?");
    const asked = server.requests.at(-1)?.lastUser ?? "";
    for (let turn = 1; turn <= 12; turn++) {
      assert.ok(asked.includes(`User: Question ${turn}\n`), `question ${turn}`);
    }
    assert.doesNotMatch(asked, /left out/u);
  }));
