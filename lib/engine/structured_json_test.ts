import assert from "node:assert/strict";
import { test } from "node:test";
import { findJson, notJson } from "./structured_json.ts";

const texts = (answer: string) => findJson(answer).map(({ text }) => text);

test("an answer that is JSON is taken as it stands, white space around it aside", () => {
  for (const json of ['{"a": 1}', "[1,2]", '"text"', "12", "null", '{"a":"```json {} ```"}']) {
    assert.deepEqual(texts(` \n${json}\r\n`), [json]);
  }
  assert.deepEqual(texts('\ufeff{"n": 90071992547409931}'), ['{"n": 90071992547409931}']);
});

test("fences and sentences around a value are left away", () => {
  assert.deepEqual(texts('```json\n{"a":1}\n```'), ['{"a":1}']);
  assert.deepEqual(texts("~~~\n[1]\n~~~"), ["[1]"]);
  assert.deepEqual(texts("The count:\n```\n5\n```\nDone."), ["5"]);
  assert.deepEqual(texts('Here it is: {"a":{"b":[1]}} I hope it helps.'), ['{"a":{"b":[1]}}']);
  assert.deepEqual(texts('```json\n{"a":1}'), ['{"a":1}'], "a fence that was never closed");
  assert.deepEqual(texts('I used {braces} and "quotes: [1]" ok {"a":"}"}'), ["[1]", '{"a":"}"}']);
});

test("several values are all found, equal ones once, and no part of one counts as another", () => {
  assert.deepEqual(texts('{"a":[1]} or {"a":[2]}'), ['{"a":[1]}', '{"a":[2]}']);
  assert.deepEqual(texts('```\n{"a":1}\n```\nso: {"a":1}'), ['{"a":1}']);
});

test("nothing is completed or corrected", () => {
  for (const answer of ['{"a":1', '{"a":1,}', "{a:1}", "{'a':1}", "no", "", "{]", "NaN"]) {
    assert.deepEqual(texts(answer), [], answer);
    assert.notEqual(notJson(answer), "it is JSON");
  }
});

test("a text full of brackets takes no time", () => {
  const started = performance.now();
  assert.deepEqual(findJson("{[".repeat(200_000)), []);
  assert.deepEqual(findJson('{"'.repeat(200_000)), []);
  assert.ok(performance.now() - started < 5000);
});
