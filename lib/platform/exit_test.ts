import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { moduleLiteral, runScript } from "./script_for_tests.ts";

/** A program that does not end by itself fails the test instead of holding it. */
function exitOf(started: ReturnType<typeof runScript>): Promise<unknown> {
  return once(started, "exit", { signal: AbortSignal.timeout(10_000) });
}

test("exitProcess() loses nothing that was written, however slow the reader is", async () => {
  const started = runScript(`
    import { exitProcess } from ${moduleLiteral("./exit.ts")};
    process.stdout.write("x".repeat(3_000_000) + "end");
    await exitProcess(5);
  `);
  const exited = once(started, "exit");
  await delay(300);
  let length = 0;
  let last = "";
  for await (const chunk of started.stdout) {
    length += chunk.length;
    last = (last + chunk).slice(-3);
  }
  assert.equal(length, 3_000_003);
  assert.equal(last, "end");
  assert.deepEqual(await exited, [5, null]);
});

test("exitProcess() gives up a reader that does not read after the time it was given", async (t) => {
  const started = runScript(`
    import { exitProcess } from ${moduleLiteral("./exit.ts")};
    import { stdoutBytes } from ${moduleLiteral("./stdout_bytes.ts")};
    stdoutBytes().getWriter().write(new Uint8Array(3_000_000)).catch(() => {});
    await exitProcess(6, { flushMs: 200 });
  `);
  t.after(() => started.kill("SIGKILL"));
  assert.deepEqual(await exitOf(started), [6, null]);
  started.stdout.destroy();
});

test("exitProcess() waits for what was written to stdoutBytes()", async () => {
  const started = runScript(`
    import { exitProcess } from ${moduleLiteral("./exit.ts")};
    import { stdoutBytes } from ${moduleLiteral("./stdout_bytes.ts")};
    const writer = stdoutBytes().getWriter();
    writer.write(new Uint8Array(3_000_000));
    writer.write(new Uint8Array(1_000));
    await exitProcess(0);
  `);
  let length = 0;
  for await (const chunk of started.stdout) length += chunk.length;
  assert.equal(length, 3_001_000);
});

test("exitProcess() exits when nobody reads any more", async () => {
  const started = runScript(`
    import { exitProcess } from ${moduleLiteral("./exit.ts")};
    process.stdout.on("error", () => {});
    setTimeout(async () => {
      process.stdout.write("x".repeat(3_000_000));
      await exitProcess(7);
    }, 100);
  `);
  started.stdout.destroy();
  assert.deepEqual(await exitOf(started), [7, null]);
});
