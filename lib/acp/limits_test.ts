import assert from "node:assert/strict";
import { test } from "node:test";
import { boundTitle } from "./limits.ts";

test("a title shows what would lead a terminal, and is never too long", () => {
  assert.equal(
    boundTitle("explore: \x1b]0;x\x07\x9b2J\u202eevil\r\x7f"),
    "explore: \\u{1b}]0;x\\u{7}\\u{9b}2J\\u{202e}evil\\u{d}\\u{7f}",
  );
  // What is text stays, in every script, and so does what was shown before.
  for (const title of ["Fünf 文件 👨‍👩‍👧", "two\nlines\tand a tab", "echo '\\u{1b}'"]) {
    assert.equal(boundTitle(title), title);
  }
  assert.equal(boundTitle("\x1b".repeat(1_000_000)).length < 70_000, true);
});
