import { strict as assert } from "node:assert";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ModeOptions } from "./command_line.ts";
import { loadAgentConfig } from "./load_agent_config.ts";
import type { Io } from "./mode.ts";

const FLAGS: ModeOptions = { yolo: false, json: false, verbose: false };

async function project() {
  const root = await mkdtemp(join(tmpdir(), "mm-load-"));
  await mkdir(join(root, "here"));
  await mkdir(join(root, "there"));
  await writeFile(join(root, "here", "agent.yaml"), "provider: demo\nacp: {title: Here}\n");
  await writeFile(join(root, "there", "agent.yaml"), "provider: demo\nacp: {title: There}\n");
  const io = (env: Record<string, string> = {}) =>
    ({
      cwd: join(root, "here"),
      env: { MM_CONFIG_DIR: join(root, "user"), ...env },
      err: () => {},
    }) as unknown as Io;
  return { root, io, remove: () => rm(root, { recursive: true }) };
}

test("loadAgentConfig() looks in the directory of -cwd, but reads -config from where mm was started", async () => {
  const { root, io, remove } = await project();
  try {
    const found = await loadAgentConfig({ options: { ...FLAGS, cwd: "../there" }, io: io() });
    assert.equal(found.config.title, "There");
    assert.equal(found.cwd, join(root, "there"));
    const named = await loadAgentConfig({
      options: { ...FLAGS, cwd: "../there", config: "agent.yaml" },
      io: io(),
    });
    assert.equal(named.config.title, "Here");
    assert.equal(named.cwd, join(root, "there"));
  } finally {
    await remove();
  }
});

test("loadAgentConfig() finds the user's configuration under MM_CONFIG_DIR", async () => {
  const { root, io, remove } = await project();
  try {
    await mkdir(join(root, "user", "mm"), { recursive: true });
    await writeFile(join(root, "user", "mm", "agent.yaml"), "provider: demo\nacp: {title: Mine}\n");
    const found = await loadAgentConfig({ options: { ...FLAGS, cwd: ".." }, io: io() });
    assert.equal(found.config.title, "Mine");
  } finally {
    await remove();
  }
});

test("loadAgentConfig() lets -model and -yolo win over the file and the environment", async () => {
  const { io, remove } = await project();
  try {
    const { config } = await loadAgentConfig({
      options: { ...FLAGS, model: "m", yolo: true },
      io: io({ AGENT_MODEL: "n", AGENT_YOLO: "false" }),
    });
    assert.equal(config.model.model, "m");
    assert.equal(config.yolo, true);
  } finally {
    await remove();
  }
});

test("loadAgentConfig() refuses a -cwd that is no directory", async () => {
  const { io, remove } = await project();
  try {
    for (
      const [cwd, why] of [["nowhere", /it does not exist/u], [
        "agent.yaml",
        /not a directory/u,
      ]] as const
    ) {
      await assert.rejects(loadAgentConfig({ options: { ...FLAGS, cwd }, io: io() }), why);
    }
  } finally {
    await remove();
  }
});
