import assert from "node:assert/strict";
import { test } from "node:test";
import { BUILTIN_DEFINITIONS } from "./builtin_definitions.ts";
import { childKeyOf } from "./child_key.ts";

test("the runs of a definition share a child, as long as the definition says the same", () => {
  for (const definition of BUILTIN_DEFINITIONS) {
    const { name, version } = definition;
    const key = childKeyOf({ kind: "definition", definition }, "/project");
    assert.deepEqual(key, { name, version, cwd: "/project" });
    const changed = { ...definition, version: "another" };
    const other = childKeyOf({ kind: "definition", definition: changed }, "/project");
    assert.equal(other.version, "another");
  }
});

test("all forks of a directory share a child, whatever they may run", () => {
  const opening = { system: "s", tools: [] };
  const keys = ["a", "b"].map((sessionId) =>
    childKeyOf({ kind: "fork", sessionId, opening: { ...opening, allow: [sessionId] } }, "/project")
  );
  assert.deepEqual(keys[0], { name: "fork", version: "", cwd: "/project" });
  assert.deepEqual(keys[0], keys[1]);
});
