/** The guided first run on a terminal, where a person answers: a no is an answer like any other. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { withProject } from "./support/project.ts";
import { noPty, startInPty } from "./support/pty.ts";

const ANSWER = "never for this session > ";

for (
  const { answers, says } of [
    { answers: ["n"], says: "You said no, so bob was not asked." },
    { answers: ["y", "n"], says: "You said no, so bob's command did not run." },
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
        await mm.waitForOutput(says, { from });
        await mm.waitForOutput("Those were all three. What to do next:", { from });
        await mm.exit;
        assert.match(mm.output, /status 0\r\n$/);
        assert.match(mm.output, /3\. A script asks bob[\s\S]+exit status 0/);
        assert.doesNotMatch(mm.output, /did not work|Not everything/);
      }),
  );
}
