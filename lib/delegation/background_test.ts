import assert from "node:assert/strict";
import { test } from "node:test";
import type { AgentArguments } from "./agent_arguments.ts";
import { type BackgroundOptions, runsInBackground } from "./background.ts";

const runs = (args: Partial<AgentArguments>, options: Partial<BackgroundOptions> = {}) =>
  runsInBackground(args, {
    offer: { background: true },
    byDefault: false,
    headless: false,
    ...options,
  });

test("what the call says comes before the definition, and that before the configuration", () => {
  assert.equal(runs({}), false);
  assert.equal(runs({}, { byDefault: true }), true);
  assert.equal(runs({}, { byDefault: true, own: false }), false);
  assert.equal(runs({}, { own: true }), true);
  assert.equal(runs({ run_in_background: false }, { own: true, byDefault: true }), false);
  assert.equal(runs({ run_in_background: true }, { own: false }), true);
});

test("where nobody looks at what comes later every fork runs in the background", () => {
  const headless = { headless: true };
  assert.equal(runs({ subagent_type: " Fork", run_in_background: false }, headless), true);
  assert.equal(runs({ subagent_type: "explore" }, headless), false);
  assert.equal(runs({}, headless), false);
});

test("nothing does where it is not offered, and no run in a working_dir", () => {
  const eager = { own: true, byDefault: true, headless: true };
  assert.equal(runs({ subagent_type: "fork" }, { ...eager, offer: { background: false } }), false);
  assert.equal(runs({ working_dir: "../other", run_in_background: true }, eager), false);
});
