import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { test } from "node:test";
import process from "node:process";
import { testProject } from "./testing.ts";
import { walkFiles } from "./walk.ts";

test("walkFiles() says that its time is over", async (t) => {
  const p = await testProject(t);
  await p.file("a.txt", "x");
  const walk = walkFiles(p.directory, {
    signal: new AbortController().signal,
    deadline: performance.now() - 1,
  });
  assert.deepEqual(await walk.next(), { done: true, value: "time" });
});

test("walkFiles() goes through a directory in the order of names and ends in its middle when cancelled", async (t) => {
  const p = await testProject(t);
  for (const name of ["b/2", "b/1", "a", "c", "B"]) await p.file(name, "x");
  const controller = new AbortController();
  const walk = walkFiles(p.directory, { signal: controller.signal, deadline: Infinity });
  const seen: string[] = [];
  await assert.rejects(async () => {
    for await (const path of walk) {
      seen.push(path.slice(p.directory.length + 1));
      if (seen.length === 4) controller.abort(new Error("enough"));
    }
  }, { message: "enough" });
  assert.deepEqual(seen, ["B", "a", "b/1", "b/2"]);
});

test("walkFiles() does not wait for a pipe that is called .gitignore", {
  skip: process.platform === "win32",
}, async (t) => {
  const p = await testProject(t);
  execFileSync("mkfifo", [p.path(".gitignore")]);
  await p.file("a.txt", "x");
  const walk = walkFiles(p.directory, { signal: AbortSignal.timeout(5000), deadline: Infinity });
  const seen: string[] = [];
  for await (const path of walk) seen.push(path);
  assert.deepEqual(seen, [p.path("a.txt")]);
});
