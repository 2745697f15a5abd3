import { strict as assert } from "node:assert";
import { test } from "node:test";
import { createPaint } from "./paint.ts";

test("createPaint() writes colours only where they are allowed", () => {
  assert.equal(createPaint(true).red("x"), "\x1b[31mx\x1b[39m");
  assert.equal(createPaint(false).red("x"), "x");
  assert.equal(createPaint(true).red(""), "");
});
