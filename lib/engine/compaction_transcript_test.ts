import assert from "node:assert/strict";
import { test } from "node:test";
import type { Message } from "../model/types.ts";
import { shortenResults } from "./compaction_shorten.ts";
import { summaryTranscript } from "./compaction_transcript.ts";
import { summaryPair } from "./compaction_words.ts";

const messages: Message[] = [
  { role: "user", text: "Look", images: [{ mimeType: "image/png", data: "AAAA" }] },
  {
    role: "assistant",
    text: "I look.",
    toolCalls: [{ id: "1", name: "ls", arguments: '{"path":"src"}' }],
  },
  { role: "tool", callId: "1", name: "ls", text: "a.ts" },
  { role: "assistant", text: "One file." },
];

test("summaryTranscript() tells who said what, calls with their arguments and results", () => {
  assert.equal(
    summaryTranscript(messages, 10_000),
    'User: Look\n[an image]\n\nAgent: I look.\nAgent calls ls: {"path":"src"}\n\n' +
      "Result of ls: a.ts\n\nAgent: One file.",
  );
});

test("summaryTranscript() shortens results first, then texts", () => {
  const long: Message[] = [
    { role: "user", text: "q".repeat(3000) },
    { role: "tool", callId: "1", name: "ls", text: "r".repeat(9000) },
  ];
  const results = summaryTranscript(long, 5000);
  assert.ok(results.includes("q".repeat(3000)));
  assert.ok(results.length <= 5000);
  assert.match(results, /characters left out/u);
  const texts = summaryTranscript(long, 1500);
  assert.ok(texts.length <= 1500);
  assert.match(texts, /^User: q+\n\[\.\.\. \d+ of 3000/u);
});

test("summaryTranscript() leaves the oldest parts out with a line, and keeps an earlier summary", () => {
  const many: Message[] = [
    ...summaryPair("What came before."),
    ...Array.from(
      { length: 100 },
      (_, n): Message => ({ role: "user", text: `part ${n} ` + "x".repeat(100) }),
    ),
  ];
  const text = summaryTranscript(many, 1000);
  assert.ok(text.length <= 1000, `${text.length}`);
  assert.match(
    text,
    /^Summary of what came before:\nWhat came before\.\n\n\[The oldest \d+ of 100 parts/u,
  );
  assert.match(text, /part 99 x+$/u);
  assert.doesNotMatch(text, /part 5 /u);
});

test("summaryTranscript() says something of a part that does not fit as a whole", () => {
  const text = summaryTranscript([{ role: "user", text: "y".repeat(100_000) }], 500);
  assert.ok(text.length <= 500);
  assert.match(text, /yyy/u);
});

test("shortenResults() cuts the longest results alone, to one length", () => {
  const result = (text: string): Message => ({ role: "tool", callId: "1", name: "ls", text });
  const short = shortenResults(
    [result("a".repeat(400)), result("b".repeat(5000)), result("c".repeat(9000))],
    2400,
  );
  assert.deepEqual(short.map(({ text }) => text.length), [400, 1000, 1000]);
  assert.deepEqual(shortenResults(messages, 0), messages);
});
