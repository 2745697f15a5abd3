import assert from "node:assert/strict";
import { test } from "node:test";
import { askAgent, writeAgents } from "./support/agents.ts";
import { always, forModel, inOrder } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { withProject } from "./support/project.ts";

function todo(...todos: readonly (readonly [string, string, string?])[]) {
  return {
    name: "todo",
    arguments: {
      todos: todos.map(([content, status, priority]) => ({
        content,
        status,
        ...(priority === undefined ? {} : { priority }),
      })),
    },
  };
}

const first = todo(["Look", "in_progress", "high"], ["Change", "pending"]);
const second = todo(["Look", "completed", "high"], ["Change", "in_progress"]);

test("each list is the whole plan for the editor, and a short result for the model", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      inOrder({ toolCalls: [first] }, { toolCalls: [second] }, { text: "Done." }),
    );
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "Go");
    assert.deepEqual(editor.updatesOf(session, "plan").map((u) => u.entries), [
      [
        { content: "Look", status: "in_progress", priority: "high" },
        { content: "Change", status: "pending", priority: "medium" },
      ],
      [
        { content: "Look", status: "completed", priority: "high" },
        { content: "Change", status: "in_progress", priority: "medium" },
      ],
    ]);
    assert.equal(server.requests[1]?.last.text, "[0 of 2 done]");
    assert.equal(server.requests[2]?.last.text, "[1 of 2 done]");
    const [call] = editor.toolCalls(session);
    assert.equal(call.status, "completed");
    assert.equal(call.kind, "think");
    assert.equal(call.title, "Plan: 0 of 2 done");
    assert.equal(editor.permissions.length, 0);
  }));

test("a plan in the terminal shows what is done, under way and to come", () =>
  withProject(async (p) => {
    await oneAgent(p, inOrder({ toolCalls: [second] }, { text: "Done." }));
    const { stdout } = await p.runMm(["-line"], { stdin: "Go\n" });
    assert.match(stdout, /\n {2}\[x\] Look\n {2}\[>\] Change\n/);
    const { stderr } = await p.runMm(["-p", "/help"]);
    assert.doesNotMatch(stderr, /\[x\]/);
  }));

test("a list with wrong entries, or written as text, is answered with what is right", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      inOrder(
        { toolCalls: [todo(["Look", "done"])] },
        { toolCalls: [{ name: "todo", arguments: { todos: "Look, then change" } }] },
        {
          toolCalls: [{
            name: "todo",
            arguments: { todos: JSON.stringify(first.arguments.todos) },
          }],
        },
        { text: "Done." },
      ),
    );
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "Go");
    assert.match(
      server.requests[1]?.last.text ?? "",
      /^Wrong arguments for todo: "todos\.0\.status": .*"pending"\|"in_progress"\|"completed"/,
    );
    assert.match(server.requests[2]?.last.text ?? "", /"todos" has to be a list, got "Look, then/);
    assert.equal(server.requests[3]?.last.text, "[0 of 2 done]");
  }));

test("the plan of an asked agent is its own and shows a sign of life, not a plan of yours", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "Go")] }, { text: "So." })),
        forModel("bob", inOrder({ toolCalls: [first] }, { text: "Bob is done." })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "Ask bob");
    assert.deepEqual(editor.updatesOf(session, "plan"), []);
    assert.ok(editor.toolCalls(session).some((c) => /Plan: 0 of 2 done/.test(c.title)));
    assert.equal(editor.text(session), "So.");
  }));

test("a saved conversation that is loaded shows its plan again", () =>
  withProject(async (p) => {
    await oneAgent(p, [
      inOrder({ toolCalls: [second] }, { text: "Done." }),
      always({ text: "Hm." }),
    ]);
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "Go");
    await editor.mm.stop();
    const again = p.editor();
    await again.initialize();
    await again.request("session/load", { sessionId: session, cwd: p.dir, mcpServers: [] });
    assert.deepEqual(
      again.updatesOf(session, "plan").map((u) => u.entries),
      editor.updatesOf(session, "plan").map((u) => u.entries),
    );
  }));
