import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { test } from "node:test";

test("after guardConsole() nothing printed with console reaches stdout", () => {
  const module = new URL("./console.ts", import.meta.url).href;
  const script = `
    import process from "node:process";
    import { guardConsole } from ${JSON.stringify(module)};
    const restore = guardConsole(process.stderr);
    console.log("log"); console.info("info"); console.table([{ a: 1 }]); console.dir({ b: 2 });
    restore();
    console.log("after");
  `;
  const args = ["eval", "--no-lock", script];
  const run = spawnSync(process.execPath, args, { encoding: "utf8" });
  assert.equal(run.stdout, "after\n");
  for (const word of ["log", "info", "a", "b: 2"]) assert.ok(run.stderr.includes(word), run.stderr);
});
