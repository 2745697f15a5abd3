import assert from "node:assert/strict";
import { test } from "node:test";
import { askAgent, bash, writeAgents } from "./support/agents.ts";
import { always, forModel, inOrder, onTool, onUser } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { programUnderTest } from "./support/program.ts";
import { withProject } from "./support/project.ts";

test("the answer alone goes to stdout; thoughts, calls and notices go to stderr", () =>
  withProject(async (p) => {
    await oneAgent(
      p,
      inOrder(
        { status: 503, body: "Loading model", headers: { "retry-after": "0" } },
        { reasoning: "Look first", toolCalls: [bash("echo seen")] },
        { text: "It is **bold**.\n\nSecond line" },
      ),
    );
    const { code, stdout, stderr } = await p.runMm(["-yolo", "-p", "Go"]);
    assert.equal(stdout, "It is **bold**.\n\nSecond line\n");
    assert.equal(code, 0);
    assert.match(stderr, /Loading model; trying again/);
    assert.match(stderr, /Look first/);
    assert.match(stderr, /bash echo seen/);
  }));

test("text before a call is part of the answer, each piece on lines of its own", () =>
  withProject(async (p) => {
    await oneAgent(
      p,
      inOrder({ text: "Let me look.", toolCalls: [bash("true")] }, { text: "Done." }),
    );
    const { stdout } = await p.runMm(["-yolo", "-p", "Go"]);
    assert.equal(stdout, "Let me look.\nDone.\n");
  }));

test("an answer passes to a pipe as the model wrote it, and nothing raw reaches stderr", () =>
  withProject(async (p) => {
    const answer = "a\x1b[31mred\x1b[0m\x1b]0;title\x07 end";
    await oneAgent(
      p,
      inOrder(
        { reasoning: "\x1b]52;c;aGk=\x07thought", toolCalls: [bash("printf '\\033[2Jout'")] },
        { text: answer },
      ),
    );
    const { stdout, stderr } = await p.runMm(["-yolo", "-verbose", "-p", "Go"]);
    assert.equal(stdout, `${answer}\n`);
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(stderr, /[\x00-\x08\x0b-\x1f\x7f-\x9f]/);
    assert.match(stderr, /thought/);
    assert.match(stderr, /out/);
  }));

test("-p - reads the whole prompt from stdin", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, always({ text: "Read." }));
    const { code, stdout } = await p.runMm(["-p", "-"], { stdin: "first\nsecond\n\nünd €\n" });
    assert.equal(code, 0);
    assert.equal(stdout, "Read.\n");
    assert.equal(server.requests[0]?.lastUser.trimEnd(), "first\nsecond\n\nünd €");
  }));

test("a prompt on the command line means that stdin is not read", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ text: "Here." }));
    // Stdin stays open: who waited for its end would wait for ever.
    const mm = p.mm(["-p", "Go"]);
    assert.equal((await mm.exit).code, 0);
    assert.equal(mm.stdout, "Here.\n");
  }));

for (
  const [what, args, stdin, words] of [
    ["empty", ["-p", ""], "", /prompt for -p is empty/],
    ["blank", ["-p", " \n "], "", /prompt for -p is empty/],
    ["missing", ["-p"], "", /-p needs a value: -p <prompt>/],
    ["blank on stdin", ["-p", "-"], " \n", /prompt on stdin is empty/],
    ["split by the shell", ["-p", "two", "words"], "", /"words" after -p; put the whole prompt in/],
    ["not UTF-8", ["-p", "-"], new Uint8Array([0x61, 0xff]), /prompt on stdin is not UTF-8/],
  ] as const
) {
  test(`a prompt that is ${what} is a usage error at once`, () =>
    withProject(async (p) => {
      const server = await oneAgent(p, []);
      const { code, stdout, stderr } = await p.runMm(args, { stdin });
      assert.equal(code, 2);
      assert.equal(stdout, "");
      assert.match(stderr, words);
      assert.equal(server.requests.length, 0);
    }));
}

test("status 1: it failed, and stderr says why", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ status: 400, body: { error: "bad things" } }));
    const { code, stdout, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(code, 1);
    assert.equal(stdout, "");
    assert.match(stderr, /The turn failed: .*HTTP 400: bad things/);
    assert.doesNotMatch(stderr, / at .*\.ts:/);
  }));

test("status 1: an unknown slash command, with the nearest one", () =>
  withProject(async (p) => {
    await oneAgent(p, []);
    const { code, stdout, stderr } = await p.runMm(["-p", "/stauts"]);
    assert.equal(code, 1);
    assert.equal(stdout, "");
    assert.match(stderr, /^✗ There is no command \/stauts.*did you mean "\/status"/m);
  }));

test("status 2: a wrong configuration", () =>
  withProject(async (p) => {
    await p.write("agent.yaml", "provider: llamacpp\nmodle: x\n");
    const { code, stdout, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(code, 2);
    assert.equal(stdout, "");
    assert.match(stderr, /agent\.yaml:2:1: .*modle.*"model"/);
  }));

test("status 3: an ask that the depth limit refuses", () =>
  withProject(async (p) => {
    const server = await p.model({});
    await writeAgents(p, { server });
    const { code, stdout, stderr } = await p.runMm(["--ask", "bob", "Hi"], {
      env: { MM_ASK_DEPTH: "2" },
    });
    assert.equal(code, 3);
    assert.equal(stdout, "");
    assert.match(stderr, /refused/);
    assert.equal(server.requests.length, 0);
  }));

for (
  const [limit, reply, keys, words] of [
    ["output limit", { text: "Half of", finish: "length" }, {}, /output limit/],
    ["refusal", { text: "I will not", finish: "content_filter" }, {}, /the model refused/],
    ["turn limit", { text: "Working", toolCalls: [bash("true")] }, { maxTurns: 1 }, /turn limit/],
  ] as const
) {
  test(`status 4: incomplete by the ${limit}; the partial text is printed`, () =>
    withProject(async (p) => {
      await oneAgent(p, always(reply), { yolo: true, ...keys });
      const { code, stdout, stderr } = await p.runMm(["-p", "Go"]);
      assert.equal(code, 4);
      assert.equal(stdout, `${reply.text}\n`);
      assert.match(stderr, words);
    }));
}

test("status 124: no sign of life for watchdogTimeout; what was said is printed", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ text: "So far", hang: true, holdAfter: 2 }), {
      watchdogTimeout: "1s",
    });
    const { code, stdout, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(code, 124);
    assert.equal(stdout, "So far\n");
    assert.match(stderr, /timed out after 1 s without a sign of life from llamacpp\/m/);
  }));

test("status 130: Ctrl-C cancels the turn, the request and the command", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      onUser("Talk", { text: "So far", hang: true, holdAfter: 2 }),
      onUser("Work", { toolCalls: [bash("sleep 300 | cat")] }),
    ]);
    const talking = p.mm(["-p", "Talk"]);
    await talking.waitForOutput("So far");
    talking.signalGroup("SIGINT");
    assert.equal((await talking.exit).code, 130);
    assert.equal(talking.stdout, "So far\n");
    assert.match(talking.stderr, /cancelled/);
    assert.equal(await server.requests[0]?.done, "aborted");
    const working = p.mm(["-yolo", "-p", "Work"]);
    await working.waitForOutput("● bash");
    working.signalGroup("SIGINT");
    assert.equal((await working.exit).code, 130);
  }));

test("SIGTERM ends with 143 and takes the command along", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ toolCalls: [bash("trap '' TERM; sleep 300")] }), { yolo: true });
    const mm = p.mm(["-p", "Work"]);
    await mm.waitForOutput("● bash");
    mm.signal("SIGTERM");
    assert.equal((await mm.exit).code, 143);
  }));

test("without a terminal a call that needs permission is refused at once, with the true reason", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      onUser("Go", { toolCalls: [bash("touch ran")] }),
      onTool("", { text: "I could not." }),
    ]);
    // Stdin is open, but a pipe: nobody can answer.
    const mm = p.mm(["-p", "Go"]);
    assert.equal((await mm.exit).code, 0);
    assert.equal(mm.stdout, "I could not.\n");
    const result = server.requests[1]?.last.text ?? "";
    assert.match(result, /^Not run: nobody is there to answer a permission question/);
    assert.match(result, /-yolo/);
    assert.doesNotMatch(result, /user|denied|rejected/);
    assert.match(mm.stderr, /nobody is there to answer/);
    assert.equal(p.exists("ran"), false);
  }));

test("bob's call without a terminal is refused with the same true reason, and both go on", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel(
          "you",
          inOrder({ toolCalls: [askAgent("bob", "Do it")] }, { text: "He says no." }),
        ),
        forModel("bob", inOrder({ toolCalls: [bash("touch ran")] }, { text: "I may not." })),
      ],
    });
    await writeAgents(p, { server, you: { permissions: { allow: ["ask_agent"] } } });
    const { code, stdout } = await p.runMm(["-p", "Go"]);
    assert.equal(code, 0);
    assert.equal(stdout, "He says no.\n");
    assert.match(server.requests[2]?.last.text ?? "", /nobody is there to answer/);
    assert.equal(server.requests[3]?.last.text, "I may not.");
    assert.equal(p.exists("ran"), false);
  }));

test("-yolo runs what would ask, and what permissions.allow covers whole runs without it", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      onUser("Write", { toolCalls: [bash("echo one > ran")] }),
      onUser("Say", { toolCalls: [bash("echo said")] }),
      onTool("", { text: "Done." }),
    ], { permissions: { allow: ["bash(echo *)"] } });
    await p.runMm(["-p", "Say"]);
    assert.match(server.requests[1]?.last.text ?? "", /^said/);
    await p.runMm(["-p", "Write"]);
    assert.match(server.requests[3]?.last.text ?? "", /^Not run: nobody is there/);
    assert.equal(p.exists("ran"), false);
    await p.runMm(["-yolo", "-p", "Write"]);
    assert.equal(await p.read("ran"), "one\n");
  }));

test("-model, -cwd and -config count, and each is relative to where mm was started", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: inOrder({ toolCalls: [bash("pwd")] }, { text: "ok" }) });
    await p.write("sub/.keep", "");
    await p.write(
      "other/some.yaml",
      `provider: llamacpp\nbaseUrl: ${server.url}\nmodel: configured\nyolo: true\n`,
    );
    const { code, stderr } = await p.runMm(
      ["--cwd", "sub", "-config=other/some.yaml", "-model", "chosen", "-p", "Where?"],
    );
    assert.equal(code, 0, stderr);
    assert.deepEqual(server.requests.map((r) => r.model), ["chosen", "chosen"]);
    assert.match(server.requests[1]?.last.text ?? "", new RegExp(`^${p.path("sub")}$`, "m"));
    assert.match(server.requests[0]?.system ?? "", new RegExp(`${p.path("sub")}`));
  }));

for (
  const [what, args, words] of [
    ["a file that is not there", ["-config", "no.yaml"], /"[^"]+no\.yaml" does not exist/],
    ["a directory that is not there", ["-cwd", "nowhere"], /"[^"]+nowhere" of -cwd: it does not/],
    ["a file as directory", ["-cwd", "agent.yaml"], /of -cwd: it is not a directory/],
    ["an empty model", ["-model", ""], /-model is empty/],
  ] as const
) {
  test(`${what} is a usage error that names it`, () =>
    withProject(async (p) => {
      await oneAgent(p, []);
      const { code, stdout, stderr } = await p.runMm([...args, "-p", "Go"]);
      assert.equal(code, 2);
      assert.equal(stdout, "");
      assert.match(stderr, words);
    }));
}

test("mm alone says what to use, on stderr, with status 2, whatever its streams are", () =>
  withProject(async (p) => {
    await oneAgent(p, []);
    for (const stdin of ["", "\n", "Hello\n"]) {
      const { code, stdout, stderr } = await p.runMm([], { stdin });
      assert.equal(code, 2);
      assert.equal(stdout, "");
      assert.match(stderr, /-line.*-p.*--ask/s);
    }
  }));

test("a slash command works as a prompt, and /ask-bob prints bob's answer", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: forModel("bob", onUser("Why?", { text: "Because." })) });
    await writeAgents(p, { server });
    const { code, stdout, stderr } = await p.runMm(["-p", "/ask-bob Why?"]);
    assert.equal(code, 0);
    assert.equal(stdout, "Because.\n");
    assert.match(stderr, /asking bob/);
    assert.match((await p.runMm(["-p", "/agents"])).stdout, /^bob - not started/);
  }));

test("what asked agents say inside the turn goes to stderr under their name", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "Why?")] }, { text: "So." })),
        forModel("bob", always({ text: "Because of it." })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const { stdout, stderr } = await p.runMm(["-p", "Ask"]);
    assert.equal(stdout, "So.\n");
    assert.match(stderr, /bob │ Because of it\./);
  }));

test("a reader that goes away ends mm quietly, and its command with it", () =>
  withProject(async (p) => {
    await oneAgent(p, inOrder({ text: "line\n".repeat(50_000) }));
    const mm = p.mm([
      "-c",
      '"$@" | head -n 1; echo "${PIPESTATUS[0]}"',
      "sh",
      ...programUnderTest(),
      "-p",
      "Go",
    ], {
      program: ["bash"],
    });
    assert.equal((await mm.exit).code, 0);
    assert.match(mm.stdout, /^line\n(0|141)\n$/);
    assert.doesNotMatch(mm.stderr, /error|EPIPE/i);
  }));
