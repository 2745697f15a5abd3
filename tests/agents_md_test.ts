/**
 * `AGENTS.md` end to end: where it is read, when, what the model gets and what the person is told.
 *
 * @module
 */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, mkdir, rm, symlink } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { askAgent, writeAgents } from "./support/agents.ts";
import { always, forModel, inOrder, type ModelServer } from "./support/model_server.ts";
import { oneAgent, writeAgent } from "./support/one_agent.ts";
import { type TestProject, withProject } from "./support/project.ts";

const HEADING = "PROJECT INSTRUCTIONS (from ";

const ok = always({ text: "Ok." });

/** What stands behind the heading in the system prompt of a request, 1 for the first. */
function section(server: ModelServer, request = 1): string | undefined {
  return server.requests[request - 1]?.system.split(HEADING)[1];
}

/** Asks once with `-p` and returns the process's output. */
async function askOnce(p: TestProject, question = "Hello") {
  const result = await p.runMm(["-p", question]);
  assert.equal(result.code, 0, result.stderr);
  return result;
}

test("it follows the configured prompt under a heading that names it, and replaces nothing", () =>
  withProject(async (p) => {
    const path = await p.write("AGENTS.md", "Run `make check`.\n\nLast rule.\n");
    const server = await oneAgent(p, ok, { system: "You are a careful engineer." });
    const { stdout, stderr } = await askOnce(p);
    assert.equal(
      server.requests[0]?.system,
      `You are a careful engineer.\n\n${HEADING}${path})\n\nRun \`make check\`.\n\nLast rule.\n`,
    );
    assert.equal(stdout, "Ok.\n");
    assert.equal(stderr, "", "nothing is said about what is as it should be");
  }));

test("it follows mm's own prompt where the configuration has none", () =>
  withProject(async (p) => {
    await p.write("AGENTS.md", "Comments are in French.");
    const server = await oneAgent(p, ok);
    await askOnce(p);
    const { system = "" } = server.requests[0] ?? {};
    assert.match(system, /^You are mm, a coding agent\.[\s\S]*\n\nPROJECT INSTRUCTIONS \(from /);
    assert.ok(system.endsWith("\n\nComments are in French."));
  }));

test("it is part of the system message: the first user message is the question alone", () =>
  withProject(async (p) => {
    await p.write("AGENTS.md", "Rule.");
    const server = await oneAgent(p, ok);
    await askOnce(p, "Question");
    assert.deepEqual(server.requests[0]?.messages.map((m) => m.role), ["system", "user"]);
    assert.equal(server.requests[0]?.lastUser, "Question");
  }));

test("without a file the prompt is as it was, and nothing is said", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, ok, { system: "Plain." });
    const { stderr } = await askOnce(p);
    assert.equal(server.requests[0]?.system, "Plain.");
    assert.equal(stderr, "");
  }));

test("only the working directory's file is read: none of its parents, its folders or the home", () =>
  withProject(async (p) => {
    await p.write("AGENTS.md", "PARENT");
    await p.write("package/AGENTS.md", "OWN");
    await p.write("package/src/AGENTS.md", "BELOW");
    await mkdir(join(p.home, ".config", "mm"), { recursive: true });
    await p.write("../home/AGENTS.md", "HOME");
    await p.write("../home/.config/mm/AGENTS.md", "USER");
    const server = await oneAgent(p, ok);
    const config = p.path("agent.yaml");
    await p.runMm(["-config", config, "-p", "1"], { cwd: p.path("package") });
    assert.equal(section(server, 1), `${p.path("package/AGENTS.md")})\n\nOWN`);
    await rm(p.path("package/AGENTS.md"));
    await p.runMm(["-config", config, "-p", "2"], { cwd: p.path("package") });
    assert.doesNotMatch(server.requests[1]?.raw ?? "", /PARENT|BELOW|HOME|USER|PROJECT INSTR/);
  }));

test("a relative path begins at the working directory, never beside the configuration", () =>
  withProject(async (p) => {
    await p.write("docs/RULES.md", "BESIDE THE CONFIGURATION");
    await p.write("a/docs/RULES.md", "OF A");
    await p.write("b/keep", "");
    const server = await oneAgent(p, ok, { agentsMd: { path: "docs/RULES.md" } });
    const config = p.path("agent.yaml");
    await p.runMm(["-config", config, "-p", "1"], { cwd: p.path("a") });
    assert.equal(section(server, 1), `${p.path("a/docs/RULES.md")})\n\nOF A`);
    const { stderr } = await p.runMm(["-config", config, "-p", "2"], { cwd: p.path("b") });
    assert.equal(section(server, 2), undefined);
    assert.match(stderr, /No project instructions: there is no file ".*b\/docs\/RULES\.md"/);
  }));

test("an edit during a conversation counts from /new on", () =>
  withProject(async (p) => {
    await p.write("AGENTS.md", "OLD");
    const server = await oneAgent(p, ok);
    const mm = p.mm(["-line"]);
    await mm.waitForOutput("> ");
    mm.writeLine("one");
    await mm.waitForOutput("Ok.");
    await p.write("AGENTS.md", "NEW");
    mm.writeLine("two");
    const second = await server.waitForRequest((r) => r.lastUser === "two");
    assert.match(second.system, /OLD$/);
    mm.writeLine("/new");
    await mm.waitForOutput("A fresh conversation begins.");
    mm.writeLine("three");
    const third = await server.waitForRequest((r) => r.lastUser === "three");
    assert.match(third.system, /NEW$/);
    assert.deepEqual(third.messages.map((m) => m.role), ["system", "user"]);
    await rm(p.path("AGENTS.md"));
    mm.writeLine("/new");
    mm.writeLine("four");
    const fourth = await server.waitForRequest((r) => r.lastUser === "four");
    assert.ok(!fourth.system.includes(HEADING));
    mm.endInput();
    await mm.exit;
  }));

test("each session of an editor reads the file of its own directory, once", () =>
  withProject(async (p) => {
    await p.write("a/AGENTS.md", "RULES OF A");
    await p.write("b/AGENTS.md", "RULES OF B");
    await p.write("AGENTS.md", "RULES OF WHERE MM RUNS");
    const server = await oneAgent(p, ok);
    const editor = p.editor();
    await editor.initialize();
    const a = await editor.newSession({ cwd: p.path("a") });
    const b = await editor.newSession({ cwd: p.path("b") });
    await editor.prompt(a, "to a");
    await editor.prompt(b, "to b");
    await p.write("a/AGENTS.md", "LATER RULES");
    await editor.prompt(a, "again");
    assert.equal(section(server, 1), `${p.path("a/AGENTS.md")})\n\nRULES OF A`);
    assert.equal(section(server, 2), `${p.path("b/AGENTS.md")})\n\nRULES OF B`);
    assert.equal(section(server, 3), section(server, 1));
    const later = await editor.newSession({ cwd: p.path("a") });
    await editor.prompt(later, "fresh");
    assert.match(server.requests[3]?.system ?? "", /LATER RULES$/);
    assert.equal(editor.text(a), "Ok.Ok.");
  }));

test("an asked agent reads the file of the directory it is given if its own file says so", () =>
  withProject(async (p) => {
    await p.write("AGENTS.md", "RULES");
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "Why?")] }, { text: "Done." })),
        forModel("bob", ok),
        forModel("riker", ok),
      ],
    });
    await writeAgents(p, {
      server,
      you: { yolo: true, agentsMd: { enabled: false } },
      riker: { agentsMd: { enabled: false } },
      entries: { riker: { path: "riker.yaml" } },
    });
    await askOnce(p);
    const systemOf = (model: string) =>
      server.requests.find((r) => r.model === model)?.system ?? "none";
    assert.doesNotMatch(systemOf("you"), /RULES/);
    assert.match(systemOf("bob"), /\n\nRULES$/);
    const { stdout } = await p.runMm(["--ask", "riker", "Why?"]);
    assert.equal(stdout, "Ok.\n");
    assert.doesNotMatch(systemOf("riker"), /RULES/);
  }));

test("an asked agent's warning stays out of its answer", () =>
  withProject(async (p) => {
    await p.write("AGENTS.md", "long ".repeat(2000));
    const server = await p.model({
      reply: [forModel("bob", always({ text: "Short." })), forModel("you", ok)],
      window: 8000,
    });
    await writeAgents(p, { server });
    const { stdout } = await p.runMm(["--ask", "bob", "Why?"]);
    assert.equal(stdout, "Short.\n");
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "/ask-bob Why?");
    await editor.prompt(session, "And?");
    assert.deepEqual(
      server.requests.at(-1)?.messages.slice(1).map((m) => m.content),
      ["[asked bob (llamacpp/bob): Why?]", "[bob's answer]\nShort.", "And?"],
    );
  }));

test("a file that fills the window is sent whole, and the person is warned with the percentage", () =>
  withProject(async (p) => {
    const rules = `FIRST\n${"x".repeat(59_988)}\nLAST\n`;
    await p.write("AGENTS.md", rules);
    // The window is what the server says: known only after the session began.
    const server = await p.model({ reply: ok, window: 16_384 });
    await writeAgent(p, server);
    const warning =
      /AGENTS\.md" takes about 17143 tokens of every request, 104 % of the model's window of 16384 tokens/;

    const { stderr, stdout } = await askOnce(p);
    assert.match(stderr, warning);
    assert.equal(stderr.match(/takes about/g)?.length, 1);
    assert.equal(stdout, "Ok.\n");
    assert.ok(server.requests[0]?.system.endsWith(rules));

    const line = p.mm(["-line"]);
    await line.waitForOutput(warning);
    line.writeLine("hi");
    await line.waitForOutput("Ok.");
    line.writeLine("again");
    line.endInput();
    await line.exit;
    assert.equal(line.stdout.match(/takes about/g)?.length, 1, "once for a conversation");

    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "hi");
    await editor.prompt(session, "hi again");
    assert.match(editor.text(session), warning);
    assert.match(editor.mm.stderr, warning);
    assert.equal(editor.text(session).match(/takes about/g)?.length, 1);

    const modern = p.editor();
    await modern.initialize({ clientCapabilities: { session: { notices: {} } } });
    const other = await modern.newSession();
    const { update } = await modern.waitForUpdate(({ kind }) => kind === "notice");
    assert.equal(update.severity, "warning");
    assert.match(update.title, warning);
    await modern.prompt(other, "hi");
    assert.equal(modern.text(other), "Ok.");
  }));

test("with a configured window the warning stands in the banner, from 20 % on", () =>
  withProject(async (p) => {
    // 700 characters are 200 tokens.
    const server = await p.model({ reply: ok });
    const bannerWith = async (characters: number) => {
      await writeAgent(p, server, { contextWindow: 1000 });
      await p.write("AGENTS.md", "x".repeat(characters));
      const { stdout } = await p.runMm(["-line"]);
      return stdout.split("> ")[0] ?? "";
    };
    assert.match(await bannerWith(700), /200 tokens of every request, 20 % of the model's window/);
    const below = await bannerWith(699);
    assert.doesNotMatch(below, /of every request/);
    assert.match(
      below,
      /^project instructions: ".*AGENTS\.md", 699 characters, about 200 tokens$/m,
    );
  }));

test("an unknown window leads to no warning and to no wait", () =>
  withProject(async (p) => {
    await p.write("AGENTS.md", "x".repeat(100_000));
    const server = await p.model({
      reply: ok,
      route: () => ({ status: 404, body: { error: { message: "no such path" } } }),
    });
    await writeAgent(p, server);
    const { stderr } = await askOnce(p);
    assert.equal(stderr, "");
    assert.ok(server.requests[0]?.system.endsWith("x".repeat(100_000)));
  }));

test("/new warns again, for the file of then", () =>
  withProject(async (p) => {
    await oneAgent(p, ok, { contextWindow: 1000 });
    const mm = p.mm(["-line"]);
    await mm.waitForOutput("> ");
    await p.write("AGENTS.md", "x".repeat(3500));
    mm.writeLine("/new");
    await mm.waitForOutput(/1000 tokens of every request, 100 %/);
    mm.endInput();
    await mm.exit;
  }));

test("above maxChars the whole file is left out, and banner, stderr and editor say so", () =>
  withProject(async (p) => {
    await p.write("AGENTS.md", "x".repeat(101));
    const server = await oneAgent(p, ok, { agentsMd: { maxChars: 100 } });
    const words =
      /AGENTS\.md" is left out: it has 101 characters, more than the 100 of agentsMd\.maxChars/;
    assert.match((await askOnce(p)).stderr, words);
    const { stdout } = await p.runMm(["-line"]);
    assert.match(stdout, words);
    assert.doesNotMatch(stdout, /^project instructions/m);
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "hi");
    assert.match(editor.text(session), words);
    assert.match(editor.mm.stderr, words);
    for (const request of server.requests) assert.doesNotMatch(request.system, /PROJECT|xxx/);
  }));

test("a character of maxChars is a Unicode character: emoji and Chinese count as one each", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: ok });
    await writeAgent(p, server, { agentsMd: { maxChars: 100 } });
    const cases: [string, boolean][] = [
      ["x".repeat(100), true],
      ["😀".repeat(100), true],
      ["😀".repeat(101), false],
      ["汉".repeat(100), true],
      ["汉".repeat(101), false],
      [`${"é".repeat(99)}\r\n`, true],
      [`\ufeff${"x".repeat(100)}`, true],
    ];
    for (const [at, [text, read]] of cases.entries()) {
      await p.write("AGENTS.md", text);
      const { stderr } = await askOnce(p, `case ${at}`);
      assert.equal(section(server, at + 1) !== undefined, read, `${at}: ${stderr}`);
      assert.equal(/left out/.test(stderr), !read);
    }
  }));

test("a JSON agent does not read it, and says so without a warning", () =>
  withProject(async (p) => {
    await p.write("AGENTS.md", "End every answer with a signature.");
    const structuredOutput = { schema: { type: "object" } };
    const server = await oneAgent(p, always({ text: "{}" }), { structuredOutput, system: "S." });
    const { stdout, stderr } = await askOnce(p);
    assert.equal(stdout, "{}\n");
    assert.match(stderr, /^".*AGENTS\.md" is not read: this agent answers with JSON only$/m);
    assert.doesNotMatch(server.requests[0]?.raw ?? "", /signature|PROJECT/);
    const line = await p.runMm(["-line"]);
    assert.match(line.stdout, /^".*AGENTS\.md" is not read: this agent answers with JSON only$/m);
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "hi");
    assert.equal(editor.text(session), "{}");
    assert.match(editor.thoughts(session), /is not read/);
    await rm(p.path("AGENTS.md"));
    assert.equal((await askOnce(p)).stderr, "");
  }));

test("agentsMd.enabled false reads nothing and says nothing", () =>
  withProject(async (p) => {
    await p.write("AGENTS.md", "RULE");
    const server = await oneAgent(p, ok, { agentsMd: { enabled: false }, system: "S." });
    const { stderr } = await askOnce(p);
    assert.equal(server.requests[0]?.system, "S.");
    assert.equal(stderr, "");
  }));

test("/status says which instructions the conversation has", () =>
  withProject(async (p) => {
    await p.write("AGENTS.md", "RULE");
    await oneAgent(p, ok);
    const { stdout } = await p.runMm(["-line"], { stdin: "/status\n" });
    assert.match(stdout, /^project instructions: ".*AGENTS\.md", 4 characters, about 2 tokens$/m);
    await rm(p.path("AGENTS.md"));
    const without = await p.runMm(["-line"], { stdin: "/status\n" });
    assert.match(without.stdout, /^project instructions: none$/m);
  }));

/** Makes an unusual AGENTS.md; what the person is told, and what the model gets of it. */
const UNUSUAL: Record<string, {
  readonly make: (p: TestProject) => Promise<unknown>;
  readonly says?: RegExp;
  readonly reads?: string;
}> = {
  "a directory": {
    make: (p) => mkdir(p.path("AGENTS.md")),
    says: /^! ".*AGENTS\.md" is left out: it is a directory$/m,
  },
  "text that is not UTF-8": {
    make: (p) => p.write("AGENTS.md", new Uint8Array([0x61, 0x0a, 0xe9, 0x0a])),
    says: /is left out: it is not UTF-8; save it as UTF-8 \(line 2\)$/m,
  },
  "UTF-16": {
    make: (p) => p.write("AGENTS.md", new Uint8Array([0xff, 0xfe, 0x61, 0x00])),
    says: /is left out: it is UTF-16, not UTF-8/,
  },
  "NUL characters": {
    make: (p) => p.write("AGENTS.md", "a\0b"),
    says: /is left out: it holds NUL characters/,
  },
  "a byte order mark": {
    make: (p) => p.write("AGENTS.md", "\ufeffRULE"),
    reads: "RULE",
  },
  "the ends of lines of Windows": {
    make: (p) => p.write("AGENTS.md", "one\r\ntwo\r\n"),
    reads: "one\ntwo\n",
  },
  "nothing in it": {
    make: (p) => p.write("AGENTS.md", " \n"),
    says: /^".*AGENTS\.md" is empty$/m,
  },
  "more than 4 MiB": {
    make: (p) => p.write("AGENTS.md", "x".repeat(4 * 1024 * 1024 + 1)),
    says: /is left out: it has 4194305 bytes; at most 4194304 are read$/m,
  },
  "a link inside the project": {
    make: async (p) => {
      await p.write("docs/rules.md", "RULE");
      await symlink("docs/rules.md", p.path("AGENTS.md"));
    },
    reads: "RULE",
  },
  "a link that leads out of the project": {
    make: async (p) => {
      await p.write("../home/rules.md", "RULE");
      await symlink("../home/rules.md", p.path("AGENTS.md"));
    },
    says: /^".*AGENTS\.md" is a link to ".*home\/rules\.md", which is read$/m,
    reads: "RULE",
  },
  "a link to nothing": {
    make: (p) => symlink("none.md", p.path("AGENTS.md")),
    says: /is left out: it is a link to something that does not exist$/m,
  },
  "a link to itself": {
    make: (p) => symlink("AGENTS.md", p.path("AGENTS.md")),
    says: /is left out: it is a link that leads back to itself$/m,
  },
  "a pipe that nobody writes to": {
    make: (p) => Promise.resolve(execFileSync("mkfifo", [p.path("AGENTS.md")])),
    says: /is left out: it is not a regular file$/m,
  },
  "a device": {
    make: (p) => symlink("/dev/zero", p.path("AGENTS.md")),
    says: /is left out: it is not a regular file$/m,
  },
  "no permission": {
    make: async (p) => chmod(await p.write("AGENTS.md", "RULE"), 0),
    says: /is left out: it cannot be read: permission denied$/m,
  },
};

for (const [name, { make, says, reads }] of Object.entries(UNUSUAL)) {
  const needsUnix = /pipe|device/.test(name) && process.platform === "win32";
  const needsUser = name === "no permission" && process.getuid?.() === 0;
  test(
    `an AGENTS.md that is or has ${name}`,
    { skip: needsUnix || needsUser },
    () =>
      withProject(async (p) => {
        await make(p);
        const server = await oneAgent(p, ok);
        const { stderr } = await askOnce(p);
        if (says === undefined) assert.equal(stderr, "");
        else assert.match(stderr, says);
        assert.equal(
          section(server),
          reads === undefined ? undefined : `${p.path("AGENTS.md")})\n\n${reads}`,
        );
      }),
  );
}
