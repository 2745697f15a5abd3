import assert from "node:assert/strict";
import { chmod } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { inTestDir, usageMessage } from "./testing.ts";
import { UNSUPPORTED_HOOKS, UNSUPPORTED_KEYS } from "./unsupported_keys.ts";

/** What is wrong, the file's text, and the message without the file's name. */
const BAD: readonly (readonly [behaviour: string, yaml: string, message: string])[] = [
  ["a misspelt key", "modl: x", '1:1: unknown key "modl"; did you mean "model"?'],
  ["a key in snake case", "base_url: x", '1:1: unknown key "base_url"; did you mean "baseUrl"?'],
  ["a key like no other", "zzzzzz: 1", '1:1: unknown key "zzzzzz"'],
  [
    "a misspelt key of an entry",
    "mmConfigs:\n  bob:\n    pth: bob.yaml\n",
    '3:5: unknown key "mmConfigs.bob.pth"; did you mean "path"?',
  ],
  [
    "a key of an entry like no other",
    "mmConfigs: {bob: {path: b, zzzz: 1}}",
    '1:28: unknown key "mmConfigs.bob.zzzz"; the keys here are ' +
    "path, command, description, yolo, timeout, env, cwd",
  ],
  [
    "a misspelt key of permissions",
    "permissions: {alow: []}",
    '1:15: unknown key "permissions.alow"; did you mean "allow"?',
  ],
  [
    "a misspelt key of system",
    "system: {fle: x}",
    '1:10: unknown key "system.fle"; did you mean "file"?',
  ],
  ["system without a file", "system: {}", '1:1: "system.file" is missing'],
  [
    "a misspelt key of acp",
    "acp:\n  titel: x",
    '2:3: unknown key "acp.titel"; did you mean "title"?',
  ],
  [
    "a fence in an entry",
    "mmConfigs: {bob: {path: b, fence: {}}}",
    '1:28: key "mmConfigs.bob.fence" is not supported by this version of mm; remove it',
  ],
  [
    "a compression that keeps what calls for it",
    "compaction: {keep: 0.8}",
    '1:20: "compaction.keep" (0.8) must be less than "compaction.threshold" (0.8): what is kept ' +
    "would call for the next compression",
  ],
  [
    "a key twice",
    "model: a\nyolo: true\nmodel: b",
    '3:1: duplicate key "model"; it stands on line 1 already',
  ],
  [
    "a name twice",
    "mmConfigs:\n  bob: {path: a}\n  bob: {path: b}",
    '3:3: duplicate key "mmConfigs.bob"; it stands on line 2 already',
  ],
  [
    "a key without a value",
    "model:\nyolo: true",
    '1:7: "model" has no value; give it one or remove the key',
  ],
  ["a number for text", "model: 3.5", '1:8: "model" must be text, not 3.5; put it in quotes'],
  ["a list for text", "model: [a]", '1:1: "model" must be text, not a list'],
  ["empty text", "model: ' '", '1:8: "model" must not be empty'],
  ["yes for true", "yolo: yes", '1:7: "yolo" must be true or false, not "yes"'],
  ["text for a number", "topP: high", '1:7: "topP" must be a number from 0 to 1, not "high"'],
  [
    "a number that is too large",
    "temperature: 2.1",
    '1:14: "temperature" must be a number from 0 to 2, not 2.1',
  ],
  [
    "an infinite number",
    "temperature: .inf",
    '1:14: "temperature" must be a number from 0 to 2, not Infinity',
  ],
  ["no number", "topP: .nan", '1:7: "topP" must be a number from 0 to 1, not NaN'],
  [
    "a fraction for a count",
    "maxTurns: 1.5",
    '1:11: "maxTurns" must be a whole number from 1 to 1000000000, not 1.5',
  ],
  [
    "a negative count",
    "contextWindow: -1",
    '1:16: "contextWindow" must be a whole number from 1 to 1000000000, not -1',
  ],
  [
    "too small a limit",
    "maxOutput: 0",
    '1:12: "maxOutput" must be a whole number from 100 to 10000000, not 0',
  ],
  [
    "no duration",
    "bashTimeout: soon",
    '1:14: "bashTimeout" must be a duration such as 500ms, 30s, 5m or 1h, or a number of seconds, not "soon"',
  ],
  [
    "a negative duration",
    "bashTimeout: -3",
    '1:14: "bashTimeout" must be a duration such as 500ms, 30s, 5m or 1h, or a number of seconds, not -3',
  ],
  [
    "a duration of nothing",
    "watchdogTimeout: 0s",
    '1:18: "watchdogTimeout" must be a duration from 1 ms to 168 h, not "0s"',
  ],
  [
    "a duration timers cannot hold",
    "watchdogTimeout: 999h",
    '1:18: "watchdogTimeout" must be a duration from 1 ms to 168 h, not "999h"',
  ],
  [
    "a budget over its maximum",
    "bashTimeout: 20m",
    '1:14: "bashTimeout" (20 min) must not be longer than "bashTimeoutMax" (10 min)',
  ],
  [
    "a maximum under its budget",
    "bashTimeoutMax: 1s",
    '1:17: "bashTimeout" (30 s) must not be longer than "bashTimeoutMax" (1 s)',
  ],
  [
    "a misspelt word",
    "provider: olama",
    '1:11: "provider" must be one of llamacpp, ollama, lmstudio, vllm, openai, mistral, gemini, ' +
    'anthropic, openrouter, deepseek, groq, xai, custom, demo, not "olama"; did you mean "ollama"?',
  ],
  [
    "custom without an address",
    "provider: custom",
    '1:11: "provider" is custom, which has no address of its own; set "baseUrl" too',
  ],
  [
    "an address without a scheme",
    "baseUrl: 127.0.0.1/v1",
    '1:10: "baseUrl" must be an address such as http://127.0.0.1:8080/v1',
  ],
  [
    "an address of another scheme",
    "baseUrl: ftp://x/v1",
    '1:10: "baseUrl" must begin with http:// or https://',
  ],
  [
    "a key with a space",
    "apiKey: a b",
    '1:9: "apiKey" must have ASCII characters only, and no space',
  ],
  [
    "a header's name",
    "headers: {'a b': c}",
    '1:11: "headers.a b" is not the name of an HTTP header',
  ],
  [
    "a header on two lines",
    'headers: {A: "b\\nC: d"}',
    '1:14: "headers.A" must be one line of Latin characters',
  ],
  [
    "headers in a list",
    "headers: [a]",
    '1:1: "headers" must be a map from header names to text, not a list',
  ],
  [
    "a misspelt tool",
    "tools: [read, bsh]",
    '1:15: "tools[1]" is "bsh", which names no built-in tool; did you mean "bash"?',
  ],
  [
    "an MCP tool",
    "tools: [mcp__x]",
    '1:9: "tools[0]" is "mcp__x", which is no name of a tool of an MCP server; write "mcp__server__tool" or "mcp__server__*"',
  ],
  ["tools in text", "tools: bash", '1:8: "tools" must be a list of names of tools, not "bash"'],
  [
    "a rule for a misspelt tool",
    "permissions:\n  deny:\n    - bsh(rm *)",
    '3:7: "permissions.deny[0]" is "bsh(rm *)", which names no built-in tool; did you mean "bash"?',
  ],
  [
    "a rule of no form",
    "permissions: {ask: [bash rm]}",
    '1:21: "permissions.ask[0]" is "bash rm", which is no rule; write "tool", "tool(pattern)" or "bob/tool(pattern)"',
  ],
  [
    "a rule for an agent that nobody asks",
    "mmConfigs: {bob: {path: b}}\npermissions: {deny: [bobb/edit]}",
    '2:22: "permissions.deny[0]" is about the agent "bobb", which is not in mmConfigs; did you mean "bob"?',
  ],
  [
    "a rule for what can be no agent",
    "permissions: {deny: [a.b/edit]}",
    '1:22: "permissions.deny[0]" is about the agent "a.b", which is not in mmConfigs',
  ],
  [
    "no number of parallel runs",
    "agents: {maxParallel: 0}",
    '1:23: "agents.maxParallel" must be auto, or a whole number from 1 to 64, not 0',
  ],
  [
    "a misspelt auto",
    "agents: {maxParallel: atuo}",
    '1:23: "agents.maxParallel" must be auto, or a whole number from 1 to 64, not "atuo"; did you mean "auto"?',
  ],
  [
    "a misspelt never",
    "agents: {background: nver}",
    '1:22: "agents.background" must be true, false or never, not "nver"; did you mean "never"?',
  ],
  [
    "a chain of subagents that is too deep",
    "agents: {maxDepth: 11}",
    '1:20: "agents.maxDepth" must be a whole number from 0 to 10, not 11',
  ],
  [
    "a misspelt key of agents",
    "agents:\n  worktree: {enable: true}",
    '2:14: unknown key "agents.worktree.enable"; did you mean "enabled"?',
  ],
  [
    "an entry with neither path nor command",
    "mmConfigs:\n  bob: {yolo: true}",
    '2:3: "mmConfigs.bob" has neither path nor command; name the configuration file in path',
  ],
  [
    "an entry with both",
    "mmConfigs:\n  bob: {path: a, command: [b]}",
    '2:3: "mmConfigs.bob" has both path and command; remove one of them',
  ],
  [
    "an entry in text",
    "mmConfigs: {bob: b.yaml}",
    '1:18: "mmConfigs.bob" must be a map with the keys path, command, description, yolo, timeout, env, cwd, not "b.yaml"',
  ],
  [
    "a command in text",
    "mmConfigs: {bob: {command: run}}",
    '1:28: "mmConfigs.bob.command" must be a list of a program and its arguments',
  ],
  [
    "an empty command",
    "mmConfigs: {bob: {command: []}}",
    '1:19: "mmConfigs.bob.command" must name a program',
  ],
  [
    "a slash in a name",
    "mmConfigs: {a/b: {path: x}}",
    '1:13: "mmConfigs.a/b" is not the name of an agent: a letter, then letters, digits, - and _',
  ],
  [
    "a path as a name",
    "mmConfigs: {../x: {path: x}}",
    '1:13: "mmConfigs.../x" is not the name of an agent: a letter, then letters, digits, - and _',
  ],
  [
    "a long name",
    `mmConfigs: {${"a".repeat(33)}: {path: x}}`,
    `1:13: "mmConfigs.${
      "a".repeat(33)
    }" is too long for the name of an agent: at most 32 characters`,
  ],
  [
    "a name that is a command",
    "mmConfigs: {with-context-bob: {path: x}}",
    '1:13: "mmConfigs.with-context-bob" cannot be the name of an agent: "/ask-with-context" is a command of its own',
  ],
  [
    "names that differ in case",
    "mmConfigs:\n  bob: {path: a}\n  Bob: {path: b}",
    '3:3: "mmConfigs.Bob" differs from "bob" only in upper and lower case',
  ],
  [
    "a variable that mm sets",
    "mmConfigs: {b: {path: x, env: {AGENT_YOLO: 'true'}}}",
    '1:32: "mmConfigs.b.env.AGENT_YOLO" is set by mm; use the entry\'s key yolo',
  ],
  [
    "a variable's name",
    "mmConfigs: {b: {path: x, env: {A-B: c}}}",
    '1:32: "mmConfigs.b.env.A-B" is not the name of an environment variable',
  ],
  [
    "a number for a variable",
    "mmConfigs: {b: {path: x, env: {A: 1}}}",
    '1:35: "mmConfigs.b.env.A" must be text, not a number; put it in quotes',
  ],
  [
    "a home that is not known",
    "mmConfigs: {b: {path: ~/x}}",
    '1:23: the path begins with "~", but the environment variable HOME is not set',
  ],
  [
    "a title on two lines",
    'acp: {title: "a\\nb"}',
    '1:14: "acp.title" must be one line without control characters, not "a\ufffdb"',
  ],
  [
    "a variable that is not set",
    "model: a\napiKey: ${NOPE}",
    '2:9: "apiKey" reads the environment variable "NOPE", which is not set; set it, or write "$${" for a literal "${"',
  ],
  [
    "a variable of the prototype",
    "model: ${toString}",
    '1:8: "model" reads the environment variable "toString", which is not set; set it, or write "$${" for a literal "${"',
  ],
  [
    "a variable with a default",
    "system: ${A:-b}",
    '1:9: "system" has "${" without the name of a variable and "}"; write "$${" for a literal one',
  ],
  [
    "a variable that never ends",
    "system: a ${A",
    '1:9: "system" has "${" without the name of a variable and "}"; write "$${" for a literal one',
  ],
  ["a list at the top", "- a", "1:1: The file must hold keys with values, not a list"],
  ["text at the top", "hello", "1:1: The file must hold keys with values, not a single value"],
  [
    "a quote that never ends",
    "model: 'x\n",
    "2:1: The YAML is not valid: a closing quote, a colon after a key or a comma is missing",
  ],
  [
    "a bracket that never ends",
    "tools: [bash",
    "1:13: The YAML is not valid: wrong indentation, or a list or map that is not closed before this place",
  ],
  [
    "a bracket that never began",
    "tools: ]",
    "1:8: The YAML is not valid: something stands where nothing can, such as a bracket that was never opened",
  ],
  [
    "a variable without quotes in a map",
    "headers: {A: ${X}}\nmodel: x",
    '1:15: The YAML is not valid: inside [ ] and { }, a "${NAME}" has to stand in quotes',
  ],
  [
    "a variable without quotes in a list",
    "tools: [${X}]",
    '1:10: The YAML is not valid: inside [ ] and { }, a "${NAME}" has to stand in quotes',
  ],
  [
    "a tab",
    "acp:\n\ttitle: x",
    "2:1: The YAML is not valid: a tab used for indentation; use spaces",
  ],
  [
    "a second document",
    "model: a\n---\nmodel: b",
    "2:1: The YAML is not valid: a second document begins; one file describes one agent",
  ],
  [
    "a tag",
    "model: !secret x",
    '1:8: The YAML is not valid: a tag ("!…") has no meaning here; put a value that starts with "!" in quotes',
  ],
  [
    "a binary tag",
    "model: !!binary aGk=",
    '1:8: The YAML is not valid: a tag ("!…") has no meaning here; put a value that starts with "!" in quotes',
  ],
  ["a key that is a list", "? [a]\n: b", "1:3: The YAML is not valid: a key has to be text"],
  [
    "an alias of nothing",
    "model: *x",
    '1:8: "model" refers to an anchor that does not stand before it',
  ],
  [
    "a merge key",
    "mmConfigs:\n  bob:\n    path: b\n    <<: {yolo: true}",
    '4:5: unknown key "mmConfigs.bob.<<"; the keys here are path, command, description, yolo, timeout, env, cwd',
  ],
  [
    "yes under YAML 1.1",
    "%YAML 1.1\n---\nyolo: yes",
    '3:7: "yolo" must be true or false, not "yes"',
  ],
];

for (const [behaviour, yaml, expected] of BAD) {
  test(`loadConfig refuses ${behaviour}`, async () => {
    await inTestDir(async (dir) => {
      assert.equal(await dir.messageFor(yaml), `${join(dir.path, "agent.yaml")}:${expected}`);
    });
  });
}

test("loadConfig refuses each key of a later version by name", async () => {
  await inTestDir(async (dir) => {
    for (const key of UNSUPPORTED_KEYS) {
      assert.equal(
        await dir.messageFor(`model: m\n${key}: {}\n`),
        `${
          join(dir.path, "agent.yaml")
        }:2:1: key "${key}" is not supported by this version of mm; remove it`,
      );
    }
  });
});

test("a kind of hook that this version does not run is refused by its name", async () => {
  await inTestDir(async (dir) => {
    for (const kind of UNSUPPORTED_HOOKS) {
      assert.equal(
        await dir.messageFor(`hooks:\n  ${kind}: [{run: "true"}]\n`),
        `${
          join(dir.path, "agent.yaml")
        }:2:3: key "hooks.${kind}" is not supported by this version of mm; remove it`,
      );
    }
    assert.match(
      await dir.messageFor(`hooks:\n  preask: [{run: "true"}]\n`),
      /unknown key "hooks.preask"; did you mean "preAsk"/u,
    );
  });
});

test("loadConfig reports all problems at once, in the order of the file, none twice", async () => {
  await inTestDir(async (dir) => {
    const message = await dir.messageFor(
      "fence: {}\nsystem: {file: gone.md}\nmodl: x\nbashTimeout: 20m\napiKey: ${NOPE}\ntopP: 2\n" +
        "mmConfigs: {bob: {path: '${NOPE}'}}\n",
      { env: { AGENT_MAX_TURNS: "many" } },
    );
    const lines = message.split("\n");
    assert.equal(lines[0], "The configuration has 8 problems:");
    assert.deepEqual(
      lines.slice(1).map((line) => line.replace(join(dir.path, "agent.yaml"), "").slice(0, 24)),
      [
        ':1:1: key "fence" is not',
        ':2:16: "system.file": th',
        ':3:1: unknown key "modl"',
        ':4:14: "bashTimeout" (20',
        ':5:9: "apiKey" reads the',
        ':6:7: "topP" must be a n',
        ':7:25: "mmConfigs.bob.pa',
        "AGENT_MAX_TURNS: must be",
      ],
    );
  });
});

test("loadConfig names the prompt's file and what is wrong with it", async () => {
  await inTestDir(async (dir) => {
    const prompt = join(dir.path, "p.md");
    const at = `${join(dir.path, "agent.yaml")}:1:16: "system.file": the file "${prompt}"`;
    const message = () => dir.messageFor("system: {file: p.md}");
    assert.equal(await message(), `${at} does not exist`);
    await dir.write("p.md", " \n");
    assert.equal(await message(), `${at} is empty`);
    await dir.write("p.md", new Uint8Array([0x61, 0x0a, 0xff]));
    assert.equal(await message(), `${at} is not UTF-8; save it as UTF-8 (line 2)`);
    await dir.write("p.md", "a".repeat(1024 * 1024 + 1));
    assert.equal(await message(), `${at} has 1048577 bytes; at most 1048576 are read`);
  });
});

test("loadConfig refuses a file that is not UTF-8 and says which line", async () => {
  await inTestDir(async (dir) => {
    const file = join(dir.path, "agent.yaml");
    assert.equal(
      await dir.messageFor(new Uint8Array([0x23, 0x0a, 0x23, 0xe9, 0x0a])),
      `${file}:2:1: The configuration file "${file}" is not UTF-8; save it as UTF-8`,
    );
    assert.match(
      await dir.messageFor(new Uint8Array([0xff, 0xfe, 0x61, 0])),
      /is UTF-16, not UTF-8/u,
    );
  });
});

const root = process.getuid?.() === 0;
test("loadConfig refuses a file it may not read", { skip: root && "root reads all" }, async () => {
  await inTestDir(async (dir) => {
    await chmod(await dir.write("agent.yaml", ""), 0);
    assert.match(await usageMessage(() => dir.load()), /cannot be read: permission denied$/u);
  });
});
