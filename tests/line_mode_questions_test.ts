import assert from "node:assert/strict";
import { test } from "node:test";
import { askAgent, bash, writeAgents } from "./support/agents.ts";
import { drive, inLineMode } from "./support/line_stage.ts";
import { forModel, inOrder, onTool, onUser } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { withProject } from "./support/project.ts";

test("a permission question shows who, the whole command and where; y allows this call only", () =>
  inLineMode([
    onUser("Go", { toolCalls: [bash("touch one")] }),
    onUser("Again", { toolCalls: [bash("touch two")] }),
    onTool("", { text: "Done." }),
  ], async ({ p, expect, say, answer }) => {
    await say("Go");
    const question = await answer("y");
    assert.match(question, new RegExp(`🔐 bash: touch one \\(in ${p.dir}\\)`));
    assert.equal(p.exists("one"), false);
    await expect("Done.");
    assert.equal(p.exists("one"), true);
    await say("Again");
    assert.match(await answer("n"), /🔐 bash: touch two/);
    await expect("Done.");
    assert.equal(p.exists("two"), false);
  }));

test("s allows the tool, and no other, until /new begins another session", () =>
  inLineMode([
    onUser("Go", { toolCalls: [bash("touch one")] }),
    onUser("Again", { toolCalls: [bash("touch two")] }),
    onUser("Write", { toolCalls: [{ name: "write", arguments: { path: "w", content: "x" } }] }),
    onTool("", { text: "Done." }),
  ], async ({ p, mm, expect, say, answer }) => {
    await say("Go");
    await answer("s");
    await expect("Done.");
    await say("Again");
    await expect("Done.");
    assert.equal(p.exists("two"), true);
    await say("Write");
    assert.match(await answer("n"), /🔐 write/);
    await expect("Done.");
    assert.equal(mm.stdout.match(/🔐/g)?.length, 2);
    await say("/new");
    await say("Go");
    assert.match(await answer("n"), /🔐 bash: touch one/);
    await expect("Done.");
  }));

test("n and never reject with the true reason, and the turn goes on", () =>
  inLineMode([
    onUser("Go", { toolCalls: [bash("touch one")] }),
    onUser("Again", { toolCalls: [bash("touch two")] }),
    onUser("More", { toolCalls: [bash("touch three")] }),
    onTool("", { text: "Well." }),
  ], async ({ p, server, mm, expect, say, answer }) => {
    await say("Go");
    await answer("n");
    await expect("Well.");
    assert.match(
      server.requests[1]?.last.text ?? "",
      /^Not run: the user rejected this call of bash\. Do not try it again in another way;/,
    );
    assert.match(mm.stdout, /✗ bash · Not run: the user rejected this call of bash\n/);
    await say("Again");
    await answer("never");
    await expect("Well.");
    await say("More");
    await expect("Well.");
    for (const request of [server.requests[3], server.requests[5]]) {
      assert.match(request?.last.text ?? "", /^Not run: the user rejected bash for this session\./);
    }
    assert.equal(mm.stdout.match(/🔐/g)?.length, 2);
    assert.ok(!["one", "two", "three"].some((name) => p.exists(name)));
  }));

test("an answer that is none is asked for again, and no line typed as a prompt allows anything", () =>
  inLineMode([
    onUser("Go", { toolCalls: [bash("touch one")] }),
    onTool("", { text: "Done." }),
  ], async ({ p, expect, say, answer }) => {
    await say("Go");
    await answer("what?");
    await answer("");
    await answer("yes please");
    assert.equal(p.exists("one"), false);
    await answer("Y");
    await expect("Done.");
    assert.equal(p.exists("one"), true);
  }));

test("a change is asked about with its diff", () =>
  inLineMode([
    onUser("Go", {
      toolCalls: [{ name: "write", arguments: { path: "new.txt", content: "alpha\nbeta\n" } }],
    }),
    onTool("", { text: "Done." }),
  ], async ({ p, expect, say, answer }) => {
    await say("Go");
    const question = await answer("y");
    assert.match(question, /🔐 write: .*new\.txt/);
    assert.match(question, /\+ ?alpha\n.*\+ ?beta/);
    await expect("Done.");
    assert.equal(await p.read("new.txt"), "alpha\nbeta\n");
  }));

test("two questions that arrive together are put one after the other, each with its own answer", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel(
          "you",
          inOrder(
            { toolCalls: [askAgent("bob", "make left"), askAgent("bob", "make right")] },
            { text: "Both." },
          ),
        ),
        forModel(
          "bob",
          onUser("left", { toolCalls: [bash("touch left")] }),
          onUser("right", { toolCalls: [bash("touch right")] }),
          onTool("", (request) => ({ text: /Not run/.test(request.last.text) ? "no" : "made" })),
        ),
      ],
    });
    await writeAgents(p, { server, you: { permissions: { allow: ["ask_agent"] } } });
    await drive(p, server, async ({ mm, expect, say, answer }) => {
      await say("Go");
      // Both of bob's calls are announced before the first is answered: the second question waits.
      await mm.waitForOutput("● bob/bash touch left");
      await mm.waitForOutput("● bob/bash touch right");
      const first = /🔐 bob\/bash: touch (\w+)/.exec(await answer("y"))?.[1];
      const second = /🔐 bob\/bash: touch (\w+)/.exec(await answer("n"))?.[1];
      await expect("Both.");
      assert.deepEqual([first, second].sort(), ["left", "right"]);
      assert.equal(p.exists(first ?? ""), true);
      assert.equal(p.exists(second ?? ""), false);
    });
    const results = server.requests.at(-1)?.messages.filter((m) => m.role === "tool") ?? [];
    assert.deepEqual(results.map((m) => m.content).sort(), ["made", "no"]);
  }));

test("allowing your own bash for the session leaves bob's a question", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", onUser("Go", { toolCalls: [bash("true")] }), onTool("", { text: "Mine." })),
        forModel("bob", onUser("Do", { toolCalls: [bash("true")] }), onTool("", { text: "His." })),
      ],
    });
    await writeAgents(p, { server });
    await drive(p, server, async ({ expect, say, answer }) => {
      await say("Go");
      await answer("s");
      await expect("Mine.");
      await say("/ask-bob Do");
      assert.match(await answer("y"), /🔐 bob\/bash: true/);
      await expect("bob │ His.");
    });
  }));

test("the end of the input during a question refuses the call with the true reason", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      onUser("Go", { toolCalls: [bash("touch one")] }),
      onTool("", { text: "I see." }),
    ]);
    const { code, stdout } = await p.runMm(["-line"], { stdin: "Go\n" });
    assert.equal(code, 0);
    assert.match(stdout, /I see\./);
    assert.equal(p.exists("one"), false);
    const told = server.requests[1]?.last.text ?? "";
    assert.match(told, /^Not run: the input ended before the permission question was answered\./);
    assert.doesNotMatch(told, /user|reject|denied/);
  }));
