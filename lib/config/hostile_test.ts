import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { promisify } from "node:util";
import { inTestDir, usageMessage } from "./testing.ts";

const SECRET = "hunter2-correct-horse";

test("no error shows a secret, wherever it stands and whatever is wrong", async () => {
  const bad = [
    `apiKey: "${SECRET}\\n"`,
    `apiKey: [${SECRET}]`,
    `apiKey: {${SECRET}: 1}`.replace(SECRET, "a"),
    `apiKey: '${SECRET}`,
    `apiKey: *${SECRET}`,
    `apiKey: !${SECRET} x`,
    `apiKey: ${SECRET}: x`,
    `apiKey: @${SECRET}`,
    `apiKey: ${SECRET}\napiKey: ${SECRET}`,
    `apiKey: ${SECRET}\nmodl: x`,
    `apiKey: ${SECRET}\nprovider: ${SECRET}`,
    `headers: {Authorization: "Bearer ${SECRET}\\u0001"}`,
    `headers: {A: [${SECRET}]}`,
    `headers: ${SECRET}`,
    `baseUrl: http://u:${SECRET}@h/v1`,
    `baseUrl: ${SECRET}`,
    `mmConfigs: {bob: {path: b, env: {A: [${SECRET}]}}}`,
    `mmConfigs: {bob: {path: b, env: ${SECRET}}}`,
    `mmConfigs: {bob: {command: ${SECRET}}}`,
    `mmConfigs: {bob: {command: [a, [${SECRET}]]}}`,
    "provider: ${SECRET}",
    "tools: ['${SECRET}']",
    "permissions: {deny: ['${SECRET}']}",
    "model: ${SECRET}\nmodl: x",
    "mmConfigs: {bob: {path: b, timeout: '${SECRET}'}}",
    "mmConfigs: {bob: {path: b, env: {A: '${SECRET}'}, yolo: '${SECRET}'}}",
  ];
  await inTestDir(async (dir) => {
    for (const yaml of bad) {
      const message = await dir.messageFor(yaml, { env: { SECRET } });
      assert.ok(!message.includes(SECRET), `${yaml}\n${message}`);
    }
    await dir.write("agent.yaml", "");
    for (const value of [`${SECRET}\n`, `${SECRET}\0`]) {
      const env = { AGENT_API_KEY: value, AGENT_BASE_URL: `http://u:${SECRET}@h` };
      const message = await usageMessage(() => dir.load({ env }));
      assert.match(message, /AGENT_API_KEY: must be one line/u);
      assert.ok(!message.includes(SECRET), message);
    }
  });
});

test("a key that would change a prototype is unknown and changes nothing", async () => {
  await inTestDir(async (dir) => {
    const at = join(dir.path, "agent.yaml");
    assert.equal(
      await dir.messageFor("__proto__: {yolo: true}"),
      `${at}:1:1: unknown key "__proto__"`,
    );
    for (
      const [yaml, path] of [
        ["mmConfigs: {__proto__: {path: x}}", "mmConfigs.__proto__"],
        ["headers: {__proto__: x}", "headers.__proto__"],
        ["acp: {__proto__: {title: x}}", "acp.__proto__"],
        ["mmConfigs: {bob: {path: b, env: {__proto__: x}}}", "mmConfigs.bob.env.__proto__"],
      ] as const
    ) {
      assert.ok((await dir.messageFor(yaml)).endsWith(`unknown key "${path}"`), path);
    }
    for (const key of ["constructor", "prototype", "toString", "hasOwnProperty"]) {
      assert.equal(await dir.messageFor(`${key}: 1`), `${at}:1:1: unknown key "${key}"`);
    }
    assert.equal(({} as Record<string, unknown>)["yolo"], undefined);
  });
});

test("names of the prototype are ordinary names where names are free", async () => {
  await inTestDir(async (dir) => {
    await dir.write("agent.yaml", "mmConfigs: {constructor: {path: x}}\nheaders: {toString: y}");
    const config = await dir.load();
    assert.deepEqual(config.agents, [{ name: "constructor", path: join(dir.path, "x") }]);
    assert.deepEqual(config.model.headers, { toString: "y" });
  });
});

test("aliases that multiply end in a message", async () => {
  const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
  for (let i = 1; i < 12; i++) {
    lines.push(`a${i}: &a${i} [${Array(10).fill(`*a${i - 1}`).join(", ")}]`);
  }
  await inTestDir(async (dir) => {
    const message = await dir.messageFor(lines.join("\n"));
    assert.match(message, /The file holds more than 20000 values, aliases counted/u);
  });
});

test("an alias that contains itself ends in a message", async () => {
  await inTestDir(async (dir) => {
    assert.match(
      await dir.messageFor("mmConfigs: &m {bob: *m}"),
      /:1:21: "mmConfigs\.bob" refers to a value that contains it$/u,
    );
  });
});

test("values nested without end end in a message", async () => {
  await inTestDir(async (dir) => {
    for (
      const yaml of [
        `tools: ${"[".repeat(100_000)}`,
        `tools: ${"[".repeat(200)}${"]".repeat(200)}`,
        "{a: ".repeat(20_000),
        "- ".repeat(50_000),
        Array.from({ length: 500 }, (_, i) => `${" ".repeat(i)}a:`).join("\n"),
      ]
    ) {
      assert.match(await dir.messageFor(yaml), /nested (?:too deeply|more than 32 levels deep)/u);
    }
  });
});

test("thousands of problems are counted and not listed", async () => {
  await inTestDir(async (dir) => {
    const keys = Array.from({ length: 5000 }, (_, i) => `zz${i}: 1`);
    const lines = (await dir.messageFor(keys.join("\n"))).split("\n");
    assert.equal(lines[0], "The configuration has 5000 problems:");
    assert.equal(lines.length, 42);
    assert.equal(lines.at(-1), "and 4960 more");
  });
});

test("a file of 10 MB is refused without being read", async () => {
  await inTestDir(async (dir) => {
    const started = performance.now();
    assert.match(
      await dir.messageFor(`system: ${"a".repeat(10_000_000)}`),
      /has 10000008 bytes; at most 262144 are read$/u,
    );
    assert.ok(performance.now() - started < 2000);
  });
});

test(
  "a pipe is refused and not waited for",
  { skip: process.platform === "win32" && "no pipes in directories" },
  async () => {
    await inTestDir(async (dir) => {
      await promisify(execFile)("mkfifo", [join(dir.path, "agent.yaml")]);
      assert.match(await usageMessage(() => dir.load()), /is not a regular file$/u);
    });
  },
);

test("what a file holds cannot move the cursor or colour the terminal", async () => {
  await inTestDir(async (dir) => {
    const message = await dir.messageFor(
      '"\\e[31mkey\\u202e\\nx": 1\nprovider: "\\e]0;title\\a"\n' + `"${"k".repeat(900)}": 1`,
    );
    // deno-lint-ignore no-control-regex
    assert.doesNotMatch(message, /[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]/u);
    assert.equal(message.split("\n").length, 4);
    assert.ok(message.length < 1000);
  });
});
