import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { rm } from "node:fs/promises";
import process from "node:process";
import { test } from "node:test";
import { promisify } from "node:util";
import { privateTempDir } from "./directories.ts";
import { launcherPath } from "./launcher.ts";

const run = promisify(execFile);

test("launcherPath() is the executable itself where that starts with nothing else", async () => {
  assert.equal(await launcherPath({ self: ["/opt/mm"], directory: "/none" }), "/opt/mm");
});

test("launcherPath() starts a program with its own arguments, then those it is given", {
  skip: process.platform === "win32",
}, async () => {
  const directory = await privateTempDir("mm-test-");
  try {
    const path = await launcherPath({ self: ["/bin/echo", "it's", "a b"], directory });
    assert.equal((await run(path, ["$HOME", "c  d"])).stdout, "it's a b $HOME c  d\n");
  } finally {
    await rm(directory, { recursive: true });
  }
});

test("launcherPath() sets its variables whatever the environment says", {
  skip: process.platform === "win32",
}, async () => {
  const directory = await privateTempDir("mm-test-");
  try {
    const path = await launcherPath({ self: ["/usr/bin/env"], directory, env: { DEPTH: "2" } });
    for (const env of [{}, { DEPTH: "0" }]) {
      assert.match((await run(path, [], { env })).stdout, /^DEPTH=2$/m);
    }
  } finally {
    await rm(directory, { recursive: true });
  }
});
