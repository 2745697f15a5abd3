/** What of subagents is on disk: for nobody else, without secrets, and never in the way. */
import assert from "node:assert/strict";
import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { delegate } from "./support/agents.ts";
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
