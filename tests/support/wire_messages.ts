/**
 * What mm wrote to stdout, message by message.
 *
 * @module
 */
import assert from "node:assert/strict";
import type { AcpEditor, Json } from "./acp_editor.ts";

/**
 * Returns every line that mm wrote to stdout.
 *
 * @throws {Error} when one is no JSON-RPC message, or the last has no end.
 */
export function messages(editor: AcpEditor): Json[] {
  const lines = editor.mm.stdout.split("\n");
  assert.equal(lines.pop(), "", "the last line is whole");
  return lines.map((line) => {
    const message = JSON.parse(line);
    assert.equal(message.jsonrpc, "2.0");
    return message;
  });
}
