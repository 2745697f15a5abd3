import assert from "node:assert/strict";
import { test } from "node:test";
import { isRunId, newRunId } from "./run_id.ts";

test("ids are short, of one form, and differ", () => {
  const ids = new Set(Array.from({ length: 200 }, newRunId));
  assert.ok(ids.size > 195);
  for (const id of ids) {
    assert.equal(id.length, 11);
    assert.ok(isRunId(id), id);
  }
});

test("what has not exactly that form is no id", () => {
  for (
    const text of ["", "task-", "task-12345", "task-1234567", "task-ABCDEF", "TASK-123456"]
      .concat(["task-12345g", "x/task-123456", "task-123456\n", "../task-123456", "task-123456/.."])
  ) {
    assert.ok(!isRunId(text), JSON.stringify(text));
  }
});
