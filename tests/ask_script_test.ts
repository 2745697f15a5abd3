/** Asking from scripts: what `mm --ask` reads, prints, and permits. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { stripVTControlCharacters } from "node:util";
import { askAgent, bash, writeAgents } from "./support/agents.ts";
import { always, forModel, inOrder, onUser } from "./support/model_server.ts";
import { withProject } from "./support/project.ts";
import { resultsOf, shell, withBob } from "./support/script.ts";

test("the answer alone is on stdout, and all else on stderr", () =>
  withBob({
    you: { yolo: true },
    bob: [
      inOrder(
        { reasoning: "Let me see", text: "I look.", toolCalls: [bash("echo seen")] },
        { text: "Because." },
      ),
    ],
  }, async (p) => {
    const run = await p.runMm(["--ask", "bob", "Why?"], {
      env: { NO_COLOR: "", FORCE_COLOR: "1" },
    });
    assert.equal(run.stdout, "Because.\n");
    assert.equal(run.code, 0);
    assert.ok(run.stderr.includes("\x1b["), "the colours that were asked for");
    for (const said of ["Let me see", "I look.", "bob/bash", "echo seen"]) {
      assert.ok(stripVTControlCharacters(run.stderr).includes(said), `${said} in ${run.stderr}`);
    }
  }));

test("an answer keeps every character it has, and ends with one newline", () =>
  withBob({
    bob: [
      onUser("plain", { text: "a  b\n\n\tc\u2028 日本 🎉\n" }),
      onUser("escapes", { text: "\x1b[31mred\x1b[0m" }),
      onUser("lines", { text: "x\n\n\n" }),
    ],
  }, async (p) => {
    const answers = await Promise.all(
      ["plain", "escapes", "lines"].map((q) => p.runMm(["--ask", "bob", q])),
    );
    assert.deepEqual(answers.map((run) => run.stdout), [
      "a  b\n\n\tc\u2028 日本 🎉\n",
      "\x1b[31mred\x1b[0m\n",
      "x\n",
    ]);
  }));

test("a caller that captures the answer gets the answer", () =>
  withBob({ bob: [always({ text: "forty two" })] }, async (p) => {
    const run = await shell(p, 'x=$("$@" --ask bob q 2>/dev/null); echo "<$x> $?"');
    assert.equal(run.stdout, "<forty two> 0\n");
  }));

test("an answer of a megabyte comes whole through a pipe", () =>
  withBob({ bob: [always({ chunks: ["0123456789abcdef".repeat(65536), "\nend"] })] }, async (p) => {
    const run = await shell(p, '"$@" --ask bob q | (sleep 0.3; wc -c)');
    assert.equal(run.stdout.trim(), String(16 * 65536 + 5));
  }));

test("a question on stdin is read to its end, whether - stands for it or nothing", () =>
  withBob({ bob: [always({ text: "ok" })] }, async (p, server) => {
    await Promise.all([
      p.runMm(["--ask", "bob"], { stdin: "one\n日本" }),
      p.runMm(["--ask", "bob", "-"], { stdin: "two" }),
    ]);
    const asked = server.requests.map((r) => r.lastUser).sort();
    assert.deepEqual(asked, ["one\n日本", "two"]);
  }));

test("a question on the command line leaves stdin unread, even one that never ends", () =>
  withBob({ bob: [always({ text: "ok" })] }, async (p, server) => {
    const open = p.mm(["--ask", "bob", "q"]);
    assert.equal((await open.exit).code, 0);
    const run = await shell(p, '(echo a; echo b) | ("$@" --ask bob q 2>/dev/null; cat)');
    assert.equal(run.stdout, "ok\na\nb\n");
    assert.deepEqual(server.requests.map((r) => r.lastUser), ["q", "q"]);
  }));

test("a question that begins with a dash is given behind --", () =>
  withBob({ bob: [always({ text: "i" })] }, async (p, server) => {
    const run = await p.runMm(["--ask", "bob", "--", "-1 squared?"]);
    assert.equal(run.stdout, "i\n");
    assert.equal(server.requests[0]?.lastUser, "-1 squared?");
  }));

test("an empty question, an unknown agent and a broken configuration are status 2, and start nobody", () =>
  withBob({}, async (p, server) => {
    await p.write("broken.yaml", "provider: llamacpp\nmodle: x\n");
    const cases: readonly (readonly [readonly string[], RegExp, string?])[] = [
      [["--ask", "bob", ""], /question.*empty/],
      [["--ask", "bob", "  \n"], /question.*empty/],
      [["--ask", "bob"], /question on stdin is empty/],
      [["--ask", "bob"], /question on stdin is empty/, " \n"],
      [["--ask", "bop", "q"], /"bop".*did you mean "bob"/],
      [["--ask"], /--ask.*<agent>/],
      [["--ask", "bob", "two", "words"], /"words".*quotes/],
      [["-config", "broken.yaml", "--ask", "bob", "q"], /broken\.yaml:2:1.*"modle".*"model"/s],
      [["-config", "none.yaml", "--ask", "bob", "q"], /none\.yaml.*does not exist/],
      [["-json", "--ask", "bop", "q"], /"bop"/],
      [["--ask-with-context", "bob", "q"], /MM_TRANSCRIPT is not set/],
    ];
    for (const [args, words, stdin = ""] of cases) {
      const run = await p.runMm(args, { stdin });
      assert.equal(run.code, 2, `${args.join(" ")}: ${run.stderr}`);
      assert.match(run.stderr, words);
      assert.equal(run.stdout, "");
    }
    assert.equal(server.requests.length, 0);
  }));

test("a project without agents says that there is nobody to ask", () =>
  withProject(async (p) => {
    await p.write("agent.yaml", "provider: demo\n");
    const run = await p.runMm(["--ask", "bob", "q"]);
    assert.equal(run.code, 2);
    assert.match(run.stderr, /no agents.*mmConfigs/);
  }));
test("with yolo on, bob's calls run: the command itself was approved", () =>
  withBob({
    you: { yolo: true },
    bobKeys: { yolo: false },
    bob: [inOrder({ toolCalls: [bash("touch one")] }, { text: "done" })],
  }, async (p) => {
    const run = await p.runMm(["--ask", "bob", "q"]);
    assert.deepEqual([run.code, run.stdout, p.exists("one")], [0, "done\n", true]);
  }));

test("with yolo off, bob's calls are refused without a question, and bob is told why", () =>
  withBob({
    bobKeys: { yolo: true },
    bob: [inOrder({ toolCalls: [bash("touch one"), bash("touch two")] }, { text: "I could not." })],
  }, async (p, server) => {
    // A pipe as stdin that stays open: nothing may wait for it.
    const mm = p.mm(["--ask", "bob", "edit"]);
    assert.equal((await mm.exit).code, 0);
    assert.equal(mm.stdout, "I could not.\n");
    assert.ok(!p.exists("one") && !p.exists("two"));
    for (const result of resultsOf(server)) {
      assert.match(result, /yolo is off.*nobody is there to answer/);
      assert.match(result, /the rule "bob\/bash\(touch (one|two)\)" in permissions\.allow/);
      assert.doesNotMatch(result, /rejected|user/);
    }
    assert.equal(resultsOf(server).length, 2);
    assert.doesNotMatch(mm.stderr, /🔐|allow once/i);
  }));

test("-yolo on the command line counts as the configuration's yolo", () =>
  withBob({
    bob: [inOrder({ toolCalls: [bash("touch one")] }, { text: "done" })],
  }, async (p) => {
    await p.runMm(["-yolo", "--ask", "bob", "q"]);
    assert.ok(p.exists("one"));
  }));

test("a rule that asks in bob's own file, or in that of riker whom he asks, wants a person under -yolo too", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel(
          "bob",
          inOrder(
            { toolCalls: [bash("touch bobs"), bash("echo free"), askAgent("riker", "Go")] },
            { text: "done" },
          ),
        ),
        forModel("riker", inOrder({ toolCalls: [bash("touch rikers")] }, { text: "done" })),
      ],
    });
    const asking = { permissions: { ask: ["bash(touch *)"] } };
    await writeAgents(p, { server, bob: asking, riker: asking });
    const run = await p.runMm(["-yolo", "--ask", "bob", "q"]);
    assert.deepEqual([run.code, run.stdout], [0, "done\n"], run.stderr);
    assert.ok(!p.exists("bobs") && !p.exists("rikers"));
    const refused = server.requests.flatMap(({ messages }) => messages)
      .filter(({ role, content }) => role === "tool" && String(content).startsWith("Not run"))
      .map(({ content }) => String(content));
    for (const who of ["bob", "bob/riker"]) {
      const why =
        `Not run: a rule of permissions.ask that ${who} has wants a person, and nobody is`;
      assert.ok(refused.some((text) => text.startsWith(why)), refused.join("\n"));
    }
    assert.ok(refused.every((text) => text.includes("neither yolo nor permissions.allow")));
  }));

test("bob's entry decides about his calls in scripts too, both ways", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: forModel(
        "bob",
        onUser("on", { toolCalls: [bash("touch on")] }),
        onUser("off", { toolCalls: [bash("touch off")] }),
        always({ text: "ok" }),
      ),
    });
    await writeAgents(p, { server, you: { yolo: true }, bobEntry: { yolo: false } });
    await p.runMm(["--ask", "bob", "off"]);
    await writeAgents(p, { server, you: { yolo: false }, bobEntry: { yolo: true } });
    await p.runMm(["--ask", "bob", "on"]);
    assert.deepEqual([p.exists("off"), p.exists("on")], [false, true]);
  }));

test("rules for bob's tools count in scripts: allow without yolo, deny with it", () =>
  withProject(async (p) => {
    const calls = [bash("touch one"), bash("touch one; touch two"), bash("touch three")];
    const server = await p.model({
      reply: forModel("bob", (r) => r.last.role === "user" ? { toolCalls: calls } : { text: "ok" }),
    });
    const allow = ["bob/bash(touch one)", "bash"];
    await writeAgents(p, { server, you: { permissions: { allow } } });
    await p.runMm(["--ask", "bob", "q"]);
    assert.deepEqual(["one", "two", "three"].map((name) => p.exists(name)), [true, false, false]);

    const deny = ["bob/bash(touch three)"];
    await writeAgents(p, { server, you: { yolo: true, permissions: { deny } } });
    await p.runMm(["--ask", "bob", "again"]);
    assert.deepEqual(["one", "two", "three"].map((name) => p.exists(name)), [true, true, false]);
    assert.match(resultsOf(server).at(-1) ?? "", /rule "bob\/bash\(touch three\)" denies/);
  }));
