import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import {
  endGroup,
  groupExists,
  groupMembers,
  isGone,
  parseProcStat,
  signalGroup,
} from "./group.ts";

test("parseProcStat() is not confused by the name of a program", () => {
  assert.deepEqual(parseProcStat("12 (a) Z 9 9) S 3 7 7 0 -1 0"), {
    pid: 12,
    ppid: 3,
    pgid: 7,
    ended: false,
  });
  assert.equal(parseProcStat("12 (sh) Z 3 7 7 0")?.ended, true);
  assert.equal(parseProcStat(""), undefined);
  assert.equal(parseProcStat("no stat"), undefined);
});

test("a group's processes are found, and gone after its end", async () => {
  const child = spawn("sh", ["-c", "sleep 300 & sleep 300 & echo up; wait"], {
    detached: true,
    stdio: ["ignore", "pipe", "ignore"],
  });
  const pid = child.pid ?? 0;
  await once(child.stdout, "data");
  const members = await groupMembers(pid);
  assert.equal(members.length, 3);
  assert.ok(members.includes(pid));
  await endGroup(pid, 1000);
  assert.ok(await isGone(pid));
  assert.deepEqual(await groupMembers(pid), []);
});

test("ending a group that is gone does nothing", async () => {
  const child = spawn("true", { detached: true, stdio: "ignore" });
  await once(child, "exit");
  await endGroup(child.pid ?? 0, 1000);
  assert.equal(groupExists(child.pid ?? 0), false);
  assert.equal(signalGroup(child.pid ?? 0, "SIGTERM"), false);
});

test("numbers that would signal other processes than a child's are refused", () => {
  for (const pgid of [0, 1, -1, 1.5, Number.NaN]) {
    assert.throws(() => signalGroup(pgid, "SIGTERM"), RangeError);
  }
});
