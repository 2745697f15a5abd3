import assert from "node:assert/strict";
import { test } from "node:test";
import { ChildError } from "../agents/child_connection.ts";
import { askingMode } from "./child_mode.ts";

/** A session that tells its modes, the first of which it is in. */
const withModes = (...ids: string[]) => ({
  modes: { currentModeId: ids[0], availableModes: ids.map((id) => ({ id, name: id })) },
});

/** What agents advertise, and the mode that has to be chosen. */
const ADVERTISED: Readonly<Record<string, readonly [readonly string[], string | undefined]>> = {
  "Qwen Code": [["auto", "plan", "default", "auto-edit", "yolo"], "default"],
  "Gemini": [["default", "autoEdit", "yolo", "plan"], undefined],
  "Gemini with --yolo": [["yolo", "default", "autoEdit", "plan"], "default"],
  "Codex": [["agent", "read-only", "workspace-write", "agent-full-access"], "read-only"],
  "Claude Code": [["bypassPermissions", "default", "acceptEdits", "plan", "dontAsk"], "default"],
  "OpenCode": [["build", "plan"], undefined],
  "mm": [["ask", "yolo"], undefined],
  "mm with yolo": [["yolo", "ask"], "ask"],
  "one that only plans": [["plan", "default"], undefined],
  "one with addresses for ids": [
    ["https://x/modes#agent", "https://x/modes#ask"],
    "https://x/modes#ask",
  ],
};

for (const [agent, [ids, mode]] of Object.entries(ADVERTISED)) {
  test(`askingMode() chooses ${mode ?? "nothing"} for ${agent}`, () => {
    assert.deepEqual(askingMode(withModes(...ids)), mode === undefined ? undefined : { mode });
  });
}

test("askingMode() reads modes that are told as an option", () => {
  const options = [{ value: "yolo", name: "YOLO" }, { value: "default", name: "Default" }];
  const option = { id: "m", category: "mode", currentValue: "yolo", options };
  assert.deepEqual(askingMode({ configOptions: [{ category: "model" }, option] }), {
    mode: "default",
    option: "m",
  });
});

test("askingMode() never leaves an agent in a mode without questions", () => {
  for (const ids of [["yolo"], ["bypassPermissions", "acceptEdits"], ["full-access", "build"]]) {
    assert.throws(() => askingMode(withModes(...ids)), ChildError);
  }
});

test("askingMode() makes nothing of an agent without modes, or with broken ones", () => {
  for (const modes of [undefined, null, 5, {}, { currentModeId: "yolo", availableModes: "x" }]) {
    assert.equal(askingMode({ modes }), undefined);
  }
});
