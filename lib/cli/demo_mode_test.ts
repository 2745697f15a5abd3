import { strict as assert } from "node:assert";
import { spawn } from "node:child_process";
import { access } from "node:fs/promises";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { DEMO_FACT } from "./demo_project.ts";

const CLI = fileURLToPath(new URL("../../cli.ts", import.meta.url));

function demo(env: Record<string, string>) {
  const child = spawn(process.execPath, ["run", "-A", "--no-check", CLI, "-demo"], {
    env: { ...process.env, NO_COLOR: "1", ...env },
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 60_000,
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => void (output += text));
  }
  return new Promise<{ status: number | null; output: string }>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, output }));
  });
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

test("mm -demo shows the three ways to ask and a subagent with real processes and leaves nothing behind", async () => {
  // Overrides that are meant for another agent have no part in it.
  const { status, output } = await demo({ AGENT_MODEL: "other", AGENT_PROVIDER: "llamacpp" });
  assert.equal(status, 0, output);
  assert.match(output, /1\. You ask bob[\s\S]+2\. The model decides[\s\S]+3\. A script asks bob/u);
  assert.match(output, /🔐 ask_agent: [\s\S]+the demo answers for you: allow once/u);
  assert.match(output, /🔐 bob\/bash: cat notes\.txt/u);
  assert(
    output.split("\n").some((line) => line.startsWith("  stdout │ ") && line.includes(DEMO_FACT)),
  );
  assert.match(output, /4\. The model hands a task to a subagent[\s\S]+🔐 agent: general-purpose/u);
  assert.match(output, /✓ general-purpose\/read [\s\S]+\d+ mm -acp -agent general-purpose/u);
  const directory = /The project is in (\S+):/u.exec(output)?.[1] ?? "";
  await assert.rejects(access(directory));
  const pids = [...output.matchAll(/(\d+) mm -acp -config/gu)].map((match) => Number(match[1]));
  const subagent = Number(/(\d+) mm -acp -agent/u.exec(output)?.[1]);
  assert(pids.length >= 2, output);
  // One child serves both asks.
  assert.equal(new Set(pids).size, 1);
  for (const pid of [...pids, subagent]) assert.equal(isAlive(pid), false);
});
