import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { moduleLiteral, runScript, send } from "./script_for_tests.ts";
import { readLines } from "./stdin_lines.ts";

/** A program that says "ready", and on shutdown its reason, then waits as it is told. */
async function program(options: { wait?: number; graceMs?: number; extra?: string } = {}) {
  const started = runScript(
    `
    import { installShutdown } from ${moduleLiteral("./shutdown.ts")};
    const dispose = installShutdown({
      graceMs: ${options.graceMs ?? 5000},
      signals: ["SIGINT", "SIGTERM", "SIGHUP"],
      async onShutdown(reason) {
        console.error("reason " + reason);
        await new Promise((resolve) => setTimeout(resolve, ${options.wait ?? 50}));
        console.error("cleaned up");
      },
    });
    console.error("ready");
    setInterval(() => {}, 1000);
    ${options.extra ?? ""}
  `,
    { stderr: "pipe" },
  );
  const exited = once(started, "exit") as Promise<[number | null, string | null]>;
  assert.ok(started.stderr !== null);
  const lines = readLines(started.stderr);
  const next = async () => (await lines.next()).value;
  assert.equal(await next(), "ready");
  return { started, next, exited };
}

for (const [signal, code] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
  test(`${signal} cleans up, then exits with ${code}`, async () => {
    const { started, next, exited } = await program();
    send(started, signal);
    assert.equal(await next(), `reason ${signal}`);
    assert.equal(await next(), "cleaned up");
    assert.deepEqual(await exited, [code, null]);
  });
}

test("the same signal sent twice at once does not skip the clean-up", async () => {
  const { started, next, exited } = await program();
  send(started, "SIGTERM");
  assert.equal(await next(), "reason SIGTERM");
  send(started, "SIGHUP");
  assert.equal(await next(), "cleaned up");
  assert.deepEqual(await exited, [143, null]);
});

test("a second signal after a while exits at once", async () => {
  const { started, next, exited } = await program({ wait: 60_000, graceMs: 60_000 });
  send(started, "SIGTERM");
  assert.equal(await next(), "reason SIGTERM");
  await delay(400);
  send(started, "SIGINT");
  assert.deepEqual(await exited, [130, null]);
});

test("a clean-up that hangs is bounded by the grace", async () => {
  const { started, exited } = await program({ wait: 60_000, graceMs: 100 });
  const start = performance.now();
  send(started, "SIGTERM");
  assert.deepEqual(await exited, [143, null]);
  assert.ok(performance.now() - start < 2000);
});

test("a reader that goes away ends the program quietly", async () => {
  const { started, next, exited } = await program({
    extra: "setInterval(() => process.stdout.write('x'.repeat(1000)), 5);",
  });
  started.stdout.destroy();
  assert.equal(await next(), "reason stdout");
  assert.equal(await next(), "cleaned up");
  assert.deepEqual(await exited, [141, null]);
  assert.equal(await next(), undefined);
});

test("the handlers can be taken away again", async () => {
  const { started, exited, next } = await program({ extra: 'dispose(); console.error("off");' });
  assert.equal(await next(), "off");
  send(started, "SIGTERM");
  assert.deepEqual(await exited, [null, "SIGTERM"]);
});
