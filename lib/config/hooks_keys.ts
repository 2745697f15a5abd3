/**
 * The key `hooks`: commands of the user that run around an ask or the run of a subagent, and may
 * refuse or change it.
 *
 * @module
 */
import { duration, group, line, list, text } from "./fields.ts";

/** Time a hook has, in milliseconds, where it sets none. */
export const HOOK_TIMEOUT_MS = 10_000;

/** Most hooks of one kind. */
const MAX_HOOKS = 50;

interface HookWords {
  /** Whom `match` is about. */
  readonly match: string;
  /** Whose directory it runs in. */
  readonly place: string;
  /** What becomes of a hook that takes too long. */
  readonly late: string;
}

const hook = ({ match, place, late }: HookWords) =>
  group({
    match: line({ max: 200 }).optional().describe(
      `The ${match} it is for, by name; * stands for any characters. Absent: all.`,
    ),
    run: text({ max: 10_000 }).describe(`The command line, run in the directory of the ${place}.`),
    timeout: duration().default(HOOK_TIMEOUT_MS).describe(
      `Time it has; when it takes longer, ${late}.`,
    ),
  });

const hooks = (words: HookWords) =>
  list(hook(words), "hooks").max(MAX_HOOKS, { error: `must hold at most ${MAX_HOOKS} hooks` })
    .default([]);

const AROUND_ASKS: HookWords = { match: "agents", place: "session", late: "it refuses" };

const AROUND_RUNS = { match: "subagents", place: "run" };

/** The key about hooks. */
export const hooksKeys = {
  hooks: group({
    preAsk: hooks(AROUND_ASKS).describe(
      "Run before an agent is asked, in order. Each may refuse, or change the question.",
    ),
    postAsk: hooks(AROUND_ASKS).describe(
      "Run on an agent's answer, in order. Each may withhold it, or change it.",
    ),
    subagentStart: hooks({ ...AROUND_RUNS, late: "it refuses" }).describe(
      "Run before a subagent begins, in order. Each may refuse, or add to its task.",
    ),
    subagentStop: hooks({ ...AROUND_RUNS, late: "it is left out and a warning says so" })
      .describe(
        "Run when a subagent is done, in order. Each may send it back to work, with a reason.",
      ),
  }).prefault({}).describe(
    "Commands that run around each ask and each run of a subagent: JSON on stdin, JSON on stdout, " +
      "exit status 2 refuses.",
  ),
};
