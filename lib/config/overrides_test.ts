import assert from "node:assert/strict";
import { test } from "node:test";
import type { LoadConfigOptions } from "./load.ts";
import { readOverrides } from "./overrides.ts";
import { DELEGATION, inTestDir, NO_HOOKS, type TestDir, usageMessage } from "./testing.ts";

async function loadWarned(dir: TestDir, options: Partial<LoadConfigOptions>) {
  const warnings: string[] = [];
  const config = await dir.load({ ...options, onWarning: (text) => warnings.push(text) });
  return { config, warnings };
}

test("every scalar key has its variable", async () => {
  await inTestDir(async (dir) => {
    const config = await dir.load({
      env: {
        AGENT_PROVIDER: "custom",
        AGENT_BASE_URL: "http://h/v1",
        AGENT_API_KEY: "k",
        AGENT_MODEL: "m",
        AGENT_CONTEXT_WINDOW: "1000",
        AGENT_MAX_TOKENS: "10",
        AGENT_TEMPERATURE: "0.5",
        AGENT_TOP_P: "1",
        AGENT_REASONING: "high",
        AGENT_SYSTEM: "s",
        AGENT_YOLO: "on",
        AGENT_MAX_OUTPUT: "500",
        AGENT_BASH_TIMEOUT: "5",
        AGENT_BASH_TIMEOUT_MAX: "1h",
        AGENT_WATCHDOG_TIMEOUT: "250ms",
        AGENT_MAX_TURNS: "7",
        AGENT_SESSIONS: "off",
      },
    });
    assert.deepEqual(config, {
      model: {
        provider: "custom",
        baseUrl: "http://h/v1",
        apiKey: "k",
        model: "m",
        contextWindow: 1000,
        maxTokens: 10,
        temperature: 0.5,
        topP: 1,
        reasoning: "high",
      },
      system: "s",
      yolo: true,
      permissions: { allow: [], ask: [], deny: [] },
      maxOutput: 500,
      bashTimeoutMs: 5000,
      bashTimeoutMaxMs: 3_600_000,
      watchdogTimeoutMs: 250,
      maxTurns: 7,
      agentsMd: { enabled: true, path: "AGENTS.md", maxChars: 0 },
      hooks: NO_HOOKS,
      delegation: DELEGATION,
      sessions: { enabled: false, keep: 200 },
      compaction: { enabled: true, threshold: 0.8, keep: 0.2 },
      agents: [],
      mcpServers: [],
    });
  });
});

test("a flag comes before a variable, a variable before the file, the file before the default", async () => {
  await inTestDir(async (dir) => {
    await dir.write("agent.yaml", "model: file\nyolo: true\nmaxTurns: 4");
    const env = { AGENT_MODEL: "env", AGENT_YOLO: "false" };
    assert.equal((await dir.load()).model.model, "file");
    const overridden = await dir.load({ env });
    assert.equal(overridden.model.model, "env");
    assert.equal(overridden.yolo, false);
    assert.equal(overridden.maxTurns, 4);
    const flagged = await dir.load({ env, overrides: { model: "flag", yolo: true } });
    assert.equal(flagged.model.model, "flag");
    assert.equal(flagged.yolo, true);
  });
});

test("AGENT_YOLO takes six words", () => {
  for (
    const [word, value] of Object.entries({
      true: true,
      on: true,
      1: true,
      False: false,
      off: false,
      0: false,
    })
  ) {
    assert.equal(readOverrides({ env: { AGENT_YOLO: word } }).values.yolo, value);
  }
});

const BAD: readonly (readonly [variable: string, value: string, message: string])[] = [
  ["AGENT_YOLO", "maybe", 'must be true, false, on, off, 1 or 0, not "maybe"'],
  ["AGENT_YOLO", "", "is empty; give it a value or unset it"],
  ["AGENT_MODEL", "", "is empty; give it a value or unset it"],
  ["AGENT_MAX_TURNS", "many", 'must be a number, not "many"'],
  ["AGENT_MAX_TURNS", "0x10", 'must be a number, not "0x10"'],
  ["AGENT_MAX_TURNS", "0", "must be a whole number from 1 to 1000000000, not 0"],
  ["AGENT_TEMPERATURE", "3", "must be a number from 0 to 2, not 3"],
  [
    "AGENT_REASONING",
    "hihg",
    'must be one of none, minimal, low, medium, high, not "hihg"; did you mean "high"?',
  ],
  [
    "AGENT_BASH_TIMEOUT",
    "20m",
    '"bashTimeout" (20 min) must not be longer than "bashTimeoutMax" (10 min)',
  ],
  ["AGENT_BASE_URL", "localhost:80", "must begin with http:// or https://"],
  [
    "AGENT_PROVIDER",
    "custom",
    '"provider" is custom, which has no address of its own; set "baseUrl" too',
  ],
  ["AGENT_SESSIONS", "no", 'must be on or off, not "no"'],
];

for (const [variable, value, message] of BAD) {
  test(`${variable}="${value}" is an error that names the variable`, async () => {
    await inTestDir(async (dir) => {
      await dir.write("agent.yaml", "model: m");
      assert.equal(
        await usageMessage(() => dir.load({ env: { [variable]: value } })),
        `${variable}: ${message}`,
      );
    });
  });
}

test("an empty -model is an error that names the flag", async () => {
  await inTestDir(async (dir) => {
    assert.equal(
      await usageMessage(() => dir.load({ overrides: { model: "" } })),
      "-model: must not be empty",
    );
  });
});

test("a variable that is nearly one of mm's gets a warning, an unrelated one nothing", async () => {
  await inTestDir(async (dir) => {
    const { warnings } = await loadWarned(dir, {
      env: {
        AGENT_MODLE: "x",
        AGENT_BASEURL: "x",
        AGENT_TOOLS: "bash",
        AGENT_HOME: "/x",
        AGENT_ID: "1",
        AGENT_VERSION: "2",
        AGENT: "x",
        AGENTS: "x",
        MODEL: "x",
      },
    });
    assert.deepEqual(warnings, [
      'AGENT_BASEURL is ignored; did you mean "AGENT_BASE_URL"?',
      'AGENT_MODLE is ignored; did you mean "AGENT_MODEL"?',
      'AGENT_TOOLS is ignored: "tools" can be set in agent.yaml only',
    ]);
  });
});

const HOME = "provider: openai\napiKey: file-key\nheaders: {X-Token: t}\nmodel: m\n";

test("the file's key and headers do not go to a server that a variable names", async () => {
  await inTestDir(async (dir) => {
    await dir.write("agent.yaml", `${HOME}baseUrl: http://home/v1\n`);
    const { config, warnings } = await loadWarned(dir, {
      env: { AGENT_BASE_URL: "http://elsewhere/v1" },
    });
    assert.deepEqual(config.model, {
      provider: "openai",
      baseUrl: "http://elsewhere/v1",
      model: "m",
    });
    assert.deepEqual(warnings, [
      'AGENT_BASE_URL leads to another server, so "apiKey" and "headers" of the configuration ' +
      "file are not used; AGENT_API_KEY sets the key for it",
    ]);
  });
});

test("the file's headers do not go to another server with a key of its own either", async () => {
  await inTestDir(async (dir) => {
    await dir.write("agent.yaml", HOME);
    const { model } = await dir.load({
      env: { AGENT_BASE_URL: "http://elsewhere/v1", AGENT_API_KEY: "their-key" },
    });
    assert.equal(model.apiKey, "their-key");
    assert.equal(model.headers, undefined);
  });
});

test("another provider is not asked at the file's address nor with its key", async () => {
  await inTestDir(async (dir) => {
    await dir.write("agent.yaml", `${HOME}baseUrl: http://home/v1\n`);
    const { model } = await dir.load({ env: { AGENT_PROVIDER: "mistral" } });
    assert.deepEqual(model, { provider: "mistral", model: "m" });
  });
});

test("an override that leads to the same server keeps the file's key", async () => {
  await inTestDir(async (dir) => {
    await dir.write("agent.yaml", `${HOME}baseUrl: http://home/v1\n`);
    for (
      const env of [
        { AGENT_BASE_URL: "http://HOME/v1/" },
        { AGENT_PROVIDER: "openai" },
        { AGENT_PROVIDER: "vllm", AGENT_BASE_URL: "http://home/v1" },
        { AGENT_MODEL: "other" },
      ]
    ) {
      const { config, warnings } = await loadWarned(dir, { env });
      assert.equal(config.model.apiKey, "file-key");
      assert.deepEqual(config.model.headers, { "X-Token": "t" });
      assert.deepEqual(warnings, []);
    }
  });
});

test("a key of a file that names no server does not go to one that a variable names", async () => {
  await inTestDir(async (dir) => {
    await dir.write("agent.yaml", "apiKey: file-key");
    assert.equal(
      (await dir.load({ env: { AGENT_BASE_URL: "http://h/v1" } })).model.apiKey,
      undefined,
    );
  });
});

test("AGENT_SESSIONS decides whether conversations are saved, and leaves how many to the file", async () => {
  await inTestDir(async (dir) => {
    await dir.write("agent.yaml", "sessions: {enabled: false, keep: 9}");
    const sessions = async (value?: string) =>
      (await dir.load({ env: value === undefined ? {} : { AGENT_SESSIONS: value } })).sessions;
    assert.deepEqual(await sessions(), { enabled: false, keep: 9 });
    assert.deepEqual(await sessions("on"), { enabled: true, keep: 9 });
    assert.deepEqual(await sessions("off"), { enabled: false, keep: 9 });
  });
});
