import assert from "node:assert/strict";
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { isGone } from "./group.ts";
import { readLines } from "./stdin_lines.ts";
import { moduleLiteral, runScript } from "./script_for_tests.ts";

/** Starts a program that takes groups into a reaper's care, and returns it with its groups. */
async function program(
  options: { readonly ignoreTerm?: boolean; readonly then?: string } = {},
) {
  const trap = options.ignoreTerm === true ? "trap '' TERM; " : "";
  const started = runScript(`
    import { spawn } from "node:child_process";
    import { createReaper } from ${moduleLiteral("./reaper.ts")};
    const reaper = createReaper();
    const groups = [];
    for (let i = 0; i < 3; i++) {
      const child = spawn("sh", ["-c", ${JSON.stringify(`${trap}echo up; sleep 300; sleep 300`)}], {
        detached: true, stdio: ["ignore", "pipe", "ignore"],
      });
      reaper.add(child.pid);
      groups.push(child.pid);
      await new Promise((resolve) => child.stdout.once("data", resolve));
    }
    reaper.del(groups[0]);
    console.log(JSON.stringify(groups));
    ${options.then ?? "setInterval(() => {}, 1000);"}
  `);
  const lines = readLines(started.stdout);
  const line = async () => {
    const { value } = await lines.next();
    assert.ok(typeof value === "string", "the program ended");
    return JSON.parse(value);
  };
  return { started, line, groups: await line() as [number, number, number] };
}

async function goneWithin(pgid: number, ms: number): Promise<void> {
  const end = performance.now() + ms;
  while (!await isGone(pgid)) {
    assert.ok(performance.now() < end, `group ${pgid} still runs after ${ms} ms`);
    await delay(20);
  }
}

const exited = (child: ChildProcess) => child.exitCode ?? child.signalCode ?? once(child, "exit");

test("a program that is killed with -9 takes its groups along, except those it gave up", async () => {
  const { started, groups: [free, first, second] } = await program();
  try {
    started.kill("SIGKILL");
    await goneWithin(first, 4000);
    await goneWithin(second, 4000);
    assert.ok(!await isGone(free));
  } finally {
    process.kill(-free, "SIGKILL");
  }
});

test("groups that ignore TERM are killed", async () => {
  const { started, groups: [free, first, second] } = await program({ ignoreTerm: true });
  process.kill(-free, "SIGKILL");
  started.kill("SIGKILL");
  await goneWithin(first, 5000);
  await goneWithin(second, 5000);
});

test("a helper ignores signals, and one that was killed is replaced", async () => {
  const { started, line, groups: [free, first, second] } = await program({
    then: `
      const { execFileSync } = await import("node:child_process");
      const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      const helpers = () => execFileSync("ps", ["-axo", "pid=,ppid=,args="], { encoding: "utf8" })
        .split("\\n").map((row) => row.trim().split(/ +/u))
        .filter((row) => Number(row[1]) === process.pid && row.at(-1) === "mm-reaper")
        .map((row) => Number(row[0]));
      await pause(600);
      const [helper] = helpers();
      for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.kill(helper, signal);
      await pause(100);
      const same = helpers().join() === String(helper);
      process.kill(helper, "SIGKILL");
      while (helpers().join() === String(helper) || helpers().length === 0) await pause(10);
      console.log(JSON.stringify({ same }));
      setInterval(() => {}, 1000);
    `,
  });
  try {
    assert.deepEqual(await line(), { same: true });
  } finally {
    process.kill(-free, "SIGKILL");
    started.kill("SIGKILL");
  }
  for (const group of [first, second]) await goneWithin(group, 4000);
});

test("a helper that was killed as soon as it started is replaced a little later", async () => {
  const { started, line, groups: [free, first, second] } = await program({
    then: `
      const { execFileSync } = await import("node:child_process");
      const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
      const helpers = () => execFileSync("ps", ["-axo", "pid=,ppid=,args="], { encoding: "utf8" })
        .split("\\n").map((row) => row.trim().split(/ +/u))
        .filter((row) => Number(row[1]) === process.pid && row.at(-1) === "mm-reaper")
        .map((row) => Number(row[0]));
      // Until one is hit young: how long the start took is not known here.
      const killed = [];
      while (killed.length < 3) {
        for (const helper of helpers()) {
          if (killed.includes(helper)) continue;
          killed.push(helper);
          process.kill(helper, "SIGKILL");
        }
        await pause(10);
      }
      while (!helpers().some((helper) => !killed.includes(helper))) await pause(20);
      console.log(JSON.stringify({ replaced: true }));
      setInterval(() => {}, 1000);
    `,
  });
  try {
    assert.deepEqual(await line(), { replaced: true });
  } finally {
    process.kill(-free, "SIGKILL");
    started.kill("SIGKILL");
  }
  for (const group of [first, second]) await goneWithin(group, 4000);
});

test("a reaper does not keep the program alive, and the groups end with it", async () => {
  const { started, groups: [free, first, second] } = await program({ then: "process.exit(0);" });
  await exited(started);
  assert.equal(started.exitCode, 0);
  process.kill(-free, "SIGKILL");
  await goneWithin(first, 4000);
  await goneWithin(second, 4000);
});

test("a program whose groups are gone ends by itself, and its helper too", async () => {
  const started = runScript(`
    import { createReaper } from ${moduleLiteral("./reaper.ts")};
    const reaper = createReaper();
    reaper.add(2 ** 22 + 5);
    reaper.del(2 ** 22 + 5);
    console.log("done");
  `);
  // Its output ends only when nobody holds it any more, the helper included.
  let text = "";
  for await (const chunk of started.stdout) text += chunk;
  assert.equal(text, "done\n");
  await exited(started);
  assert.equal(started.exitCode, 0);
});

test("close() ends the groups that are left while the program lives on", async () => {
  const { started, groups: [free, first, second] } = await program({
    then: "reaper.close(); setInterval(() => {}, 1000);",
  });
  process.kill(-free, "SIGKILL");
  await goneWithin(first, 4000);
  await goneWithin(second, 4000);
  assert.equal(started.exitCode, null);
  started.kill("SIGKILL");
});
