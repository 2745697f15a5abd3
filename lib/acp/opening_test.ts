import assert from "node:assert/strict";
import { test } from "node:test";
import { RequestError } from "@agentclientprotocol/sdk";
import type { ChildOpening } from "../agents/child_connection.ts";
import { MAX_SEEN_FILES } from "../tools/file_views.ts";
import { openingMeta, readOpening } from "./opening.ts";

const FILE = { path: "/a.txt", mtimeMs: 1, size: 2, hash: "0f".repeat(32) };

const FORK = {
  system: "You are you.",
  tools: [{ name: "ls", description: "", parameters: { type: "object", b: 1, a: [{}] } }],
  allow: ["ls", "mcp__*"],
  callId: "call_1",
  files: [FILE, { path: "/big.bin", mtimeMs: 1.25, size: 0 }],
};

const read = (mm: unknown, forks = true) => readOpening({ _meta: { mm } }, { forks });

test("an opening comes through the wire as it was, byte for byte", () => {
  const opening: ChildOpening = { save: false, fork: FORK, settings: { model: "x" } };
  const sent = JSON.parse(JSON.stringify({ cwd: "/", ...openingMeta(opening) }));
  const got = readOpening(sent, { forks: true });
  assert.equal(JSON.stringify(got), JSON.stringify({ save: false, fork: FORK }));
  assert.deepEqual(openingMeta({ settings: { model: "x" } }), {});
  assert.deepEqual(readOpening({ cwd: "/" }, { forks: true }), {});
});

test("a fork is nothing to a process that was not started for subagents", () => {
  assert.deepEqual(read({ save: true, fork: FORK }, false), { save: true });
  assert.deepEqual(read({ fork: "whatever" }, false), {});
});

test("an opening of another shape is refused, and the words name the field", () => {
  const wrong: [unknown, string][] = [
    [{ save: "false" }, "save"],
    [{ fork: [] }, "fork"],
    [{ fork: null }, "fork"],
    [{ fork: { ...FORK, yolo: true } }, "fork"],
    [{ fork: { tools: [] } }, "fork.system"],
    [{ fork: { ...FORK, system: 1 } }, "fork.system"],
    [{ fork: { system: "" } }, "fork.tools"],
    [{ fork: { ...FORK, tools: {} } }, "fork.tools"],
    [{ fork: { ...FORK, tools: [{ name: "", description: "", parameters: {} }] } }, "fork.tools"],
    [{ fork: { ...FORK, tools: [{ name: "a", description: "", parameters: [] }] } }, "fork.tools"],
    [{ fork: { ...FORK, tools: [{ name: "a", parameters: {} }] } }, "fork.tools"],
    [{ fork: { ...FORK, allow: "ls" } }, "fork.allow"],
    [{ fork: { ...FORK, allow: [1] } }, "fork.allow"],
    [{ fork: { ...FORK, callId: "" } }, "fork.callId"],
    [{ fork: { ...FORK, callId: 7 } }, "fork.callId"],
    [{ fork: { ...FORK, files: {} } }, "fork.files"],
    [{ fork: { ...FORK, files: [null] } }, "fork.files"],
    [{ fork: { ...FORK, files: [{ ...FILE, path: "a.txt" }] } }, "fork.files"],
    [{ fork: { ...FORK, files: [{ ...FILE, path: "/a\0b" }] } }, "fork.files"],
    [{ fork: { ...FORK, files: [{ ...FILE, mtimeMs: "1" }] } }, "fork.files"],
    [{ fork: { ...FORK, files: [{ ...FILE, size: -1 }] } }, "fork.files"],
    [{ fork: { ...FORK, files: [{ ...FILE, hash: "abc" }] } }, "fork.files"],
    [{ fork: { ...FORK, files: Array(MAX_SEEN_FILES + 1).fill(FILE) } }, "fork.files"],
  ];
  for (const [mm, field] of wrong) {
    assert.throws(() => read(mm), (error) => {
      assert.ok(error instanceof RequestError);
      assert.equal(error.code, -32602);
      assert.ok(error.message.includes(`"_meta.mm.${field}" must be`), error.message);
      return true;
    });
  }
});
