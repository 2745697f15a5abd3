import assert from "node:assert/strict";
import { test } from "node:test";
import { createModelClient } from "../model/client.ts";
import { mcpText, statusText } from "./info.ts";

/** `/status` of a conversation with messages of four letters each. */
function status(messages: number): string {
  const model = createModelClient({ config: { provider: "llamacpp" }, env: {} });
  return statusText({
    id: "s",
    cwd: "/",
    yolo: false,
    model: Object.assign(model, { used: undefined }),
    messages: Array.from({ length: messages }, () => ({ role: "user", text: "four" })),
    configFile: undefined,
    instructions: "",
  });
}

test("/status counts one message as one", () => {
  assert.match(status(1), /^conversation: 1 message, about \d+ tokens?$/mu);
  assert.match(status(2), /^conversation: 2 messages, about \d+ tokens$/mu);
});

test("a model that is not known yet is shown as its provider alone", () => {
  assert.match(status(0), /^model: llamacpp at http/mu);
});

test("/mcp counts one tool as one", () => {
  const text = mcpText([{
    name: "s",
    state: "ready",
    label: "",
    failure: undefined,
    tools: ["mcp__s__a"],
    total: 1,
  }]);
  assert.equal(text, "s - ready, 1 tool\n  mcp__s__a");
});
