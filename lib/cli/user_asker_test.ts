import assert from "node:assert/strict";
import { test } from "node:test";
import type { LineInput } from "./line_input.ts";
import { oneAtATime } from "./one_at_a_time.ts";
import { createPaint } from "./paint.ts";
import { planText } from "./plan_text.ts";
import type { Renderer } from "./render.ts";
import { createUserAsker, readUserAnswer } from "./user_asker.ts";

/** Asks once with an input that gives `line`, `null` for its end, or fails; returns what was shown. */
async function ask(
  next: LineInput["next"],
  question = { question: "Which?", options: ["red", "green"] },
  signal = new AbortController().signal,
) {
  const shown: string[] = [];
  const renderer = {
    lines: (text: string) => void shown.push(text),
    lineTyped: () => {},
  } as unknown as Renderer;
  const asker = createUserAsker({
    input: { next, above: (write) => write(), close: () => {} },
    renderer,
    paint: createPaint(false),
  });
  return { answer: await asker({ ...question, callId: "1" }, { signal }), shown };
}

test("readUserAnswer() takes the number of an option, any other text, and nothing as a refusal", () => {
  const options = ["red", "green"];
  assert.deepEqual(readUserAnswer(" 2 ", options), { kind: "answered", text: "green" });
  assert.deepEqual(readUserAnswer("3", options), { kind: "answered", text: "3" });
  assert.deepEqual(readUserAnswer("0", options), { kind: "answered", text: "0" });
  assert.deepEqual(readUserAnswer("42", []), { kind: "answered", text: "42" });
  assert.deepEqual(readUserAnswer("  ", options), { kind: "declined" });
});

test("a question shows its options numbered, and nothing hidden in them", async () => {
  const { answer, shown } = await ask(() => Promise.resolve("1"), {
    question: "Which\u001b[2J?",
    options: ["red\u202e", "green"],
  });
  assert.deepEqual(answer, { kind: "answered", text: "red\u202e" });
  assert.match(shown[0] ?? "", /^❓ Which.*\n {2}1\. red.*\n {2}2\. green$/u);
  for (const hidden of ["\u001b", "\u202e"]) assert.ok(!shown.join("").includes(hidden));
});

test("an input that ends or fails says that nobody can answer; a cancel withdraws the question", async () => {
  const ended = await ask(() => Promise.resolve(null));
  assert.match(ended.answer.kind === "unavailable" ? ended.answer.reason : "", /input ended/u);
  const broken = await ask(() => Promise.reject(new Error("no terminal")));
  assert.match(broken.answer.kind === "unavailable" ? broken.answer.reason : "", /no terminal/u);
  const cancel = new AbortController();
  const withdrawn = await ask(
    () => {
      cancel.abort();
      return Promise.reject(cancel.signal.reason);
    },
    undefined,
    cancel.signal,
  );
  assert.deepEqual(withdrawn.answer, { kind: "cancelled" });
  assert.deepEqual((await ask(() => Promise.resolve("x"), undefined, cancel.signal)).answer, {
    kind: "cancelled",
  });
});

test("oneAtATime() runs tasks in their order, also after one that failed", async () => {
  const inTurn = oneAtATime();
  const seen: string[] = [];
  const { promise, resolve } = Promise.withResolvers<void>();
  const first = inTurn(async () => {
    await promise;
    seen.push("first");
    throw new Error("it failed");
  });
  const second = inTurn(() => Promise.resolve(seen.push("second")));
  resolve();
  await assert.rejects(first, /it failed/u);
  assert.equal(await second, 2);
  assert.deepEqual(seen, ["first", "second"]);
});

test("planText() marks what is done, under way and to come", () => {
  const entry = (content: string, status: "pending" | "in_progress" | "completed") =>
    ({ content, status, priority: "medium" }) as const;
  const entries = [
    entry("a", "completed"),
    entry("b\u001b[2J", "in_progress"),
    entry("c", "pending"),
  ];
  const text = planText(entries, createPaint(false));
  assert.match(text, /^ {2}\[x\] a\n {2}\[>\] b.*\n {2}\[ \] c$/u);
  assert.ok(!text.includes("\u001b"));
});
