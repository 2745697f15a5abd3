import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { groupMembers } from "./group.ts";
import { endStrays, MARK_VARIABLE } from "./strays.ts";

const skip = process.platform === "linux" ? {} : { skip: "needs /proc" };

/** Starts a process in a group of its own that carries a mark; its group is its number. */
async function marked(mark: string, script = "sleep 300 & sleep 300"): Promise<number> {
  const child = spawn("sh", ["-c", `echo up; ${script}`], {
    detached: true,
    env: { PATH: process.env.PATH ?? "", [MARK_VARIABLE]: mark },
    stdio: ["ignore", "pipe", "ignore"],
  });
  await new Promise((resolve) => child.stdout.once("data", resolve));
  child.unref();
  return child.pid ?? -1;
}

test("endStrays() ends what carries the mark, and nothing else", skip, async () => {
  const run = crypto.randomUUID();
  const [one, ten, other] = await Promise.all([
    marked(`${run}.1`),
    marked(`${run}.10`),
    marked(`x${run}.1`),
  ]);
  try {
    await endStrays(`${run}.1`);
    assert.deepEqual(await groupMembers(one), []);
    assert.ok((await groupMembers(ten)).length > 0);
    await endStrays(`${run}.`);
    assert.deepEqual(await groupMembers(ten), []);
    assert.ok((await groupMembers(other)).length > 0);
  } finally {
    process.kill(-other, "SIGKILL");
  }
});

test("endStrays() kills what ignores TERM", skip, async () => {
  const run = crypto.randomUUID();
  const group = await marked(`${run}.1`, "trap '' TERM; sleep 300; sleep 300; sleep 300");
  await endStrays(`${run}.1`);
  for (let i = 0; i < 50 && (await groupMembers(group)).length > 0; i++) await delay(20);
  assert.deepEqual(await groupMembers(group), []);
});
