import assert from "node:assert/strict";
import { test } from "node:test";
import { isRisky, lineMatcher } from "./line_matcher.ts";

test("isRisky() tells expressions that repeat from those that do not", () => {
  for (const source of ["a+", "a*b", ".*", "a{2,}", "a{30}", "(a)\\1", "(?<n>a)\\k<n>", "(ab)+"]) {
    assert.ok(isRisky(source), source);
  }
  for (
    const source of ["a", "a|b", "[+*]", "\\+\\*", "^foo\\(x\\)$", "a?b", "[a\\]*]x", "\\{1,2\\}"]
  ) {
    assert.ok(!isRisky(source), source);
  }
});

test("isRisky() counts choices: each can double the time", () => {
  assert.ok(isRisky("a?".repeat(40) + "a".repeat(40)));
  assert.ok(isRisky("(?:a|a)".repeat(40)));
  assert.ok(!isRisky("(?:GET|PUT|POST) (?=/)(?:a|b)"));
});

test("lineMatcher() returns the lines that match, one batch after the other", async () => {
  for (const expression of [/a{2}/u, /aa/u]) {
    const signal = new AbortController().signal;
    const matcher = lineMatcher({ expression, signal, deadline: performance.now() + 20_000 });
    try {
      assert.deepEqual(await matcher.match(["b", "aaa"]), [1]);
      assert.deepEqual(await matcher.match([]), []);
      assert.deepEqual(await matcher.match(["aa", "aa"]), [0, 1]);
    } finally {
      await matcher.close();
    }
  }
});

test("lineMatcher() gives up at the deadline inside an expression that never ends", async () => {
  const started = performance.now();
  const signal = new AbortController().signal;
  const matcher = lineMatcher({ expression: /(a+)+$/u, signal, deadline: started + 300 });
  try {
    assert.equal(await matcher.match(["a".repeat(60) + "!"]), undefined);
  } finally {
    await matcher.close();
  }
  assert.ok(performance.now() - started < 10_000);
});
