import assert from "node:assert/strict";
import { test } from "node:test";
import { wildcardMatches } from "./wildcard.ts";

test("wildcardMatches() takes a star for any characters, and all others for themselves", () => {
  const yes: [string, string][] = [
    ["", ""],
    ["*", ""],
    ["*", "a\nb"],
    ["**", "abc"],
    ["a*c", "ac"],
    ["a*c", "abcbc"],
    ["*b*", "abc"],
    ["a*b*c", "a-b-b-c"],
    ["*ab*ab", "abab"],
    ["a.c(*)", "a.c(x)"],
  ];
  const no: [string, string][] = [
    ["", "a"],
    ["a", "aa"],
    ["a*a", "a"],
    ["ab*ba", "aba"],
    ["a*b*c", "a-c"],
    ["*ab*ab", "ab"],
    ["a*bc*c", "abc"],
    ["a.c", "abc"],
  ];
  for (const [pattern, text] of yes) {
    assert.ok(wildcardMatches(pattern, text), `${pattern} ${text}`);
  }
  for (const [pattern, text] of no) {
    assert.ok(!wildcardMatches(pattern, text), `${pattern} ${text}`);
  }
});

test("wildcardMatches() is quick with a long text that nearly matches", () => {
  const started = performance.now();
  assert.ok(!wildcardMatches("*rm*-r*-f*x", "rm -r ".repeat(200_000)));
  // Trying every place for every star would take hours.
  assert.ok(performance.now() - started < 5000);
});
