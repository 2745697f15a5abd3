import assert from "node:assert/strict";
import { test } from "node:test";
import { colorAllowed, terminalInfo } from "./terminal.ts";
import { moduleLiteral, runScript } from "./script_for_tests.ts";

test("colours follow FORCE_COLOR, then NO_COLOR, then the terminal", () => {
  assert.equal(colorAllowed({ TERM: "xterm" }, true), true);
  assert.equal(colorAllowed({ TERM: "xterm" }, false), false);
  assert.equal(colorAllowed({ TERM: "dumb" }, true), false);
  assert.equal(colorAllowed({ NO_COLOR: "1" }, true), false);
  assert.equal(colorAllowed({ NO_COLOR: "" }, true), true);
  assert.equal(colorAllowed({ FORCE_COLOR: "1", NO_COLOR: "1" }, false), true);
  assert.equal(colorAllowed({ FORCE_COLOR: "" }, false), true);
  assert.equal(colorAllowed({ FORCE_COLOR: "0" }, true), false);
});

test("the width of a terminal that nobody knows is what COLUMNS says, else 80", async () => {
  for (const [COLUMNS, width] of [["120", 120], ["-3", 80], ["wide", 80]] as const) {
    const started = runScript(
      `
      import { terminalInfo } from ${moduleLiteral("./terminal.ts")};
      console.log(JSON.stringify(terminalInfo({ env: { COLUMNS: ${JSON.stringify(COLUMNS)} } })));
    `,
      { stderr: "pipe" },
    );
    let text = "";
    for await (const chunk of started.stdout) text += chunk;
    assert.deepEqual(JSON.parse(text), {
      stdinIsTerminal: false,
      stdoutIsTerminal: false,
      stderrIsTerminal: false,
      columns: width,
      stdoutColor: false,
      stderrColor: false,
    });
  }
});

test("terminalInfo() tells facts of this process", () => {
  const info = terminalInfo({ env: { FORCE_COLOR: "1" } });
  assert.ok(info.columns > 0);
  assert.equal(info.stdoutColor, true);
});
