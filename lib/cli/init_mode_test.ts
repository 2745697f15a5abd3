import { strict as assert } from "node:assert";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { UsageError } from "../base/errors.ts";
import { loadConfig } from "../config/load.ts";
import { runInitMode } from "./init_mode.ts";
import { createLifetime, type Io } from "./mode.ts";

async function init(directory: string): Promise<{ status: number; output: string }> {
  let output = "";
  const io = {
    env: {},
    cwd: directory,
    out: (text: string) => void (output += text),
  } as unknown as Io;
  const status = await runInitMode({
    mode: { kind: "init" },
    options: { defaults: false, yolo: false, json: false, verbose: false },
    io,
    lifetime: createLifetime(),
  });
  return { status, output };
}

async function inDirectory(run: (directory: string) => Promise<void>): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "mm-init-"));
  try {
    await run(directory);
  } finally {
    await rm(directory, { recursive: true });
  }
}

test("runInitMode() writes a configuration that loads, whether or not it finds a server", async () => {
  await inDirectory(async (directory) => {
    const { status, output } = await init(directory);
    assert.equal(status, 0);
    assert(output.includes(`Wrote "${join(directory, "agent.yaml")}"`));
    const config = await loadConfig({ cwd: directory, env: {}, configDir: directory });
    assert.equal(config.file, join(directory, "agent.yaml"));
    assert.notEqual(config.model.provider, undefined);
  });
});

test("runInitMode() never overwrites, and names the file it keeps", async () => {
  await inDirectory(async (directory) => {
    const path = join(directory, "agent.yaml");
    await writeFile(path, "mine");
    await assert.rejects(init(directory), (error) => {
      assert(error instanceof UsageError);
      assert(error.message.includes(path));
      return true;
    });
    assert.equal(await readFile(path, "utf8"), "mine");
  });
});
