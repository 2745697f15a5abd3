import { test } from "node:test";
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import process from "node:process";
import { processesOf } from "./leftovers.ts";
import type { Program } from "./program.ts";
import { testProject, withProject } from "./project.ts";

const shell = (script: string): Program => ["/bin/sh", "-c", script, "sh"];

test("a project's environment is its own", () =>
  withProject(async (project) => {
    process.env.AGENT_MODEL = "leak";
    process.env.OPENAI_API_KEY = "leak";
    try {
      const { stdout } = await project.runMm([], { program: shell("env"), env: { MORE: "1" } });
      assert.doesNotMatch(stdout, /leak/u);
      assert.match(stdout, /^MORE=1$/mu);
      assert.match(stdout, new RegExp(`^HOME=${project.home}$`, "mu"));
      assert.match(stdout, new RegExp(`^MM_STATE_DIR=${project.stateDir}$`, "mu"));
    } finally {
      delete process.env.AGENT_MODEL;
      delete process.env.OPENAI_API_KEY;
    }
  }));

test("runMm() gives streams, exit status and signal", () =>
  withProject(async (project) => {
    const script = "cat; echo err >&2; echo $0 $1; exit 3";
    const run = await project.runMm(["-x"], { program: shell(script), stdin: "in\n" });
    assert.deepEqual(run, { code: 3, signal: null, stdout: "in\nsh -x\n", stderr: "err\n" });
    const killed = await project.runMm([], { program: shell("kill -9 $$") });
    assert.deepEqual([killed.code, killed.signal], [null, "SIGKILL"]);
  }));

test("waitForOutput() finds text in order, and says what came when it does not", () =>
  withProject(async (project) => {
    const mm = project.mm([], { program: shell('while read l; do echo "got $l"; done; exit 4') });
    mm.writeLine("a");
    const first = await mm.waitForOutput(/got (\w)/u);
    assert.equal(first.match[1], "a");
    mm.writeLine("b");
    assert.equal((await mm.waitForOutput(/got (\w)/u, { from: first.end })).match[1], "b");
    await assert.rejects(
      mm.waitForOutput("never", { timeoutMs: 30, stream: "stdout" }),
      /Waited 30 ms in vain\. "never" did not come on stdout[\s\S]*still running[\s\S]*got b/u,
    );
    mm.endInput();
    await assert.rejects(mm.waitForOutput("never"), /mm ended; "never" did not come/u);
    assert.deepEqual(await mm.exit, { code: 4, signal: null });
  }));

test("withProject() fails and names a process that was left, and ends it", async () => {
  let mark = "";
  let dir = "";
  const left = withProject(async (project) => {
    [mark, dir] = [project.mark, project.dir];
    await project.runMm([], { program: shell("setsid sleep 300 >/dev/null 2>&1 &") });
  });
  await assert.rejects(left, /1 processes were left running:\n {2}\d+ sleep 300/u);
  assert.deepEqual(await processesOf(mark), []);
  assert.equal(existsSync(dir), false);
});

test("withProject() ends what still runs", async () => {
  let mark = "";
  await withProject(async (project) => {
    mark = project.mark;
    project.mm([], { program: shell("read x; exit 0") });
    assert.equal((await processesOf(mark)).length, 1);
  });
  assert.deepEqual(await processesOf(mark), []);
});

test("withProject() throws what the body threw, and a model server's violations", async () => {
  await assert.rejects(withProject(() => Promise.reject(new Error("body"))), /^Error: body$/u);
  await assert.rejects(
    withProject(async (project) => {
      const server = await project.model();
      await (await fetch(`${server.url}/chat/completions`, { method: "POST", body: "{" })).text();
      throw new Error("body");
    }),
    /^Error: body\n\nand then: [\s\S]*request 1: the body is no JSON/u,
  );
});

test("a project writes, reads and removes its files", async () => {
  const project = await testProject({ files: { "a/b.txt": "text" } });
  assert.equal(await project.read("a/b.txt"), "text");
  assert.equal(project.exists("a"), true);
  await project.close();
  assert.equal(existsSync(project.dir), false);
});
