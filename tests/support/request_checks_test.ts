import { test } from "node:test";
import assert from "node:assert/strict";
import { checkRequests } from "./request_checks.ts";

type Message = Record<string, unknown>;
const system = { role: "system", content: "You help." };
const user = (content: string): Message => ({ role: "user", content });
const assistant = (content: string): Message => ({ role: "assistant", content });
const calls = (...ids: string[]): Message => ({
  role: "assistant",
  content: null,
  tool_calls: ids.map((id) => ({
    id,
    type: "function",
    function: { name: "ls", arguments: "{}" },
  })),
});
const result = (id: string, content = "ok"): Message => ({
  role: "tool",
  tool_call_id: id,
  content,
});

function request(messages: Message[], more: Record<string, unknown> = {}, newPrefix = false) {
  const body = JSON.stringify({ model: "m", messages, stream: true, ...more });
  return { bytes: new TextEncoder().encode(body), newPrefix };
}

/** Asserts that exactly these patterns match the violations, in order. */
function assertFaults(
  requests: ReturnType<typeof request>[],
  patterns: RegExp[],
  secrets: string[] = [],
): void {
  const faults = checkRequests(requests, { secrets });
  assert.equal(faults.length, patterns.length, faults.join("\n"));
  patterns.forEach((pattern, i) => assert.match(faults[i] ?? "", pattern));
}

const turn1 = [system, user("one")];
const turn2 = [...turn1, assistant("1"), user("two")];
const round1 = [...turn1, calls("a", "b"), result("a"), result("b")];

test("checkRequests() accepts turns, tool rounds, asks, marks and retries", () => {
  assertFaults([
    request(turn1),
    request(turn1),
    request(round1),
    request([...round1, assistant("done"), user("two")]),
    request([
      ...round1,
      assistant("done"),
      user("two"),
      assistant("[cancelled]"),
      user("[asked bob (p/m): x]"),
      assistant("[bob's answer]\ny"),
      user("three"),
    ]),
  ], []);
});

test("checkRequests() accepts several conversations mixed on one server", () => {
  assertFaults([
    request(turn1),
    request([user("other")], { model: "n" }),
    request(turn1),
    request(turn2),
    request([user("other"), assistant("x"), user("more")], { model: "n" }),
    request([...turn1, assistant("another answer"), user("two")]),
    request([...turn1, assistant("1"), user("another question")]),
    request([system, user("[asked bob (p/m): x]"), assistant("[bob's answer]\ny"), user("q")]),
  ], []);
});

test("checkRequests() reports roles that do not take turns", () => {
  assertFaults([request([system, user("a"), user("b")])], [
    /right after user/u,
    /neither|opens no/u,
  ]);
  assertFaults([request([system, assistant("a")])], [
    /right after system/u,
    /ends with assistant/u,
    /opens no/u,
  ]);
  assertFaults([request(turn1), request([...turn1, assistant("1"), assistant("[x]"), user("2")])], [
    /right after assistant/u,
  ]);
  assertFaults([request(turn1), request([...turn1, calls("a"), result("a"), user("2")])], [
    /messages\[4\] \(user\): comes right after tool/u,
  ]);
  assertFaults([request([user("a"), system])], [
    /not the first/u,
    /ends with system/u,
    /opens no/u,
  ]);
  assertFaults([request(turn1), request([...turn1, assistant("1")])], [/ends with assistant/u]);
});

test("checkRequests() reports tool results that do not fit their calls", () => {
  const after = (...tail: Message[]) => [request(turn1), request([...turn1, ...tail])];
  assertFaults(after(calls("a", "b"), result("a")), [/ends before the results of "b"/u]);
  assertFaults(after(calls("a", "b"), result("b"), result("a")), [
    /next in call/u,
    /next in call/u,
  ]);
  assertFaults(after(calls("a"), result("a"), result("a")), [/answers no open call/u]);
  assertFaults(after(calls("a", "a"), result("a"), result("a")), [/two calls with one id/u]);
  assertFaults(after(calls("a"), assistant("[x]"), user("y")), [
    /before the results/u,
    /right after assistant/u,
  ]);
});

test("checkRequests() reports empty messages and broken arguments", () => {
  assertFaults([request(turn1), request([...turn1, assistant(" "), user("2")])], [/is empty/u]);
  assertFaults([request([user("")])], [/is empty/u]);
  const broken = {
    role: "assistant",
    content: null,
    tool_calls: [{ id: "a", type: "function", function: { name: "ls", arguments: '{"x' } }],
  };
  assertFaults([request(turn1), request([...turn1, broken, result("a")])], [/no JSON object/u]);
});

test("checkRequests() reports a changed beginning, with the first differing byte", () => {
  const faults = checkRequests([
    request(turn1),
    request([{ role: "system", content: "You help!" }, user("one"), assistant("1"), user("two")]),
  ]);
  assert.equal(faults.length, 1);
  assert.match(faults[0] ?? "", /request 2: neither continues.*against request 1/u);
  assert.match(faults[0] ?? "", /byte 37: .*You help\..* became .*You help!/u);
});

test("checkRequests() compares bytes, not meanings", () => {
  const before = new TextEncoder().encode(
    '{"model":"m","messages":[{"role":"user","content":"é"}]}',
  );
  const after = new TextEncoder().encode(
    '{"model":"m","messages":[{"role":"user","content":"\\u00e9"},' +
      '{"role":"assistant","content":"1"},{"role":"user","content":"2"}]}',
  );
  assertFaults([{ bytes: before, newPrefix: false }, { bytes: after, newPrefix: false }], [
    /neither continues/u,
  ]);
});

test("checkRequests() reports tools that changed or moved during a conversation", () => {
  const tool = (name: string) => ({ type: "function", function: { name } });
  assertFaults([
    request(turn1, { tools: [tool("a"), tool("b")] }),
    request(turn2, { tools: [tool("b"), tool("a")] }),
  ], [/changed model or changed tools/u]);
  assertFaults([request(turn1), request(turn2, { model: "n" })], [/changed model/u]);
});

test("checkRequests() reports a tool result that was changed afterwards", () => {
  const changed = [...turn1, calls("a", "b"), result("a"), result("b", "cleared")];
  assertFaults(
    [request(turn1), request(round1), request([...changed, assistant("x"), user("y")])],
    [
      /does not go on as request 2 did: messages\[4\] \(tool\) was changed/u,
    ],
  );
});

test("checkRequests() reports an answer that was rewritten afterwards", () => {
  assertFaults([
    request(turn1),
    request(turn2),
    request([...turn1, assistant("shorter"), user("two"), assistant("2"), user("three")]),
  ], [/holds 2 answers of the model/u]);
});

test("checkRequests() reports a question that was changed afterwards", () => {
  assertFaults([
    request(turn1),
    request([...turn1, assistant("1"), user("two, with a hook's words")]),
    request([...turn2, assistant("2"), user("three")]),
  ], [/messages\[3\] \(user\) was changed/u]);
});

test("checkRequests() accepts a new beginning that was announced", () => {
  assertFaults([
    request(turn1),
    request([system, user("summary"), assistant("1"), user("two")], {}, true),
    request([system, user("summary"), assistant("1"), user("two"), assistant("2"), user("3")]),
  ], []);
});

test("checkRequests() reports text that is not well formed", () => {
  assertFaults([request([user("half \ud83d")])], [/lone surrogate in messages\.0\.content/u]);
  const bytes = new Uint8Array([...new TextEncoder().encode('{"messages":["'), 0xff, 0x22, 0x5d]);
  assertFaults([{ bytes, newPrefix: false }], [/not valid UTF-8/u]);
  assertFaults([{ bytes: new TextEncoder().encode("{"), newPrefix: false }], [/no JSON object/u]);
});

test("checkRequests() reports a secret without repeating it", () => {
  const faults = checkRequests([request([user('key is "sk\\secret"')])], {
    secrets: ["sk\\secret", "absent"],
  });
  assert.equal(faults.length, 1);
  assert.match(faults[0] ?? "", /holds a secret at byte \d+$/u);
  assert.doesNotMatch(faults[0] ?? "", /secret"/u);
});
