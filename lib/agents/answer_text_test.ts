import assert from "node:assert/strict";
import { test } from "node:test";
import { AnswerText } from "./answer_text.ts";
import type { ChildUpdate } from "./child_connection.ts";

const CALL: ChildUpdate = {
  type: "tool_call",
  status: "pending",
  call: { id: "1", name: "ls", title: "ls", kind: "read", input: {} },
};

function answerOf(...updates: ChildUpdate[]): string {
  const answer = new AnswerText();
  for (const update of updates) answer.note(update);
  return answer.text;
}

test("the answer is the last message, whole", () => {
  assert.equal(
    answerOf(
      { type: "text", messageId: "a", text: "I look. " },
      { type: "text", messageId: "b", text: "It is " },
      { type: "text", messageId: "b", text: "4." },
    ),
    "It is 4.",
  );
});

test("without message ids a tool call begins a new message", () => {
  assert.equal(
    answerOf({ type: "text", text: "I look." }, CALL, { type: "text", text: "It is 4." }),
    "It is 4.",
  );
});

test("an empty last message leaves the one before it", () => {
  assert.equal(answerOf({ type: "text", text: "It is 4." }, CALL, CALL), "It is 4.");
  assert.equal(answerOf(), "");
});

test("thoughts are no part of the answer", () => {
  assert.equal(
    answerOf({ type: "thought", text: "hm" }, { type: "text", text: "yes" }, {
      type: "thought",
      text: "hm",
    }),
    "yes",
  );
});

test("of a message without end only the beginning is kept", () => {
  const answer = new AnswerText(4);
  answer.note({ type: "text", text: "abc" });
  assert.ok(!answer.tooLong);
  answer.note({ type: "text", text: "de" });
  answer.note({ type: "text", text: "f" });
  assert.ok(answer.tooLong);
  assert.equal(answer.text, "abcd");
});
