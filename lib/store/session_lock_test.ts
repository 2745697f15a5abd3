import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { holderOf, lockSession } from "./session_lock.ts";

const ID = "0b0e5a3c-1f5d-4c58-8a57-2f1a6a1f9d10";

async function inDir(body: (dir: string, file: string) => Promise<void>) {
  const dir = await mkdtemp(join(tmpdir(), "mm-lock-"));
  const file = join(dir, `${ID}.jsonl`);
  await writeFile(file, "");
  try {
    await body(dir, file);
  } finally {
    await rm(dir, { recursive: true });
  }
}

/** The source of a process that takes the lock, says what it got, and waits for its input to end. */
const TAKER = `
  import { lockSession } from ${JSON.stringify(new URL("./session_lock.ts", import.meta.url).href)};
  const [dir, id, file] = process.argv.slice(-3);
  const result = lockSession(dir, id, file);
  console.log("lock" in result ? "taken" : "held by " + result.holder.pid);
  process.stdin.resume().on("end", () => process.exit(0));
`;

async function taker(dir: string, file: string) {
  const script = join(dir, "taker.mts");
  await writeFile(script, `import process from "node:process";\n${TAKER}`);
  const child = spawn(process.execPath, ["run", "-A", "--no-check", script, dir, ID, file], {
    stdio: ["pipe", "pipe", "inherit"],
  });
  const [said] = await once(child.stdout, "data");
  return { child, said: String(said).trim() };
}

test("a lock is held by one, also within a process, and can be taken again when it was given back", () =>
  inDir((dir, file) => {
    const first = lockSession(dir, ID, file);
    assert.ok("lock" in first);
    assert.deepEqual(lockSession(dir, ID, file), { holder: { pid: process.pid } });
    assert.deepEqual(holderOf(dir, ID, { file }), { pid: process.pid });
    first.lock.release();
    assert.equal(holderOf(dir, ID, { file }), undefined);
    assert.ok("lock" in lockSession(dir, ID, file));
    return Promise.resolve();
  }));

test("a process that runs keeps its lock; one that was killed has none", () =>
  inDir(async (dir, file) => {
    const { child, said } = await taker(dir, file);
    assert.equal(said, "taken");
    assert.deepEqual(lockSession(dir, ID, file), { holder: { pid: child.pid } });
    // The failed attempt left nothing behind.
    assert.equal((await readdir(dir)).filter((name) => name.endsWith(".lock")).length, 1);
    child.kill("SIGKILL");
    await once(child, "exit");
    const mine = lockSession(dir, ID, file);
    assert.ok("lock" in mine);
    const other = await taker(dir, file);
    assert.equal(other.said, `held by ${process.pid}`);
    other.child.stdin.end();
    await once(other.child, "exit");
    mine.lock.release();
    assert.deepEqual((await readdir(dir)).filter((name) => name.endsWith(".lock")), []);
  }));

test("a process that got the number of one that is gone does not hold its lock", () =>
  inDir(async (dir, file) => {
    const host = encodeURIComponent(hostname()).replaceAll("_", "%5F");
    await writeFile(join(dir, `${ID}.${process.pid}_12345_${host}.lock`), "");
    assert.ok("lock" in lockSession(dir, ID, file));
  }));

test("a lock of another machine counts while its conversation is written to", () =>
  inDir(async (dir, file) => {
    await writeFile(join(dir, `${ID}.77_12345_other%5Fhost.lock`), "");
    assert.deepEqual(lockSession(dir, ID, file), { holder: { pid: 77, host: "other_host" } });
    const old = new Date(Date.now() - 2 * 3_600_000);
    await utimes(file, old, old);
    assert.ok("lock" in lockSession(dir, ID, file));
  }));
