import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ToolCallView } from "../base/tool_call.ts";
import { createPaint } from "./paint.ts";
import { questionText, readAnswer } from "./permission_text.ts";

function question(over: Partial<ToolCallView>): string {
  const call: ToolCallView = {
    id: "1",
    name: "bash",
    title: "npm test",
    kind: "execute",
    input: { command: "npm test" },
    ...over,
  };
  return questionText({ call, agent: "", cwd: "/work" }, createPaint(false));
}

test("questionText() shows the tool, the command and the directory", () => {
  assert.equal(question({}), "🔐 bash: npm test (in /work)");
});

test("questionText() shows a command of several lines whole", () => {
  assert.equal(
    question({ title: "cd x; make", input: { command: "cd x\nmake", timeout: 60 } }),
    "🔐 bash: cd x; make (in /work)\n  command:\n    cd x\n    make\n  timeout: 60",
  );
});

test("questionText() shows a long command whole, whatever the title shows of it", () => {
  const command = `echo ${"x".repeat(3000)}; rm -rf y`;
  assert(question({ title: command, input: { command } }).endsWith("; rm -rf y"));
});

test("questionText() shows the whole change instead of the arguments", () => {
  const text = question({
    name: "bob/edit",
    title: "a.ts",
    input: { path: "a.ts", new_string: "two" },
    diffs: [{ path: "/work/a.ts", oldText: "one\n", newText: "two\n" }],
  });
  assert.equal(text, "🔐 bob/edit: a.ts (in /work)\n  a.ts\n  @@ -1,1 +1,1 @@\n  -one\n  +two");
});

test("questionText() writes control characters and direction marks out", () => {
  const command = "ls \x1b[8m; rm -rf x\x1b[0m \u202e";
  const text = question({ title: command, input: { command: `${command}\r#` } });
  assert.match(text, /ls \\x1b\[8m; rm -rf x\\x1b\[0m \\u\{202e\}\\x0d#$/u);
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(text, /[\x1b\r\u202e]/u);
});

test("readAnswer() knows the four answers and nothing else", () => {
  assert.deepEqual(readAnswer(" Y "), { kind: "allow_once" });
  assert.deepEqual(readAnswer("s"), { kind: "allow_session" });
  assert.deepEqual(readAnswer("no"), { kind: "reject_once" });
  assert.deepEqual(readAnswer("never"), { kind: "reject_session" });
  for (const other of ["", "ok", "yy", "always", "1"]) assert.equal(readAnswer(other), undefined);
});
