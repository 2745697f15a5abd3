import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFile, symlink } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { DELEGATION, inTestDir, NO_HOOKS, usageMessage } from "./testing.ts";

const digestOf = (text: string) => createHash("sha256").update(text).digest("hex");

const DEFAULTS = {
  model: {},
  yolo: false,
  permissions: { allow: [], ask: [], deny: [] },
  maxOutput: 20_000,
  bashTimeoutMs: 30_000,
  bashTimeoutMaxMs: 600_000,
  watchdogTimeoutMs: 300_000,
  agentsMd: { enabled: true, path: "AGENTS.md", maxChars: 0 },
  sessions: { enabled: true, keep: 200 },
  compaction: { enabled: true, threshold: 0.8, keep: 0.2 },
  agents: [],
  delegation: DELEGATION,
  hooks: NO_HOOKS,
  mcpServers: [],
};

test("loadConfig gives the defaults when there is no file", async () => {
  await inTestDir(async (dir) => assert.deepEqual(await dir.load(), DEFAULTS));
});

test("loadConfig gives the defaults for a file that is empty or has comments only", async () => {
  await inTestDir(async (dir) => {
    for (const text of ["", "\n", "# nothing\n", "---\n", "{}\n"]) {
      const file = await dir.write("agent.yaml", text);
      assert.deepEqual(await dir.load(), { file, fileDigest: digestOf(text), ...DEFAULTS });
    }
  });
});

test("loadConfig looks for no file where only the defaults are wanted", async () => {
  await inTestDir(async (dir) => {
    await dir.write("agent.yaml", "model: plain");
    assert.deepEqual(await dir.load({ defaults: true }), DEFAULTS);
    const env = { AGENT_MODEL: "m" };
    assert.equal((await dir.load({ defaults: true, env })).model.model, "m");
  });
});

test("loadConfig takes the first file of the working directory, .mm and the user", async () => {
  await inTestDir(async (dir) => {
    const user = await dir.write("user/mm/agent.yaml", "model: user");
    assert.equal((await dir.load()).file, user);
    const hidden = await dir.write(".mm/agent.yaml", "model: hidden");
    assert.equal((await dir.load()).file, hidden);
    const plain = await dir.write("agent.yaml", "model: plain");
    assert.equal((await dir.load()).file, plain);
    const named = await dir.write("sub/bob.yaml", "model: named");
    const config = await dir.load({ file: join("sub", "bob.yaml") });
    assert.equal(config.file, named);
    assert.equal(config.model.model, "named");
  });
});

test("loadConfig never takes another file in place of one that cannot be used", async () => {
  await inTestDir(async (dir) => {
    await dir.write(".mm/agent.yaml", "model: hidden");
    await dir.write("agent.yaml/x", "");
    assert.match(await usageMessage(() => dir.load()), /agent\.yaml" is a directory$/u);
  });
  await inTestDir(async (dir) => {
    await dir.write(".mm/agent.yaml", "model: hidden");
    await symlink(join(dir.path, "gone"), join(dir.path, "agent.yaml"));
    assert.match(await usageMessage(() => dir.load()), /is a link to something that does not/u);
  });
});

test("loadConfig says so when the file that was asked for does not exist", async () => {
  await inTestDir(async (dir) => {
    await dir.write("agent.yaml", "");
    const message = await usageMessage(() => dir.load({ file: "bob.yaml" }));
    assert.ok(message.includes(`"${join(dir.path, "bob.yaml")}" does not exist`), message);
  });
});

test("loadConfig reads every key", async () => {
  await inTestDir(async (dir) => {
    await dir.write("prompt.md", "\ufeffBe brief.\n");
    const file = await dir.write(
      "agent.yaml",
      `
provider: custom
baseUrl: http://127.0.0.1:9/v1
apiKey: abc
model: m
contextWindow: 1000
maxTokens: 10
temperature: 0
topP: 1
headers: {X-A: b}
reasoning: minimal
system: {file: prompt.md}
tools: [read, ls, read]
yolo: true
permissions: {allow: [bash], ask: ["bash(git *)"], deny: [bob/edit]}
maxOutput: 100
bashTimeout: 500ms
bashTimeoutMax: 1.5
watchdogTimeout: 1h
maxTurns: 3
agentsMd: {enabled: false, path: ~/notes.md, maxChars: 9}
structuredOutput: {schema: {type: object}}
sessions: {keep: 0}
compaction: {threshold: 0.5}
mmConfigs:
  zoe: {command: [./run, --x, ../y]}
  bob: {path: a/bob.yaml, description: d, yolo: false, timeout: 2m, env: {A: b}, cwd: ~/w}
  tilde: {command: [~/bin/agent]}
  bare: {command: [ssh, host]}
agents:
  paths: [team, ~/agents]
  maxParallel: 3
  background: never
  maxDepth: 1
  forks: false
  worktree: {enabled: false, path: trees}
hooks:
  preAsk: [{match: "b*", run: a b, timeout: 1m}, {run: c}]
  subagentStart: [{match: explore, run: d}]
  subagentStop: [{run: e, timeout: 5}]
mcpServers:
  git: {command: ./bin/git-server, args: [--repo, .], env: {A: b}}
  bare: {command: uvx}
  docs: {url: "http://127.0.0.1:9/mcp", headers: {X-A: b}}
acp: {title: Ada}
`,
    );
    assert.deepEqual(await dir.load({ env: { HOME: "/home/ada" } }), {
      file,
      fileDigest: digestOf(await readFile(file, "utf8")),
      model: {
        provider: "custom",
        baseUrl: "http://127.0.0.1:9/v1",
        apiKey: "abc",
        model: "m",
        contextWindow: 1000,
        maxTokens: 10,
        temperature: 0,
        topP: 1,
        headers: { "X-A": "b" },
        reasoning: "minimal",
      },
      system: "Be brief.\n",
      tools: ["read", "ls"],
      yolo: true,
      permissions: { allow: ["bash"], ask: ["bash(git *)"], deny: ["bob/edit"] },
      maxOutput: 100,
      bashTimeoutMs: 500,
      bashTimeoutMaxMs: 1500,
      watchdogTimeoutMs: 3_600_000,
      maxTurns: 3,
      agentsMd: { enabled: false, path: "/home/ada/notes.md", maxChars: 9 },
      structuredOutput: { schema: { type: "object" } },
      sessions: { enabled: true, keep: 0 },
      compaction: { enabled: true, threshold: 0.5, keep: 0.2 },
      agents: [
        { name: "zoe", command: [join(dir.path, "run"), "--x", "../y"] },
        {
          name: "bob",
          path: join(dir.path, "a", "bob.yaml"),
          description: "d",
          yolo: false,
          timeoutMs: 120_000,
          env: { A: "b" },
          cwd: "/home/ada/w",
        },
        { name: "tilde", command: ["/home/ada/bin/agent"] },
        { name: "bare", command: ["ssh", "host"] },
      ],
      hooks: {
        preAsk: [
          { match: "b*", run: "a b", timeoutMs: 60_000 },
          { run: "c", timeoutMs: 10_000 },
        ],
        postAsk: [],
        subagentStart: [{ match: "explore", run: "d", timeoutMs: 10_000 }],
        subagentStop: [{ run: "e", timeoutMs: 5000 }],
      },
      delegation: {
        paths: [join(dir.path, "team"), "/home/ada/agents"],
        maxParallel: 3,
        background: "never",
        maxDepth: 1,
        forks: false,
        worktree: { enabled: false, path: join(dir.path, "trees") },
      },
      mcpServers: [
        {
          name: "git",
          command: [join(dir.path, "bin", "git-server"), "--repo", "."],
          env: { A: "b" },
        },
        { name: "bare", command: ["uvx"] },
        { name: "docs", url: "http://127.0.0.1:9/mcp", headers: { "X-A": "b" } },
      ],
      title: "Ada",
    });
  });
});

test("loadConfig resolves paths against the file, not the working directory", async () => {
  await inTestDir(async (dir) => {
    await dir.write("conf/prompt.md", "From the file.");
    await dir.write("conf/a.yaml", "system: {file: prompt.md}\nmmConfigs: {bob: {path: bob.yaml}}");
    const config = await dir.load({ file: "conf/a.yaml" });
    assert.equal(config.system, "From the file.");
    assert.equal(config.agents[0]?.path, join(dir.path, "conf", "bob.yaml"));
  });
});

test("loadConfig reads a byte order mark, CRLF and an alias like anyone would write them", async () => {
  await inTestDir(async (dir) => {
    await dir.write(
      "agent.yaml",
      "\ufeffmodel: m\r\nmmConfigs:\r\n  bob: &b\r\n    path: b.yaml\r\n  amy: *b\r\n",
    );
    const { model, agents } = await dir.load();
    assert.equal(model.model, "m");
    assert.deepEqual(agents.map(({ name }) => name), ["bob", "amy"]);
    assert.equal(agents[1]?.path, join(dir.path, "b.yaml"));
    assert.match(await dir.messageFor("model: m\r\nyolo: no\r\n"), /:2:7: "yolo" must be true or/u);
  });
});

test("loadConfig puts variables into text, and only once", async () => {
  await inTestDir(async (dir) => {
    const env = { A: "x", B: "${A}", EMPTY: "", AGENTS: "y" };
    await dir.write("agent.yaml", 'model: "${A}-${B}-$${A}-$A-${EMPTY}"\nsystem: "$$${A}"\n');
    const config = await dir.load({ env });
    assert.equal(config.model.model, "x-${A}-${A}-$A-");
    assert.equal(config.system, "$${A}");
  });
});

test("loadConfig takes a rule for a name that may be a subagent's", async () => {
  await inTestDir(async (dir) => {
    await dir.write(
      "agent.yaml",
      "mmConfigs: {bob: {path: b}}\npermissions: {deny: [explore/bash, general-purpose/bash]}\n",
    );
    const { permissions } = await dir.load();
    assert.deepEqual(permissions.deny, ["explore/bash", "general-purpose/bash"]);
  });
});
