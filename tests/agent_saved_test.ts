/** What of subagents is on disk: for nobody else, without secrets, and never in the way. */
import assert from "node:assert/strict";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { runCalls, withStage } from "./support/agent_stage.ts";
import { bash, delegate } from "./support/agents.ts";
import { inOrder } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { withProject } from "./support/project.ts";
import { forSubagent } from "./support/subagents.ts";

/** A key that no pattern knows. */
const KEY = "zq9.very-secret.value";

test("what is saved of a run is the person's alone, and has no key of the environment", () =>
  withProject(async (p) => {
    await oneAgent(p, [
      forSubagent(() => ({ text: `The key is ${KEY}.\n${"x".repeat(30_000)}\nIt is ${KEY}.` })),
      inOrder(
        { toolCalls: [delegate("Look", { description: `Use ${KEY}` })] },
        { text: "I wait." },
        { text: "Done." },
      ),
    ], { yolo: true });
    const { stdout, stderr } = await p.runMm(["-p", "Go"], { env: { SOME_API_KEY: KEY } });
    assert.equal(stdout, "Done.\n", stderr);
    const files = (await readdir(p.stateDir, { recursive: true, withFileTypes: true }))
      .filter((entry) => entry.isFile()).map(({ parentPath, name }) => join(parentPath, name));
    const kinds = [
      /\.agents\.jsonl$/u,
      /results[/\\]task-[0-9a-f]{6}-1\.txt$/u,
      /subagents.*\.jsonl$/u,
    ];
    for (const kind of kinds) assert.ok(files.some((path) => kind.test(path)), `${kind}: ${files}`);
    for (const path of files) {
      assert.ok(!(await readFile(path, "utf8")).includes(KEY), path);
      if (process.platform !== "win32") assert.equal((await stat(path)).mode & 0o777, 0o600, path);
    }
  }));

test("a run does not go on as an agent of mmConfigs that has got its name", () =>
  withStage([
    (request) =>
      request.lastUser.endsWith("Second") && request.last.role === "user"
        ? { toolCalls: [bash("touch ran")] }
        : { text: `I was told: ${request.last.text}` },
  ], async (stage) => {
    await stage.p.write(
      ".mm/agents/helper.md",
      "---\nname: helper\ndescription: Helps\n---\nYou help with all of it.\n",
    );
    const id = await stage.start("First", { subagent_type: "helper" });
    await stage.finish();
    await stage.kill();
    const keys = JSON.parse(await stage.p.read("agent.yaml"));
    const mmConfigs = { helper: { path: "helper.yaml", yolo: true } };
    await stage.p.write("agent.yaml", JSON.stringify({ ...keys, mmConfigs }));
    stage.server.allowNewPrefix(2);
    await stage.open();
    const [sent] = await stage.call(runCalls.send(id, "Second"));
    await stage.finish();
    assert.equal(
      sent,
      `Not sent: ${id} takes no messages: there is no definition "helper" any more`,
    );
    assert.ok(!stage.p.exists("ran"));
  }, { yolo: false, permissions: { allow: ["agent"] } }));
