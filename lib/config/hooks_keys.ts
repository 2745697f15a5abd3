/**
 * The key `hooks`: commands of the user that run around an ask and may refuse or change it.
 *
 * @module
 */
import { duration, group, line, list, text } from "./fields.ts";

/** Time a hook has, in milliseconds, where it sets none. */
export const HOOK_TIMEOUT_MS = 10_000;

/** Most hooks of one kind. */
const MAX_HOOKS = 50;

const hook = group({
  match: line({ max: 200 }).optional().describe(
    "The agents it is for, by name; * stands for any characters. Absent: all.",
  ),
  run: text({ max: 10_000 }).describe("The command line, run in the session's directory."),
  timeout: duration().default(HOOK_TIMEOUT_MS).describe(
    "Time it has; when it takes longer, it refuses.",
  ),
});

const hooks = () =>
  list(hook, "hooks").max(MAX_HOOKS, { error: `must hold at most ${MAX_HOOKS} hooks` }).default([]);

/** The key about hooks. */
export const hooksKeys = {
  hooks: group({
    preAsk: hooks().describe(
      "Run before an agent is asked, in order. Each may refuse, or change the question.",
    ),
    postAsk: hooks().describe(
      "Run on an agent's answer, in order. Each may withhold it, or change it.",
    ),
  }).prefault({}).describe(
    "Commands that run around each ask: JSON on stdin, JSON on stdout, exit status 2 refuses.",
  ),
};
