import assert from "node:assert/strict";
import { join } from "node:path";
import { test } from "node:test";
import { isWithin } from "./is_within.ts";

const HOME = join("/", "home", "ann");

test("a directory, and all that is below it, lies within it", () => {
  for (const path of [HOME, join(HOME, "a"), join(HOME, "..a"), join(HOME, "..", "ann", "b")]) {
    assert.ok(isWithin(HOME, path), path);
  }
});

test("what is above or beside a directory does not lie within it, however alike the names are", () => {
  for (const path of [join(HOME, ".."), join("/", "home", "anna"), join(HOME, "..", "bob"), "/"]) {
    assert.ok(!isWithin(HOME, path), path);
  }
});
