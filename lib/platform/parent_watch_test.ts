import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { test } from "node:test";
import { moduleLiteral, runScript, scriptCommand } from "./script_for_tests.ts";
import { readLines } from "./stdin_lines.ts";

const WATCHER = `
  import { watchParent } from ${moduleLiteral("./parent_watch.ts")};
  watchParent({ intervalMs: 50, onGone() { console.log("gone"); process.exit(0); } });
  console.log("watching");
  setInterval(() => {}, 1000);
`;

test("an orphan notices that its parent is gone", async () => {
  const [exec, ...args] = scriptCommand(WATCHER);
  // The shell stays the parent: it has something left to do.
  const shell = spawn("sh", ["-c", '"$@"; echo never', "sh", exec, ...args], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const lines = readLines(shell.stdout);
  assert.equal((await lines.next()).value, "watching");
  const start = performance.now();
  shell.kill("SIGKILL");
  assert.equal((await lines.next()).value, "gone");
  assert.ok(performance.now() - start < 1000);
});

test("a watch reports nothing while the parent lives, and keeps no program alive", async () => {
  const started = runScript(
    WATCHER.replace("setInterval(() => {}, 1000)", "setTimeout(() => {}, 200)"),
  );
  const exited = once(started, "exit");
  let text = "";
  for await (const chunk of started.stdout) text += chunk;
  assert.equal(text, "watching\n");
  assert.deepEqual(await exited, [0, null]);
});
