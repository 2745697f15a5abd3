import assert from "node:assert/strict";
import { chmod, mkdir, readFile, stat } from "node:fs/promises";
import process from "node:process";
import { test } from "node:test";
import { atomicWrite } from "./atomic_write.ts";
import { testProject } from "./testing.ts";

const bytes = new TextEncoder().encode("new");
const signal = new AbortController().signal;

test("atomicWrite() leaves the old file and nothing else when the last look stops it", async (t) => {
  const p = await testProject(t);
  const path = await p.file("a.txt", "old");
  const reason = new Error("changed meanwhile");
  let names: string[] = [];
  const verify = async () => {
    names = await p.names();
    throw reason;
  };
  await assert.rejects(atomicWrite(path, bytes, { verify, signal }), (error) => error === reason);
  assert.equal(names.length, 2, "the new content was in another file of the directory");
  assert.deepEqual(await p.names(), ["a.txt"]);
  assert.equal(await readFile(path, "utf8"), "old");
});

test("atomicWrite() leaves nothing when the file cannot be put in place", async (t) => {
  const p = await testProject(t);
  await mkdir(p.path("a/full"), { recursive: true });
  await assert.rejects(atomicWrite(p.path("a"), bytes, { verify: async () => {}, signal }));
  assert.deepEqual(await p.names(), ["a"]);
});

test("atomicWrite() never lets others read a copy of a private file", {
  skip: process.platform === "win32",
}, async (t) => {
  const p = await testProject(t);
  const path = await p.file("secret", "old");
  await chmod(path, 0o640);
  const modes: number[] = [];
  const verify = async () => {
    for (const name of await p.names()) modes.push((await stat(p.path(name))).mode & 0o777);
  };
  await atomicWrite(path, bytes, { like: await stat(path), verify, signal });
  assert.deepEqual(modes, [0o640, 0o640]);
  assert.equal(await readFile(path, "utf8"), "new");
});
