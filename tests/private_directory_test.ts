/** The private directory of a process, with the transcript in it, goes when the process goes. */
import assert from "node:assert/strict";
import process from "node:process";
import { existsSync } from "node:fs";
import { mkdir, readdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { bash } from "./support/agents.ts";
import { onUser } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { withProject } from "./support/project.ts";
import { until } from "./support/script.ts";

const skip = process.platform === "win32" ? "there is no helper process there" : false;

test(
  "kill -9 of mm leaves no transcript, also where the path has spaces",
  { skip },
  () =>
    withProject(async (p) => {
      const place = join(dirname(p.dir), "tmp of  mine");
      await mkdir(place);
      await oneAgent(
        p,
        onUser("Go", { toolCalls: [bash('echo "$MM_TRANSCRIPT" > where; sleep 300')] }),
        { yolo: true },
      );
      const mm = p.mm(["-p", "Go"], { env: { TMPDIR: place } });
      await until(() => p.exists("where"));
      const transcript = (await p.read("where")).trim();
      assert.ok(transcript.startsWith(`${place}/mm-`) && existsSync(transcript), transcript);
      mm.signal("SIGKILL");
      await mm.exit;
      await until(() => !existsSync(dirname(transcript)));
      assert.deepEqual((await readdir(place)).filter((name) => name.startsWith("mm-")), []);
    }),
);
