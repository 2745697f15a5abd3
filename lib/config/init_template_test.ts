import assert from "node:assert/strict";
import { test } from "node:test";
import { initTemplate } from "./init_template.ts";
import { AGENT_FILE_KEYS } from "./schema.ts";
import { TOOL_NAMES } from "./tool_names.ts";
import { DELEGATION, inTestDir, NO_HOOKS } from "./testing.ts";

/** A key that is commented out, with the lines below it that belong to it. */
const COMMENTED = /^#([a-zA-Z]+):.*(?:\n# {2}.*)*/gmu;

test("initTemplate writes what was found, and the file loads", async () => {
  await inTestDir(async (dir) => {
    const file = await dir.write(
      "agent.yaml",
      initTemplate({
        provider: "llamacpp",
        baseUrl: "http://127.0.0.1:8081/v1",
        model: "gemma-4",
        contextWindow: 8192,
      }),
    );
    const { fileDigest: _, ...loaded } = await dir.load();
    assert.deepEqual(loaded, {
      file,
      model: {
        provider: "llamacpp",
        baseUrl: "http://127.0.0.1:8081/v1",
        model: "gemma-4",
        contextWindow: 8192,
      },
      yolo: false,
      permissions: { allow: [], ask: [], deny: [] },
      maxOutput: 20_000,
      bashTimeoutMs: 30_000,
      bashTimeoutMaxMs: 600_000,
      watchdogTimeoutMs: 300_000,
      agentsMd: { enabled: true, path: "AGENTS.md", maxChars: 0 },
      hooks: NO_HOOKS,
      delegation: DELEGATION,
      sessions: { enabled: true, keep: 200 },
      compaction: { enabled: true, threshold: 0.8, keep: 0.2 },
      agents: [],
      mcpServers: [],
    });
  });
});

test("initTemplate mentions every key once, commented out unless it was found", () => {
  const text = initTemplate({ provider: "demo" });
  const keys = [...text.matchAll(/^#?([a-zA-Z]+):/gmu)].map((match) => match[1]);
  assert.deepEqual([...keys].sort(), [...AGENT_FILE_KEYS].sort());
  assert.equal([...text.matchAll(COMMENTED)].length, AGENT_FILE_KEYS.length - 1);
  assert.ok(text.split("\n").every((line) => line.length <= 100));
});

test("each key that initTemplate comments out can be made active", async () => {
  const text = initTemplate({ provider: "ollama" });
  const blocks = [...text.matchAll(COMMENTED)].map(([block]) => block);
  const active = (block: string) => block.replaceAll(/^#/gmu, "");
  await inTestDir(async (dir) => {
    const options = { env: { API_KEY: "k" } };
    for (const block of blocks) {
      await dir.write("agent.yaml", text.replace(block, () => active(block)));
      await dir.load(options);
    }
    const all = blocks.reduce((whole, block) => whole.replace(block, () => active(block)), text);
    await dir.write("agent.yaml", all);
    const config = await dir.load(options);
    assert.deepEqual(config.agents.map(({ name }) => name), ["bob", "other"]);
    assert.equal(config.maxTurns, 100);
    // "All built-in tools", as the line above says.
    assert.deepEqual(config.tools, TOOL_NAMES);
  });
});

test("limits that initTemplate comments out show their defaults", async () => {
  const text = initTemplate({ provider: "ollama" });
  const limits = text.replaceAll(
    /^#(maxOutput|bashTimeout|bashTimeoutMax|watchdogTimeout|yolo|agentsMd|sessions|compaction|agents):/gmu,
    "$1:",
  );
  await inTestDir(async (dir) => {
    await dir.write("agent.yaml", text);
    const { fileDigest: before, ...loaded } = await dir.load();
    await dir.write("agent.yaml", limits);
    assert.notEqual(text, limits);
    const { fileDigest: after, ...same } = await dir.load();
    assert.deepEqual(same, loaded);
    assert.notEqual(after, before);
  });
});

test("initTemplate keeps any name of a model that a server may give", async () => {
  await inTestDir(async (dir) => {
    for (
      const model of [
        "qwen3:8b",
        "org/model@q4",
        "a: b",
        "x # y",
        "true",
        "3.5",
        "${HOME}",
        'it\'s "quoted"',
        "*star",
        "!tag",
        "ends with:",
        "x".repeat(300),
      ]
    ) {
      await dir.write(
        "agent.yaml",
        initTemplate({ provider: "custom", baseUrl: "http://h/v1", model }),
      );
      assert.equal((await dir.load()).model.model, model);
    }
  });
});
