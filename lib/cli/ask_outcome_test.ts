import { strict as assert } from "node:assert";
import { test } from "node:test";
import type { End } from "../base/ends.ts";
import { jsonLine } from "./ask_outcome.ts";

const base = { agent: "bob", answer: "so far", toolCalls: 2, durationMs: 5 };

test("jsonLine() holds every key of the contract on one line", () => {
  const line = jsonLine({
    ...base,
    end: { kind: "answered" },
    label: "x/y",
    usage: { inputTokens: 1, outputTokens: 2 },
  });
  assert.equal(line.indexOf("\n"), line.length - 1);
  assert.deepEqual(JSON.parse(line), {
    agent: "bob",
    model: "x/y",
    answer: "so far",
    stopReason: "end_turn",
    exit: 0,
    durationMs: 5,
    usage: { inputTokens: 1, outputTokens: 2 },
    toolCalls: 2,
  });
});

const ENDS: readonly [End, string, number, RegExp][] = [
  [{ kind: "incomplete", limit: "output" }, "max_tokens", 4, /output limit/u],
  [{ kind: "incomplete", limit: "turns" }, "max_turn_requests", 4, /turn limit/u],
  [{ kind: "incomplete", limit: "refusal" }, "refusal", 4, /refused/u],
  [{ kind: "refused", by: "depth", reason: "too deep" }, "refused", 3, /too deep/u],
  [{ kind: "cancelled" }, "cancelled", 130, /cancelled/u],
  [{ kind: "timed_out", afterMs: 5000 }, "timed_out", 124, /5 s/u],
  [{ kind: "died", code: null, signal: "SIGKILL", stderr: "" }, "died", 1, /SIGKILL/u],
  [{ kind: "failed", reason: "no server" }, "failed", 1, /no server/u],
];

for (const [end, stopReason, exit, error] of ENDS) {
  test(`jsonLine() says how an ask ended as ${stopReason}`, () => {
    const outcome = JSON.parse(jsonLine({ ...base, end }));
    assert.equal(outcome.stopReason, stopReason);
    assert.equal(outcome.exit, exit);
    assert.match(outcome.error, error);
    assert.equal(outcome.model, null);
    assert.equal(outcome.usage, null);
    assert.equal(outcome.answer, "so far");
  });
}
