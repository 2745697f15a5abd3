import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { ToolCallView } from "../base/tool_call.ts";
import type { EngineEvent } from "../engine/events.ts";
import { createPaint } from "./paint.ts";
import { createRenderer, type RendererOptions } from "./render.ts";
import { createScreen } from "./screen.ts";

function oneScreen(options: Partial<RendererOptions> = {}) {
  let shown = "";
  const renderer = createRenderer({
    screen: createScreen({ side: (text) => void (shown += text) }),
    paint: createPaint(false),
    verbose: false,
    cwd: "/work",
    ...options,
  });
  return { renderer, shown: () => shown };
}

function rendered(events: readonly EngineEvent[], options: Partial<RendererOptions> = {}): string {
  const { renderer, shown } = oneScreen(options);
  for (const event of events) renderer.event(event);
  renderer.endTurn({ kind: "answered" });
  return shown();
}

function twoStreams(options: { shared: boolean; rawAnswer: boolean }) {
  const shown: [string, string][] = [];
  const renderer = createRenderer({
    screen: createScreen({
      side: (text) => void shown.push(["side", text]),
      answer: (text) => void shown.push(["answer", text]),
      shared: options.shared,
    }),
    paint: createPaint(false),
    rawAnswer: options.rawAnswer,
    verbose: false,
    cwd: "/work",
  });
  const of = (stream: string) => shown.filter(([s]) => s === stream).map(([, t]) => t).join("");
  return { renderer, of, all: () => shown.map(([, text]) => text).join("") };
}

function call(over: Partial<ToolCallView> = {}): ToolCallView {
  return { id: "1", name: "bash", title: "npm test", kind: "execute", input: {}, ...over };
}

const text = (words: string, over: { agent?: string; messageId?: string } = {}): EngineEvent => ({
  type: "text",
  messageId: "m",
  text: words,
  ...over,
});

test("createRenderer() streams answer text as it is and ends its last line", () => {
  assert.equal(
    rendered([text("Hello "), text("world\n\n- a\n"), text("- b")]),
    "Hello world\n\n- a\n- b\n",
  );
});

test("createRenderer() begins another message on a new line", () => {
  const two = [text("one", { messageId: "a" }), text("\n\ntwo", { messageId: "b" })];
  assert.equal(rendered(two), "one\ntwo\n");
});

test("createRenderer() marks every line of a thought", () => {
  assert.equal(
    rendered([{ type: "thought", messageId: "t", text: "hm\nyes" }, text("Yes")]),
    "┆ hm\n┆ yes\nYes\n",
  );
});

test("createRenderer() shows a call on one line and the first line of its result", () => {
  assert.equal(
    rendered([
      text("Let me see"),
      { type: "tool_call", call: call() },
      { type: "tool_update", callId: "1", status: "in_progress" },
      { type: "tool_output", callId: "1", text: "hidden without -verbose" },
      { type: "tool_update", callId: "1", status: "completed", text: "\n12 passed\nin 3 s\n" },
    ]),
    "Let me see\n● bash npm test\n✓ bash · 12 passed (1 more line)\n",
  );
});

test("createRenderer() shows the output of commands with verbose", () => {
  assert.equal(
    rendered([
      { type: "tool_call", call: call() },
      { type: "tool_output", callId: "1", text: "one\ntw" },
      { type: "tool_output", callId: "1", text: "o" },
      { type: "tool_update", callId: "1", status: "failed", text: "exit status 1" },
    ], { verbose: true }),
    "● bash npm test\n  │ one\n  │ two\n✗ bash · exit status 1\n",
  );
});

test("createRenderer() says which call ended while others run", () => {
  const shown = rendered([
    { type: "tool_call", call: call() },
    { type: "tool_call", call: call({ id: "2", title: "ls" }) },
    { type: "tool_update", callId: "2", status: "completed", text: "a" },
    { type: "tool_update", callId: "1", status: "completed", text: "b" },
  ]);
  assert.equal(shown, "● bash npm test\n● bash ls\n✓ bash ls · a\n✓ bash · b\n");
});

test("createRenderer() shows a change once, cut with the number of lines left out", () => {
  const newText = Array.from({ length: 60 }, (_, i) => `line ${i}\n`).join("");
  const diff = { path: "/work/src/a.ts", oldText: null, newText };
  const events: EngineEvent[] = [
    { type: "tool_call", call: call({ name: "write", title: "src/a.ts", diffs: [diff] }) },
    { type: "tool_update", callId: "1", status: "completed", text: "Wrote it" },
  ];
  const shown = rendered(events);
  assert.match(shown, /✓ write · Wrote it\n {2}src\/a\.ts \(new file\)\n {2}\+line 0\n/u);
  assert.match(shown, /\+line 39\n {2}… 20 more lines\n$/u);
  const asked = oneScreen();
  for (const event of events.slice(0, 1)) asked.renderer.event(event);
  asked.renderer.changeShown("1");
  for (const event of events.slice(1)) asked.renderer.event(event);
  assert.doesNotMatch(asked.shown(), /line 0/u);
});

test("createRenderer() shows each change of work in the background on one line, and no wait that has its question", () => {
  const task = {
    type: "task",
    taskId: "task-1f09ab",
    agent: "explore",
    description: "Find\x1b[2J it",
  } as const;
  assert.equal(
    rendered([
      { ...task, state: "queued" },
      { ...task, state: "running" },
      { ...task, state: "parked" },
      { ...task, state: "running" },
      { ...task, state: "ended", end: { kind: "answered" } },
      { ...task, state: "running" },
      { ...task, state: "ended", end: { kind: "failed", reason: "no\nmodel" } },
    ]),
    [
      "⧗ explore (task-1f09ab) waits for a slot (agents.maxParallel)",
      "▸ explore (task-1f09ab) started: Find\\x1b[2J it",
      "✓ explore (task-1f09ab) ended: Find\\x1b[2J it",
      "▸ explore (task-1f09ab) started: Find\\x1b[2J it",
      "✗ explore (task-1f09ab) failed: no model",
      "",
    ].join("\n"),
  );
});

test("createRenderer() labels the words of an agent asked by a person", () => {
  assert.equal(
    rendered([
      { type: "ask_start", askId: "a", agent: "bob", title: "The reviewer" },
      { type: "thought", messageId: "t", text: "hm", agent: "bob" },
      text("Yes,\nbut", { agent: "bob" }),
      text(" no", { agent: "bob" }),
      { type: "ask_end", askId: "a", agent: "bob", end: { kind: "answered" }, label: "x/y" },
    ]),
    "▸ asking bob (The reviewer)\nbob │ ┆ hm\nbob │ Yes,\nbob │ but no\n◂ bob answered (x/y)\n",
  );
});

test("createRenderer() labels the words and indents the calls of an agent asked by the model", () => {
  assert.equal(
    rendered([
      { type: "tool_call", call: call({ name: "ask_agent", title: "bob: review" }) },
      { type: "ask_start", askId: "a", agent: "bob", title: "bob", callId: "1" },
      { type: "tool_output", callId: "1", text: "Looking" },
      { type: "tool_call", call: call({ id: "2", name: "bob/bash", title: "ls", parentId: "1" }) },
      { type: "tool_update", callId: "2", status: "completed", text: "a.ts" },
      { type: "tool_output", callId: "1", text: "Fine" },
      { type: "ask_end", askId: "a", agent: "bob", end: { kind: "answered" } },
      { type: "tool_update", callId: "1", status: "completed", text: "Fine" },
    ]),
    [
      "● ask_agent bob: review",
      "▸ asking bob",
      "bob │ Looking",
      "  ● bob/bash ls",
      "  ✓ bob/bash ls · a.ts",
      "bob │ Fine",
      "◂ bob answered",
      "✓ ask_agent · Fine",
      "",
    ].join("\n"),
  );
});

test("createRenderer() keeps the lines of agents that speak at the same time whole", () => {
  const shown = rendered([
    { type: "ask_start", askId: "a", agent: "bob", title: "bob" },
    { type: "ask_start", askId: "b", agent: "ann", title: "ann" },
    text("one ", { agent: "bob" }),
    text("uno ", { agent: "ann" }),
    text("two\nthr", { agent: "bob" }),
    text("dos", { agent: "ann" }),
    { type: "ask_end", askId: "b", agent: "ann", end: { kind: "answered" } },
    text("ee", { agent: "bob" }),
    { type: "ask_end", askId: "a", agent: "bob", end: { kind: "answered" } },
  ]);
  assert.equal(
    shown,
    "▸ asking bob\n▸ asking ann\nbob │ one two\nann │ uno dos\n◂ ann answered\n" +
      "bob │ three\n◂ bob answered\n",
  );
});

test("createRenderer() says once how a failed ask and its turn ended", () => {
  const { renderer, shown } = oneScreen();
  const end = { kind: "died", code: null, signal: "SIGKILL", stderr: "" } as const;
  renderer.event({ type: "ask_start", askId: "a", agent: "bob", title: "bob" });
  renderer.event({ type: "ask_end", askId: "a", agent: "bob", end });
  renderer.endTurn(end);
  assert.equal(shown(), "▸ asking bob\n✗ bob was killed by SIGKILL\n");
  renderer.endTurn({ kind: "cancelled" });
  assert.match(shown(), /◂ The turn was cancelled\n$/u);
});

const ESCAPE = "\x1b]0;owned\x07\x1b[2J\x1b[31mred\x07\r!";
test("createRenderer() lets no escape of a model, a tool or an agent reach the terminal", () => {
  const hostile: EngineEvent[] = [
    text(ESCAPE),
    { type: "thought", messageId: "t", text: ESCAPE },
    { type: "tool_call", call: call({ name: ESCAPE, title: ESCAPE }) },
    { type: "tool_output", callId: "1", text: ESCAPE },
    {
      type: "tool_update",
      callId: "1",
      status: "completed",
      text: ESCAPE,
      diffs: [{ path: `/work/${ESCAPE}`, oldText: ESCAPE, newText: ESCAPE + ESCAPE }],
    },
    { type: "notice", severity: "warning", text: ESCAPE },
    { type: "ask_start", askId: "a", agent: ESCAPE, title: ESCAPE },
    text(ESCAPE, { agent: ESCAPE }),
    {
      type: "ask_end",
      askId: "a",
      agent: ESCAPE,
      label: ESCAPE,
      end: { kind: "failed", reason: ESCAPE },
    },
  ];
  const shown = rendered(hostile, { verbose: true });
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(shown, /[\0-\x08\x0b-\x1f\x7f-\x9f]/u);
});

test("createRenderer() takes out an escape that comes in two pieces", () => {
  assert.equal(rendered([text("a\x1b"), text("[31mb")]), "ab\n");
});

test("createRenderer() colours only with colours allowed", () => {
  const shown = rendered([{ type: "notice", severity: "error", text: "no" }], {
    paint: createPaint(true),
  });
  assert.equal(shown, "\x1b[31m✗ no\x1b[39m\n");
});

test("createRenderer() with an answer stream keeps everything else off it", () => {
  const { renderer, of } = twoStreams({ shared: false, rawAnswer: true });
  renderer.event(text("one"));
  renderer.event({ type: "tool_call", call: call() });
  renderer.event({ type: "notice", severity: "info", text: "wait" });
  renderer.event(text("two", { messageId: "n" }));
  renderer.endTurn({ kind: "cancelled" });
  assert.equal(of("answer"), "one\ntwo\n");
  assert.equal(of("side"), "● bash npm test\nwait\n◂ The turn was cancelled\n");
});

test("createRenderer() with an answer stream that is no terminal passes the answer unchanged", () => {
  const { renderer, of } = twoStreams({ shared: false, rawAnswer: true });
  renderer.event(text("\x1b[31mred\x1b[0m\r\n"));
  renderer.endTurn({ kind: "answered" });
  assert.equal(of("answer"), "\x1b[31mred\x1b[0m\r\n");
});

test("createRenderer() keeps lines apart where both streams share one terminal", () => {
  const { renderer, all } = twoStreams({ shared: true, rawAnswer: false });
  renderer.event(text("one"));
  renderer.event({ type: "tool_call", call: call() });
  renderer.event(text("\x1b[31mtwo", { messageId: "n" }));
  renderer.event({ type: "thought", messageId: "t", text: "hm" });
  renderer.event(text("three", { messageId: "o" }));
  renderer.endTurn({ kind: "answered" });
  assert.equal(all(), "one\n● bash npm test\ntwo\n┆ hm\nthree\n");
});

test("createRenderer() shows what an asked agent says of its call later, once", () => {
  const view = call({ name: "bob/execute", title: "Terminal" });
  const update = (status: "pending" | "completed", more?: ToolCallView): EngineEvent => ({
    type: "tool_update",
    callId: "1",
    status,
    ...(more === undefined ? {} : { call: more }),
  });
  assert.equal(
    rendered([
      { type: "tool_call", call: view },
      update("pending", { ...view, title: "ls -la" }),
      update("pending", { ...view, title: "ls -la" }),
      update("completed"),
    ]),
    "● bob/execute Terminal\n  ls -la\n✓ bob/execute\n",
  );
});
