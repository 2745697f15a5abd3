import assert from "node:assert/strict";
import { test } from "node:test";
import { FileViews, MAX_SEEN_FILES } from "./file_views.ts";

const at = (mtimeMs: number, hash?: string) => ({
  mtimeMs,
  size: 1,
  ...(hash === undefined ? {} : { hash }),
});

test("a session that begins with what another one has seen knows those files as they were then", () => {
  const first = new FileViews();
  first.seen("/a", at(1, "x"));
  first.seen("/b", at(1));
  const second = new FileViews(JSON.parse(JSON.stringify(first.files)));
  assert.equal(second.state("/a", at(2, "x")), "current");
  assert.equal(second.state("/a", at(1, "y")), "changed");
  assert.equal(second.state("/b", at(1)), "current");
  assert.equal(second.state("/b", at(2)), "changed");
  assert.equal(second.state("/c", at(1)), "unseen");
  second.seen("/c", at(1));
  assert.equal(first.state("/c", at(1)), "unseen");
});

test("of many files those are told that were seen last", () => {
  const views = new FileViews();
  for (let n = 0; n <= MAX_SEEN_FILES; n++) views.seen(`/${n}`, at(n));
  views.seen("/1", at(7));
  const { files } = views;
  assert.equal(files.length, MAX_SEEN_FILES);
  assert.deepEqual(files.at(-1), { path: "/1", ...at(7) });
  assert.ok(!files.some(({ path }) => path === "/0"));
});
