import assert from "node:assert/strict";
import { test } from "node:test";
import { bash, writeAgents } from "./support/agents.ts";
import { ANSWER, drive, inLineMode } from "./support/line_stage.ts";
import { always, forModel, inOrder, onTool, onUser } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { withProject } from "./support/project.ts";

test("a turn: the banner, the prompt, the answer, the next prompt", () =>
  inLineMode(onUser("Hello", { text: "Hi there." }), async ({ p, expect, say, mm }) => {
    await expect(/^mm · llamacpp\/m\nin .*\n/);
    await say("Hello");
    await expect("Hi there.\n> ");
    assert.ok(mm.stdout.includes(`in ${p.dir}\n`), mm.stdout);
    assert.equal(mm.stderr, "");
  }));

test("a second prompt goes on with the first one's conversation", () =>
  inLineMode(
    [onUser("One", { text: "First." }), onUser("Two", { text: "Second." })],
    async ({ server, expect, say }) => {
      await say("One");
      await expect("First.");
      await say("Two");
      await expect("Second.");
      assert.deepEqual(
        server.requests[1]?.messages.slice(1).map((m) => `${m.role} ${m.content}`),
        ["user One", "assistant First.", "user Two"],
      );
    },
  ));

test("several prompts through a pipe are run in order, and the end of the input leaves", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      onUser("One", { text: "First." }),
      onUser("Two", { text: "Second." }),
    ]);
    const { code, stdout, stderr } = await p.runMm(["-line"], { stdin: "One\n\n   \nTwo" });
    assert.equal(code, 0);
    assert.equal(stderr, "");
    assert.match(stdout, /^> One\nFirst\.\n[\s\S]*^> Two\nSecond\.\n> \n$/m);
    assert.equal(server.requests.length, 2);
  }));

test("the slash commands answer without a model", () =>
  withProject(async (p) => {
    const server = await p.model({});
    await writeAgents(p, { server, you: { acp: { title: "Your Agent" } } });
    await drive(p, server, async ({ expect, say }) => {
      await expect(/^Your Agent · llamacpp\/you$/m);
      await expect(/^\/ask-bob knows all about bob$/m);
      await say("/help");
      for (const name of ["help", "new", "agents", "model", "tools", "yolo", "status", "quit"]) {
        await expect(new RegExp(`^/${name}\\b.* - `, "m"));
      }
      await expect(/^\/ask-bob <question> - Ask bob: knows all about bob$/m);
      await say("/agents");
      await expect("bob - not started, knows all about bob\n");
      await say("/tools");
      await expect(/^bash \(asks\)$/m);
      await say("/status");
      await expect(/^model: llamacpp\/you at http.*$/m);
      await expect(/^directory: .*project$/m);
      await expect(/^yolo: off$/m);
      await say("/model");
      await expect(/^llamacpp\/you at http.*, window/m);
      await say("/yolo");
      await expect("yolo is on");
      await say("/tools");
      await expect(/^bash$/m);
      await say("/yolo off");
      await expect("yolo is off");
      await say("/yolo perhaps");
      await expect(/\/yolo takes "on" or "off", not "perhaps"/);
    });
  }));

test("/new forgets the conversation", () =>
  inLineMode(always({ text: "Yes." }), async ({ server, expect, say }) => {
    await say("Remember 42");
    await expect("Yes.");
    await say("/new");
    await expect("fresh conversation");
    await say("What was it?");
    await expect("Yes.");
    assert.equal(server.requests[1]?.messages.length, 2);
    assert.doesNotMatch(server.requests[1]?.raw ?? "", /42/);
  }));

test("/quit leaves, and what stands behind it is not read", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, []);
    const { code, stdout } = await p.runMm(["-line"], { stdin: "/quit\nHello\n" });
    assert.equal(code, 0);
    assert.doesNotMatch(stdout, /Hello/);
    assert.equal(server.requests.length, 0);
  }));

test("an unknown command names the nearest, and a path is no command", () =>
  inLineMode(onUser("/etc/hosts", { text: "A file." }), async ({ server, expect, say }) => {
    await say("/stauts");
    await expect(/^✗ There is no command \/stauts.*did you mean "\/status"/m);
    assert.equal(server.requests.length, 0);
    await say("/etc/hosts is what?");
    await expect("A file.");
  }));

test("/ask-bob shows bob's answer under his name on each line, then who answered", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: forModel("bob", onUser("Why?", { text: "Because.\nTruly." })),
    });
    await writeAgents(p, { server });
    await drive(p, server, async ({ expect, say }) => {
      await say("/ask-bob Why?");
      await expect(/asking bob$/m);
      await expect(/^bob │ Because\.\nbob │ Truly\.$/m);
      await expect("bob answered (llamacpp/bob)");
      // By now he has said what he calls himself: mm, as every agent without a title.
      await say("/ask-bob Why?");
      await expect(/asking bob$/m);
      await expect("bob answered (llamacpp/bob)");
    });
  }));

test("Ctrl-C cancels the answer that runs; the next prompt works", () =>
  inLineMode([
    onUser("Talk", { text: "So far", hang: true, holdAfter: 2 }),
    onUser("Next", { text: "Here." }),
  ], async ({ server, mm, expect, say }) => {
    await say("Talk");
    await expect("So far");
    mm.signalGroup("SIGINT");
    await expect("◂ The turn was cancelled");
    assert.equal(await server.requests[0]?.done, "aborted");
    await say("Next");
    await expect("Here.");
    assert.equal(server.requests[1]?.messages[2]?.content, "So far\n[cancelled by the user]");
  }));

test("Ctrl-C cancels the command that runs, with all its processes", () =>
  inLineMode([
    onUser("Work", { toolCalls: [bash("sleep 300 | cat")] }),
    onUser("Next", { text: "Here." }),
  ], async ({ mm, expect, say }) => {
    await say("Work");
    await expect("● bash");
    mm.signalGroup("SIGINT");
    await expect("◂ The turn was cancelled");
    await say("Next");
    await expect("Here.");
  }, { yolo: true }));

test("Ctrl-C during a question cancels the turn, and a late answer is a prompt, not a permission", () =>
  inLineMode([
    onUser("Go", { toolCalls: [bash("touch one")] }),
    onUser("y", { text: "Yes what?" }),
  ], async ({ p, mm, expect, say }) => {
    await say("Go");
    await expect(ANSWER);
    mm.signalGroup("SIGINT");
    await expect("◂ The turn was cancelled");
    await say("y");
    await expect("Yes what?");
    assert.equal(p.exists("one"), false);
  }));

test("Ctrl-C during an ask cancels bob's work and leaves him usable", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: forModel(
        "bob",
        onUser("Wait", { text: "Well", hang: true, holdAfter: 1 }),
        onUser("Hi", { text: "Hello." }),
      ),
    });
    await writeAgents(p, { server });
    await drive(p, server, async ({ mm, expect, say }) => {
      await say("/ask-bob Wait");
      await expect("bob │ Well");
      mm.signalGroup("SIGINT");
      await expect("◂ bob was cancelled");
      await say("/ask-bob Hi");
      await expect("bob │ Hello.");
    });
  }));

test("Ctrl-C twice leaves, from the prompt and from a turn", () =>
  withProject(async (p) => {
    await oneAgent(p, onUser("Work", { toolCalls: [bash("trap '' TERM; sleep 300")] }), {
      yolo: true,
    });
    const idle = p.mm(["-line"]);
    await idle.waitForOutput(/^> /m);
    idle.signalGroup("SIGINT");
    await idle.waitForOutput("Ctrl-C again");
    idle.signalGroup("SIGINT");
    assert.deepEqual(await idle.exit, { code: 0, signal: null });
    const busy = p.mm(["-line"]);
    busy.writeLine("Work");
    await busy.waitForOutput("● bash");
    busy.signalGroup("SIGINT");
    await new Promise((resolve) => setTimeout(resolve, 50));
    busy.signalGroup("SIGINT");
    assert.deepEqual(await busy.exit, { code: 0, signal: null });
  }));

for (const [signal, status] of [["SIGTERM", 143], ["SIGHUP", 129]] as const) {
  test(`${signal} during a command ends mm with ${status} and everything it started`, () =>
    withProject(async (p) => {
      await oneAgent(p, onUser("Work", { toolCalls: [bash("trap '' TERM; sleep 300")] }), {
        yolo: true,
      });
      const mm = p.mm(["-line"]);
      mm.writeLine("Work");
      await mm.waitForOutput("● bash");
      mm.signal(signal);
      assert.deepEqual(await mm.exit, { code: status, signal: null });
    }));
}

test("a failed turn is said, and the next prompt works", () =>
  inLineMode([
    onUser("Go", { status: 400, body: { error: { message: "bad things" } } }),
    onUser("Next", { text: "Here." }),
  ], async ({ expect, say }) => {
    await say("Go");
    await expect(/✗ The turn failed: .*HTTP 400: bad things/);
    await say("Next");
    await expect("Here.");
  }));

test("thoughts are marked, results are one line, and -verbose shows output as it comes", () =>
  withProject(async (p) => {
    await oneAgent(
      p,
      inOrder({ reasoning: "Hm, let me see", toolCalls: [bash("seq 3")] }, { text: "Three." }),
      { yolo: true },
    );
    const { stdout } = await p.runMm(["-line", "-verbose"], { stdin: "Count\n" });
    const lines = stdout.split("\n");
    const first = lines.indexOf("┆ Hm, let me see");
    assert.deepEqual(lines.slice(first + 1, first + 5), [
      "● bash seq 3",
      "  │ 1",
      "  │ 2",
      "  │ 3",
    ]);
    assert.match(lines[first + 5] ?? "", /^✓ bash · 1 \(\d more lines\)$/);
    assert.match(stdout, /^Three\.$/m);
  }));

test("escapes of the model, of commands and of bob never reach the terminal raw", () =>
  withProject(async (p) => {
    const hostile = "\x1b]0;owned\x07\x1b]52;c;aGk=\x1b\\\x1b[2J\x1b[31mred\x9b1A\x1bc\r\x07 tail";
    const command = "printf '\\033]0;owned\\007\\033[2Jshown\\n'";
    const server = await p.model({
      reply: [
        forModel(
          "you",
          inOrder(
            { reasoning: `think ${hostile}`, chunks: ["a\x1b", "]0;ow", "ned\x07b ", hostile] },
            { toolCalls: [bash(command), bash(`echo '${hostile}'`)] },
            { text: "Done." },
            { status: 400, body: { error: { message: `bad ${hostile}` } } },
          ),
        ),
        forModel("bob", always({ text: `bob says ${hostile}` })),
      ],
    });
    await writeAgents(p, { server });
    const { stdout, stderr } = await p.runMm(["-line", "-verbose"], {
      stdin: "One\nTwo\ny\ny\nThree\n/ask-bob Hi\n",
    });
    // deno-lint-ignore no-control-regex
    const raw = /[\x00-\x08\x0b-\x1f\x7f-\x9f]/;
    assert.doesNotMatch(stdout + stderr, raw);
    assert.match(stdout, /shown/);
    assert.match(stdout, /^bob │ bob says /m);
    // In a question nothing may be hidden: what is dropped elsewhere is written out.
    assert.match(stdout, /🔐 bash: echo '\\u\{1b\}\]0;owned\\u\{7\}/);
  }));

test("without a terminal the prompt of a pipe shows what was read, so that a log can be read", () =>
  withProject(async (p) => {
    await oneAgent(p, [
      onUser("Go", { toolCalls: [bash("true")] }),
      onTool("", { text: "Done." }),
    ]);
    const { stdout } = await p.runMm(["-line"], { stdin: "Go\ny\n" });
    assert.match(stdout, /^> Go$/m);
    assert.ok(stdout.includes(`${ANSWER}y\n`), stdout);
  }));

test("a wrong start is told before any prompt is read", () =>
  withProject(async (p) => {
    await oneAgent(p, []);
    const { code, stdout, stderr } = await p.runMm(["-line", "-cwd", "nowhere"], { stdin: "Hi\n" });
    assert.equal(code, 2);
    assert.equal(stdout, "");
    assert.match(stderr, /nowhere/);
  }));
