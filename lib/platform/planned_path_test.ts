import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { plannedPath } from "./planned_path.ts";

test("links are resolved in as much of a path as exists", async () => {
  const home = await realpath(await mkdtemp(join(tmpdir(), "mm-path-")));
  try {
    await mkdir(join(home, "real"));
    await symlink(join(home, "real"), join(home, "link"));
    assert.equal(await plannedPath(join(home, "link")), join(home, "real"));
    assert.equal(await plannedPath(join(home, "link", "a", "b")), join(home, "real", "a", "b"));
    assert.equal(await plannedPath("/"), await realpath("/"));
  } finally {
    await rm(home, { recursive: true });
  }
});
