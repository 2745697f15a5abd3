/** An output that cannot be written: mm ends at once and says why, with all that it started. */
import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { test } from "node:test";
import { writeAgents } from "./support/agents.ts";
import { always } from "./support/model_server.ts";
import { type TestProject, withProject } from "./support/project.ts";
import { shell } from "./support/script.ts";

const FULL = "/dev/full";
const NO_SPACE = "mm: Cannot write the answer: no space left on the device\n";
const skip = existsSync(FULL) ? false : `there is no ${FULL} here`;

const withAgents = (body: (p: TestProject) => Promise<void>) =>
  withProject(async (p) => {
    const server = await p.model({ reply: always({ text: "4" }) });
    await writeAgents(p, { server });
    await body(p);
  });

for (
  const { flags, input = "" } of [
    { flags: "-version" },
    { flags: "-check" },
    { flags: "-p hi" },
    { flags: "--ask bob hi" },
    { flags: "--ask bob hi -json" },
    { flags: "-line", input: "hi\n" },
  ]
) {
  test(
    `mm ${flags} ends with 1 and one sentence when its output is on a full disk`,
    { skip },
    () =>
      withAgents(async (p) => {
        const { code, stderr } = await shell(p, `"$@" ${flags} >${FULL}`, { stdin: input });
        assert.equal(code, 1, stderr);
        assert(stderr.endsWith(NO_SPACE), stderr);
        // What bob did before his answer was shown as it happened; nothing unexpected is told.
        assert.equal(stderr.split("mm: ").length, 2, stderr);
      }),
  );
}

test(
  "an error output that cannot be written changes no status",
  { skip },
  () =>
    withAgents(async (p) => {
      const asked = await shell(p, `"$@" --ask bob hi 2>${FULL}`);
      assert.deepEqual([asked.code, asked.stdout], [0, "4\n"]);
      assert.equal((await shell(p, `"$@" -bogus 2>${FULL}`)).code, 2);
    }),
);
