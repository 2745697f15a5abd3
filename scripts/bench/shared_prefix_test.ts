import assert from "node:assert/strict";
import { test } from "node:test";
import { sharedPrefix } from "./shared_prefix.ts";

const user = { role: "user", content: "héllo" };
const parent = { tools: [{ name: "a" }, { name: "b" }], messages: [user] };

test("a request that goes on from another shares all of it", () => {
  const fork = { ...parent, messages: [user, { role: "assistant", content: "" }] };
  const { bytes, of } = sharedPrefix(parent, fork, "tools and messages");
  assert.equal(bytes, of);
  assert.equal(of, '[{"name":"a"},{"name":"b"}]\n{"role":"user","content":"héllo"}\n'.length + 1);
});

test("a tool less ends what is shared, though all messages are the same", () => {
  const fork = { ...parent, tools: [{ name: "a" }] };
  assert.equal(sharedPrefix(parent, fork, "tools and messages").bytes, '[{"name":"a"}'.length);
  const { bytes, of } = sharedPrefix(parent, fork, "messages");
  assert.equal(bytes, of);
});
