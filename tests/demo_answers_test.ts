/** The guided first run on a terminal, where a person answers: a no is an answer like any other. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withProject } from "./support/project.ts";
import { noPty, startInPty } from "./support/pty.ts";

const ANSWER = "never for this session > ";

for (
  const { answers, says, subagent } of [
    { answers: ["n"], says: "You said no, so bob was not asked.", subagent: "y" },
    { answers: ["y", "n"], says: "You said no, so bob's command did not run.", subagent: "n" },
  ]
) {
  test(
    `-demo goes on after the answers ${answers.join(", ")}, and ends with 0`,
    { skip: noPty },
    () =>
      withProject(async (p) => {
        const mm = startInPty(p, ["-demo"]);
        let from = 0;
        for (const answer of answers) {
          from = (await mm.waitForOutput(ANSWER, { from })).end;
          mm.write(`${answer}\r`);
        }
        from = (await mm.waitForOutput(says, { from })).end;
        from = (await mm.waitForOutput(ANSWER, { from })).end;
        mm.write(`${subagent}\r`);
        const made = subagent === "y" ? "general-purpose/read" : "so no subagent was started";
        await mm.waitForOutput(made, { from });
        await mm.waitForOutput("Those were all four. What to do next:", { from });
        await mm.exit;
        assert.match(mm.output, /status 0\r\n$/);
        assert.match(mm.output, /3\. A script asks bob[\s\S]+exit status 0/);
        assert.doesNotMatch(mm.output, /did not work|Not everything/);
      }),
  );
}
