/** What goes wrong in the field when agents ask agents: the cases that no other file of tests has. */
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { askAgent, bash, writeAgents } from "./support/agents.ts";
import { ANSWER, drive } from "./support/line_stage.ts";
import {
  always,
  forModel,
  inOrder,
  type ModelServer,
  onTool,
  onUser,
} from "./support/model_server.ts";
import { processTree, waitGone } from "./support/process_tree.ts";
import { type TestProject, withProject } from "./support/project.ts";

test("a bob that died while he was idle is started anew by the next ask", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: forModel("bob", always({ text: "Here." })) });
    await writeAgents(p, { server });
    const editor = p.editor();
    const session = await editor.start();
    for (const signal of ["SIGKILL", "SIGTERM"] as const) {
      await editor.prompt(session, "/ask-bob Are you there?");
      const bob = (await processTree(editor.mm.pid)).find(({ command }) =>
        command.includes("bob.yaml")
      );
      assert.ok(bob !== undefined);
      process.kill(bob.pid, signal);
      await waitGone([bob], 5000);
      assert.equal((await editor.prompt(session, "/ask-bob And now?")).stopReason, "end_turn");
    }
    assert.equal(editor.text(session), "Here.".repeat(4));
  }));

test("a model that asks without end is stopped: two hundred asks of a session, then a reason", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: forModel(
        "you",
        inOrder(
          { toolCalls: Array.from({ length: 150 }, (_, i) => askAgent("gone", `q${i}`)) },
          { toolCalls: Array.from({ length: 55 }, (_, i) => askAgent("gone", `r${i}`)) },
          { text: "I give up." },
        ),
      ),
    });
    await writeAgents(p, {
      server,
      you: { yolo: true },
      entries: { gone: { command: ["false"], description: "ends at once" } },
    });
    const editor = p.editor();
    const session = await editor.start();
    await editor.request("session/prompt", {
      sessionId: session,
      prompt: [{ type: "text", text: "go" }],
    }, { timeoutMs: 60_000 });
    const results = server.requests.at(-1)?.messages.filter((m) => m.role === "tool") ?? [];
    assert.equal(results.length, 205);
    const refused = results.filter((m) => /has asked 200 times/u.test(String(m.content)));
    assert.equal(refused.length, 5);
    assert.match(String(results.at(-1)?.content), /finish the work with your own tools/u);
    assert.match(String(results[199]?.content), /could not start/u);
  }));

test("two sessions of an editor ask bob at the same time: one child, and no word in the wrong place", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: forModel("bob", (request) => ({
        chunks: Array.from({ length: 40 }, () => `${request.lastUser} `),
        chunkDelayMs: 5,
      })),
    });
    await writeAgents(p, { server });
    const editor = p.editor();
    await editor.initialize();
    const sessions = [await editor.newSession(), await editor.newSession()];
    await Promise.all(sessions.map((id, i) => editor.prompt(id, `/ask-bob word${i}`)));
    assert.equal(server.maxOpen, 2);
    sessions.forEach((id, i) => assert.equal(editor.text(id), `word${i} `.repeat(40)));
    const bobs = (await processTree(editor.mm.pid)).filter(({ command }) =>
      command.includes("bob.yaml")
    );
    assert.equal(bobs.length, 1);
  }));

test("in line mode bob's question and your own agent's are each put, and each answered once", () =>
  withProject(async (p) => {
    const server: ModelServer = await p.model({
      reply: [
        forModel(
          "you",
          onUser("go", () => ({
            toolCalls: [askAgent("bob", "one"), askAgent("bob", "two"), {
              name: "fetch",
              arguments: { url: `${server.url}/models` },
            }],
          })),
          onTool(/(?:)/u, { text: "All done." }),
        ),
        forModel(
          "bob",
          onUser("one", { toolCalls: [bash("echo first")] }),
          onUser("two", { toolCalls: [bash("echo second")] }),
          onTool(/(?:)/u, (request) => ({ text: `bob: ${request.last.text}` })),
        ),
      ],
    });
    await writeAgents(p, { server, you: { permissions: { allow: ["ask_agent"] } } });
    await drive(p, server, async ({ mm, say }) => {
      await say("go");
      let from = 0;
      const seen: string[] = [];
      while (seen.length < 3) {
        const { end } = await mm.waitForOutput(ANSWER, { from });
        const question = mm.output.slice(from, end);
        from = end;
        const [, which = ""] = /🔐 \S+: (.*?) \(in/u.exec(question) ?? [];
        seen.push(which);
        mm.writeLine(which === "echo second" ? "n" : "y");
      }
      await mm.waitForOutput("All done.", { from });
      assert.deepEqual(seen.sort(), [`${server.url}/models`, "echo first", "echo second"].sort());
    });
    const results = server.requests.filter((r) => r.model === "you").at(-1)?.messages
      .filter((m) => m.role === "tool").map((m) => String(m.content)) ?? [];
    assert.match(results[0] ?? "", /first/u);
    assert.match(results[1] ?? "", /rejected/u);
    assert.match(results[2] ?? "", /test-model/u);
  }));

/** More asks at the same time than run at the same time, each of which takes a while. */
const MANY = 10;
const EACH_MS = 900;

test("asks that wait say so in line mode, and their waiting counts toward no timeout", () =>
  withProject(async (p) => {
    const server = await manyAsks(p);
    await drive(p, server, async ({ mm, say }) => {
      await say("go");
      await mm.waitForOutput(/bob │ \[waits for 1 other ask\]/u);
      await mm.waitForOutput(/bob │ \[waits for 2 other asks\]/u);
      await mm.waitForOutput("All done.");
    });
    checkMany(server);
  }));

test("asks that wait say so in an editor, inside their calls, and their waiting counts toward no timeout", () =>
  withProject(async (p) => {
    const server = await manyAsks(p);
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "go");
    const waiting = new Set(
      editor.updatesOf(session, "tool_call_update")
        .filter((update) => /waits for \d+ other asks?/u.test(JSON.stringify(update.content ?? "")))
        .map((update) => update.toolCallId),
    );
    assert.equal(waiting.size, MANY - 8);
    checkMany(server);
  }));

test("a typed ask that waits for others says so", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: forModel("bob", (request) =>
        request.lastUser === "last" ? { text: "I am." } : { text: "Slow.", delayMs: EACH_MS }),
    });
    await writeAgents(p, { server });
    const editor = p.editor();
    await editor.initialize();
    const sessions = await Promise.all(Array.from({ length: 9 }, () =>
      editor.newSession()));
    const slow = sessions.slice(0, 8).map((id) =>
      editor.prompt(id, "/ask-bob slowly")
    );
    while (server.maxOpen < 8) await new Promise((resolve) => setTimeout(resolve, 20));
    const last = sessions[8] ?? "";
    await editor.prompt(last, "/ask-bob last");
    const said = editor.updates.filter((one) => one.sessionId === last)
      .map((one) => one.update.content?.text ?? "").join("");
    assert.match(said, /bob is asked after 1 other ask\n/u);
    await Promise.all(slow);
    assert.equal(server.maxOpen, 8);
  }));

/** You, whose model asks bob many times at once; a silence shorter than the wait of the last ends a turn. */
async function manyAsks(p: TestProject): Promise<ModelServer> {
  const server = await p.model({
    reply: [
      forModel(
        "you",
        inOrder(
          { toolCalls: Array.from({ length: MANY }, (_, i) => askAgent("bob", `q${i}`)) },
          { text: "All done." },
        ),
      ),
      forModel("bob", (request) => ({ text: `a${request.lastUser}`, delayMs: EACH_MS })),
    ],
  });
  await writeAgents(p, { server, you: { yolo: true, watchdogTimeout: "1500ms" } });
  return server;
}

function checkMany(server: ModelServer): void {
  assert.equal(server.maxOpen, 8);
  const results = server.requests.at(-1)?.messages.filter((m) => m.role === "tool") ?? [];
  assert.deepEqual(results.map((m) => m.content), Array.from({ length: MANY }, (_, i) => `aq${i}`));
}
