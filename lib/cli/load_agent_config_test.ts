import { strict as assert } from "node:assert";
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import type { ModeOptions } from "./command_line.ts";
import { loadAgentConfig } from "./load_agent_config.ts";
import type { Io } from "./mode.ts";

const FLAGS: ModeOptions = { defaults: false, yolo: false, json: false, verbose: false };

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

test("loadAgentConfig() reads no file where only the defaults are wanted", async () => {
  const { io, remove } = await project();
  try {
    const { config } = await loadAgentConfig({ options: { ...FLAGS, defaults: true }, io: io() });
    assert.equal(config.file, undefined);
    assert.equal(config.title, undefined);
  } finally {
    await remove();
  }
});

test("loadAgentConfig() narrows the configuration by the subagent that is named, in any case", async () => {
  const { root, io, remove } = await project();
  try {
    const agents = join(root, "here", ".mm", "agents");
    await mkdir(agents, { recursive: true });
    await writeFile(
      join(agents, "lint.md"),
      "---\nname: linter\ndescription: d\ntools: [read, bash]\nmodel: small\n---\nLook for mistakes.\n",
    );
    await writeFile(
      join(root, "here", "agent.yaml"),
      "provider: demo\nmodel: large\ntools: [read, agent]\nstructuredOutput: {schema: {type: object}}\n",
    );
    const load = (agent: string, depth = "1") =>
      loadAgentConfig({
        options: { ...FLAGS, agent },
        io: io({ HOME: join(root, "home"), MM_ASK_DEPTH: depth }),
      }).then(({ config }) => config);
    const linter = await load("LINTER");
    assert.deepEqual(linter.tools, ["read"]);
    assert.equal(linter.model.model, "small");
    assert.equal(linter.title, "linter");
    assert.match(linter.system ?? "", /^Look for mistakes\.\n\nYou are a subagent/u);
    assert.equal(linter.structuredOutput, undefined);
    assert.deepEqual((await load("general-purpose")).tools, ["read", "agent"]);
    assert.deepEqual((await load("general-purpose", "2")).tools, ["read"]);
    const fork = await load("fork");
    assert.deepEqual(fork.tools, ["read", "agent"]);
    assert.equal(fork.structuredOutput, undefined);
    await assert.rejects(load("lintr"), {
      name: "UsageError",
      message: 'There is no subagent "lintr"; the names are explore, general-purpose, linter; ' +
        'did you mean "linter"?',
    });
  } finally {
    await remove();
  }
});

test("loadAgentConfig() says which rules are about an agent that there is not here", async () => {
  const { root, io, remove } = await project();
  try {
    const agents = join(root, "here", ".claude", "agents");
    await mkdir(agents, { recursive: true });
    await writeFile(
      join(agents, "a.md"),
      "---\nname: Reviewer\ndescription: d\n---\nReview the change.\n",
    );
    await writeFile(
      join(root, "here", "agent.yaml"),
      "provider: demo\npermissions: {deny: [reviewer/bash, fork/bash, explore/read, stranger/bash]}\n",
    );
    const said: string[] = [];
    const err = (text: string) => said.push(text);
    await loadAgentConfig({
      options: FLAGS,
      io: { ...io({ HOME: join(root, "home") }), err } as Io,
    });
    assert.deepEqual(said, [
      'mm: The rule "permissions.deny[3]" is about the agent "stranger", which is not in mmConfigs, ' +
      "and no subagent here has that name\n",
    ]);
  } finally {
    await remove();
  }
});
