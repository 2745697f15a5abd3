import assert from "node:assert/strict";
import { once } from "node:events";
import { test } from "node:test";
import { moduleLiteral, runScript, send } from "./script_for_tests.ts";
import { readLines } from "./stdin_lines.ts";

test("a reader that does not read neither stops timers nor signals", async (t) => {
  const started = runScript(
    `
    import { stdoutBytes } from ${moduleLiteral("./stdout_bytes.ts")};
    process.on("SIGTERM", () => { console.error("term"); process.exit(9); });
    let taken = false;
    const writer = stdoutBytes().getWriter();
    writer.write(new Uint8Array(3_000_000)).then(() => taken = true);
    setTimeout(() => console.error("timer " + taken), 100);
    setInterval(() => {}, 1000);
  `,
    { stderr: "pipe" },
  );
  t.after(() => started.kill("SIGKILL"));
  assert.ok(started.stderr !== null);
  const lines = readLines(started.stderr);
  const exited = once(started, "exit", { signal: AbortSignal.timeout(10_000) });
  assert.equal((await lines.next()).value, "timer false");
  send(started, "SIGTERM");
  assert.equal((await lines.next()).value, "term");
  assert.deepEqual(await exited, [9, null]);
});

test("bytes arrive in order, and a write rejects when nobody reads any more", async (t) => {
  const started = runScript(
    `
    import { stdoutBytes } from ${moduleLiteral("./stdout_bytes.ts")};
    process.stdout.on("error", () => {});
    const writer = stdoutBytes().getWriter();
    writer.closed.catch(() => {});
    try {
      for (let i = 0;; i++) await writer.write(new TextEncoder().encode(i + "\\n"));
    } catch (error) {
      console.error(error.code);
      process.exit(0);
    }
  `,
    { stderr: "pipe" },
  );
  t.after(() => started.kill("SIGKILL"));
  assert.ok(started.stderr !== null);
  const numbers = readLines(started.stdout);
  for (let i = 0; i < 5000; i++) assert.equal((await numbers.next()).value, String(i));
  started.stdout.destroy();
  assert.equal((await readLines(started.stderr).next()).value, "EPIPE");
});
