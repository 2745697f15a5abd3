import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ToolCallView } from "../base/tool_call.ts";
import { createPaint } from "./paint.ts";
import { answerPrompt, questionText, readAnswer } from "./permission_text.ts";

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

const LAUNCH = {
  name: "agent",
  title: "explore: Find the retry",
  kind: "other",
  note: "in the background",
  input: {
    prompt: "Look.\nReport.",
    run_in_background: true,
    isolation: "worktree",
    description: "Find the retry",
    subagent_type: "explore",
  },
} as const;

test("questionText() shows a call of agent without repeating: where it runs, and its task last", () => {
  assert.equal(
    question(LAUNCH),
    "🔐 agent: explore: Find the retry (in /work)\n  in the background\n  isolation: worktree\n" +
      "  prompt:\n    Look.\n    Report.",
  );
  // What the title cuts off is shown.
  const description = "d".repeat(300);
  const cut = question({
    ...LAUNCH,
    title: `explore: ${"d".repeat(150)}…`,
    input: { ...LAUNCH.input, description },
  });
  assert.ok(cut.includes(`\n  description: ${description}\n`), cut);
  // Of any other tool these are arguments like others.
  assert.match(question({ ...LAUNCH, name: "mcp__x__y" }), /description: Find the retry/u);
});

test("questionText() says what a run in the background is about, and which rule asks each time", () => {
  const call = { id: "1", name: "bob/bash", title: "ls", kind: "execute", input: {} } as const;
  const text = questionText({
    call,
    agent: "bob",
    cwd: "/work",
    taskId: "task-1f09ab",
    taskDescription: "Find\x1b it",
    mustAsk: 'the rule "bash" of permissions.ask',
  }, createPaint(false));
  assert.equal(
    text,
    '🔐 bob/bash: ls (in /work, in the background: task-1f09ab "Find\\x1b it")\n' +
      '  asked each time: the rule "bash" of permissions.ask wants a person',
  );
});

test("answerPrompt() says what leave for the session is for", () => {
  const call = { id: "1", name: "bob/bash", title: "ls", kind: "execute", input: {} } as const;
  const asked = { call, agent: "bob", cwd: "/work" };
  assert.equal(
    answerPrompt(asked),
    "  y once, s every call of bob/bash this session, n reject, never for this session > ",
  );
  assert.match(
    answerPrompt({ ...asked, mustAsk: "a rule" }),
    /s any other call of bob\/bash too,/u,
  );
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
