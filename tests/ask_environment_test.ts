/** What of yours reaches an asked agent, and what does not: variables, keys, the directory. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { askAgent, bash, writeAgents } from "./support/agents.ts";
import { fakeAgent } from "./support/fake_agent.ts";
import { always, forModel, inOrder, type ModelServer } from "./support/model_server.ts";
import { type TestProject, withProject } from "./support/project.ts";
import { resultsOf } from "./support/script.ts";

/** Overrides meant for the agent that is started with them; `server` is another than bob's. */
function overrides(server: ModelServer): Record<string, string> {
  return {
    AGENT_PROVIDER: "vllm",
    AGENT_MODEL: "override",
    AGENT_BASE_URL: server.url,
    AGENT_API_KEY: "key-of-the-override",
    AGENT_SYSTEM: "SYSTEM OF THE OVERRIDE",
    AGENT_MAX_TURNS: "7",
    AGENT_YOLO: "true",
    AGENT_SESSIONS: "on",
  };
}

/** Prints the variables that mm or its overrides own. */
const PRINT_OWN = "env | grep -E '^(AGENT_|MM_)' | sort";

/** Prints those that the mm which runs the command was started with. */
const PRINT_STARTED = "tr '\\0' '\\n' < /proc/$PPID/environ | grep -E '^(AGENT_|MM_)' | sort";

/** The names among lines of `NAME=value`. */
function namesIn(text: string | undefined): string[] {
  return [...(text ?? "").matchAll(/^([A-Z_]+)=/gmu)].map((match) => match[1] ?? "");
}

/** Two servers: one that the files name, one that overrides name. */
async function twoServers(p: TestProject, command: string) {
  const server = await p.model({
    reply: forModel("bob", inOrder({ toolCalls: [bash(command)] }, { text: "Because." })),
    secrets: ["key-of-the-override"],
  });
  const other = await p.model({
    reply: forModel("override", inOrder({ toolCalls: [askAgent("bob", "q")] }, { text: "done" })),
  });
  await writeAgents(p, { server });
  return { server, other };
}

test("overrides are yours: your requests follow them, bob's go to his own model and server", () =>
  withProject(async (p) => {
    const { server, other } = await twoServers(p, "true");
    const editor = p.editor([], { env: overrides(other) });
    const session = await editor.start();
    await editor.prompt(session, "go");
    assert.deepEqual(other.requests.map((r) => r.model), ["override", "override"]);
    assert.equal(other.requests[0]?.system, "SYSTEM OF THE OVERRIDE");
    assert.equal(other.requests[0]?.headers.authorization, "Bearer key-of-the-override");
    assert.deepEqual(server.requests.map((r) => r.model), ["bob", "bob"]);
    for (const request of server.requests) {
      assert.doesNotMatch(request.raw, /OVERRIDE/);
      assert.doesNotMatch(request.headers.authorization ?? "", /override/);
    }
  }));

test("bob is started with nothing of yours that overrides: calls ask, no sessions, one deeper", () =>
  withProject(async (p) => {
    const { server, other } = await twoServers(p, PRINT_STARTED);
    const editor = p.editor([], { env: overrides(other) });
    const session = await editor.start();
    await editor.prompt(session, "go");
    const [started] = resultsOf(server);
    const own = namesIn(started).filter((name) => name.startsWith("AGENT_"));
    assert.deepEqual(own, ["AGENT_SESSIONS", "AGENT_YOLO"]);
    assert.match(started ?? "", /^AGENT_SESSIONS=off$/m);
    assert.match(started ?? "", /^AGENT_YOLO=false$/m);
    assert.match(started ?? "", /^MM_ASK_DEPTH=1$/m);
    for (const name of ["MM_BIN", "MM_CONFIG", "MM_TRANSCRIPT"]) {
      assert.ok(!namesIn(started).includes(name), name);
    }
  }));

test("bob's commands see this mm, his configuration and his transcript, and no override", () =>
  withProject(async (p) => {
    const { server, other } = await twoServers(p, `${PRINT_OWN}; cat "$MM_TRANSCRIPT"`);
    const editor = p.editor([], { env: overrides(other) });
    const session = await editor.start();
    await editor.prompt(session, "go");
    const seen = resultsOf(server)[0] ?? "";
    assert.doesNotMatch(seen, /^AGENT_/m);
    assert.ok(seen.includes(`MM_CONFIG=${p.path("bob.yaml")}\n`), seen);
    assert.match(seen, /^MM_ASK_DEPTH=1$/m);
    // His conversation, not yours.
    assert.match(seen, /^User: q$/m);
    assert.doesNotMatch(seen, /User: go/);
  }));

test("through mm --ask the same holds: from a terminal, and from your bash tool", () =>
  withProject(async (p) => {
    const command = '"$MM_BIN" --ask bob q';
    const server = await p.model({
      reply: forModel(
        "bob",
        (r) => r.last.role === "user" ? { toolCalls: [bash(PRINT_STARTED)] } : { text: "Because." },
      ),
      secrets: ["key-of-the-override"],
    });
    const other = await p.model({
      reply: forModel("override", inOrder({ toolCalls: [bash(command)] }, { text: "done" })),
    });
    await writeAgents(p, { server, bobEntry: { yolo: true } });
    const run = await p.runMm(["--ask", "bob", "q"], { env: overrides(other) });
    assert.equal(run.stdout, "Because.\n");
    const editor = p.editor([], { env: overrides(other) });
    const session = await editor.start();
    await editor.prompt(session, "go");
    assert.match(resultsOf(other, "override")[0] ?? "", /^Because\.$/m);
    assert.deepEqual(server.requests.map((r) => r.model), ["bob", "bob", "bob", "bob"]);
    for (const request of [server.requests[1], server.requests[3]]) {
      const started = request?.last.text;
      assert.deepEqual(namesIn(started).filter((name) => name.startsWith("AGENT_")), [
        "AGENT_SESSIONS",
        "AGENT_YOLO",
      ]);
      assert.match(started ?? "", /^MM_ASK_DEPTH=1$/m);
    }
  }));

test("riker is started as bob was: nothing overrides, and one deeper still", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("bob", inOrder({ toolCalls: [askAgent("riker", "dig")] }, { text: "done" })),
        forModel("riker", inOrder({ toolCalls: [bash(PRINT_STARTED)] }, { text: "found" })),
      ],
    });
    const other = await p.model({});
    await writeAgents(p, { server, bobEntry: { yolo: true } });
    const editor = p.editor([], { env: overrides(other) });
    const session = await editor.start();
    await editor.prompt(session, "/ask-bob q");
    const started = resultsOf(server, "riker")[0] ?? "";
    assert.match(started, /^AGENT_SESSIONS=off$/m);
    assert.match(started, /^AGENT_YOLO=false$/m);
    assert.match(started, /^MM_ASK_DEPTH=2$/m);
    assert.doesNotMatch(started, /^AGENT_(?:MODEL|PROVIDER|BASE_URL|API_KEY|SYSTEM)=/m);
  }));

test("your AGENT_YOLO decides about bob's calls as your configuration's yolo would", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: forModel(
        "bob",
        (r) =>
          r.last.role === "user" ? { toolCalls: [bash(`touch ${r.lastUser}`)] } : { text: "ok" },
      ),
    });
    await writeAgents(p, { server, you: { yolo: true }, bob: { yolo: true } });
    await p.runMm(["--ask", "bob", "off"], { env: { AGENT_YOLO: "false" } });
    await p.runMm(["--ask", "bob", "on"], { env: { AGENT_YOLO: "true" } });
    assert.deepEqual([p.exists("off"), p.exists("on")], [false, true]);
  }));

test("an entry's own variables reach bob, and cannot undo the fence", () =>
  withProject(async (p) => {
    const { server } = await twoServers(p, `${PRINT_STARTED}; env | grep ^COLOUR`);
    await writeAgents(p, {
      server,
      bobEntry: { yolo: true, env: { COLOUR: "green", AGENT_MAX_OUTPUT: "5000" } },
    });
    const run = await p.runMm(["--ask", "bob", "q"], { env: { AGENT_MAX_OUTPUT: "9000" } });
    assert.equal(run.stdout, "Because.\n");
    const seen = resultsOf(server)[0] ?? "";
    assert.match(seen, /^COLOUR=green$/m);
    assert.match(seen, /^AGENT_MAX_OUTPUT=5000$/m);

    for (const name of ["AGENT_YOLO", "AGENT_SESSIONS", "MM_ASK_DEPTH"]) {
      await writeAgents(p, { server, bobEntry: { env: { [name]: "true" } } });
      const refused = await p.runMm(["--ask", "bob", "q"]);
      assert.equal(refused.code, 2);
      assert.ok(refused.stderr.includes(name), refused.stderr);
    }
  }));

test("another vendor's agent gets no provider's key, unless its entry passes it", () =>
  withProject(async (p) => {
    const keys = {
      OPENAI_API_KEY: "k-openai",
      ANTHROPIC_API_KEY: "k-anthropic",
      GEMINI_API_KEY: "k-gemini",
      MISTRAL_API_KEY: "k-mistral",
      OPENROUTER_API_KEY: "k-openrouter",
      DEEPSEEK_API_KEY: "k-deepseek",
      GROQ_API_KEY: "k-groq",
      XAI_API_KEY: "k-xai",
      AGENT_API_KEY: "k-agent",
    };
    const fake = fakeAgent({ behaviour: "answer", text: "Hello." });
    const eve = (more: object) => ({
      command: ["/bin/sh", "-c", 'env > "$0"; exec "$@"', p.path("env"), ...fake],
      ...more,
    });
    const server = await p.model({});
    await writeAgents(p, { server, entries: { eve: eve({}) } });
    const run = await p.runMm(["--ask", "eve", "q"], { env: { ...keys, USUAL: "stays" } });
    assert.deepEqual([run.code, run.stdout], [0, "Hello.\n"]);
    const seen = await p.read("env");
    for (const [name, value] of Object.entries(keys)) {
      assert.ok(!seen.includes(value), `${name} in ${seen}`);
    }
    assert.match(seen, /^USUAL=stays$/m);
    assert.match(seen, /^MM_ASK_DEPTH=1$/m);
    assert.match(seen, /^AGENT_YOLO=false$/m);

    await writeAgents(p, {
      server,
      entries: { eve: eve({ env: { OPENAI_API_KEY: "${OPENAI_API_KEY}" } }) },
    });
    await p.runMm(["--ask", "eve", "q"], { env: keys });
    const passed = await p.read("env");
    assert.match(passed, /^OPENAI_API_KEY=k-openai$/m);
    assert.doesNotMatch(passed, /k-anthropic/);
  }));

test("an agent of your own uses the key of its own provider from the environment", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: forModel("bob", always({ text: "ok" })) });
    await writeAgents(p, { server, bob: { provider: "mistral" } });
    const run = await p.runMm(["--ask", "bob", "q"], { env: { MISTRAL_API_KEY: "k-mistral" } });
    assert.equal(run.stdout, "ok\n");
    assert.equal(server.requests[0]?.headers.authorization, "Bearer k-mistral");
  }));

test("bob works where you do, and his entry's directory comes first", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "q")] }, { text: "done" })),
        forModel(
          "bob",
          (r) => r.last.role === "user" ? { toolCalls: [bash("pwd")] } : { text: r.last.text },
        ),
      ],
    });
    await p.write("a/x", "");
    await p.write("b/x", "");
    await writeAgents(p, {
      server,
      you: { yolo: true },
      entries: { eve: { path: "bob.yaml", cwd: "b" } },
    });
    const pwd = (text: string | undefined) => /^\/.*$/m.exec(text ?? "")?.[0];

    // By ask_agent: the session's directory, which is not where mm was started.
    const editor = p.editor();
    await editor.initialize();
    const session = await editor.newSession({ cwd: p.path("a") });
    await editor.prompt(session, "go");
    assert.equal(pwd(resultsOf(server, "you")[0]), p.path("a"));

    // Typed, with two sessions in the one process.
    const second = await editor.newSession({ cwd: p.dir });
    await editor.prompt(second, "/ask-bob q");
    assert.equal(pwd(editor.text(second)), p.dir);
    const before = editor.text(session).length;
    await editor.prompt(session, "/ask-eve q");
    assert.equal(pwd(editor.text(session).slice(before)), p.path("b"));

    // By a script: where the script is, or -cwd.
    const config = ["-config", p.path("agent.yaml")];
    const here = await p.runMm([...config, "--ask", "bob", "q"], { cwd: p.path("a") });
    assert.equal(pwd(here.stdout), p.path("a"));
    const there = await p.runMm([...config, "-cwd", p.path("b"), "--ask", "bob", "q"]);
    assert.equal(pwd(there.stdout), p.path("b"));
  }));
