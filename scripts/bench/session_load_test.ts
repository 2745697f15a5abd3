import assert from "node:assert/strict";
import { test } from "node:test";
import { measureSessionCosts } from "./session_load.ts";

test("a conversation of 50 MB loads in 1.5 times the time and memory of reading and parsing it, and adding stays as cheap", async () => {
  const { bytes, plain, load, appendUs } = await measureSessionCosts({ bytes: 50e6, runs: 3 });
  assert.ok(bytes >= 50e6);
  assert.ok(load.ms <= 1.5 * plain.ms, `${load.ms} ms against ${plain.ms} ms`);
  assert.ok(load.rss <= 1.5 * plain.rss, `${load.rss} bytes against ${plain.rss}`);
  // Generous: another program may have the machine during one of the two.
  assert.ok(appendUs.full <= 5 * appendUs.empty + 100, JSON.stringify(appendUs));
});
