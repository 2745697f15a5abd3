import assert from "node:assert/strict";
import { test } from "node:test";
import { parseTrees } from "./git_registry.ts";

const TEXT = "worktree /p\nHEAD 1\nbranch refs/heads/main\n\n" +
  "worktree /a b\nHEAD 2\ndetached\nlocked\n\n" +
  'worktree /c\nHEAD 3\nbranch refs/heads/x\nlocked "why\\nnot"\nprunable gitdir file points to nothing\n\n';

const TREES = [
  { path: "/p", head: "1", branch: "refs/heads/main", main: true, locked: false, prunable: false },
  { path: "/a b", head: "2", main: false, locked: true, prunable: false },
  { path: "/c", head: "3", branch: "refs/heads/x", main: false, locked: true, prunable: true },
];

test("the list of working trees is read, with and without ends of lines in it", () => {
  assert.deepEqual(parseTrees(TEXT, "\n"), TREES);
  assert.deepEqual(parseTrees(TEXT.replaceAll("\n", "\0"), "\0"), TREES);
  assert.deepEqual(parseTrees("worktree /a\nprunable\0bare\0\0", "\0"), [
    { path: "/a\nprunable", main: true, locked: false, prunable: false },
  ]);
  assert.deepEqual(parseTrees("", "\0"), []);
});
