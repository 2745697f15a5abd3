/**
 * One hook: a command that reads JSON, answers with JSON, and may refuse.
 *
 * Where it can hold something back, whatever it does that is not a clear yes refuses: it must not let
 * through what it was meant to hold back because it is broken.
 *
 * @module
 */
import { cutMiddle, oneLine } from "../base/cut.ts";
import { formatDuration } from "../base/duration.ts";
import { messageOf } from "../base/errors.ts";
import type { HookConfig } from "../config/types.ts";
import type { FilterResult, RunFilter } from "../platform/filter.ts";

/** The exit status by which a hook refuses. */
const REFUSES = 2;

/** UTF-16 units of a hook's own words in a reason, and of its command line. */
const MAX_WORDS = 1000;
const MAX_COMMAND = 80;

/** Options of {@linkcode runHook} and {@linkcode hearHook}. */
export interface RunHookOptions {
  readonly hook: HookConfig;
  /** Its kind, as the configuration calls it. */
  readonly kind: string;
  /** What it reads, as JSON. */
  readonly input: Readonly<Record<string, unknown>>;
  /** What it may answer with; each value is text. */
  readonly answers: readonly string[];
  readonly run: RunFilter;
  /** Absolute. */
  readonly cwd: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

/** What a hook said. `reason` is the end of a sentence, for people and models. */
export type HookVerdict =
  | { readonly refused: false; readonly answer: Readonly<Record<string, string>> }
  | { readonly refused: true; readonly reason: string };

/** How a hook ended. `hook` names it: `the preAsk hook "./check.sh"`. */
export type HookOutcome =
  | { readonly end: "answered"; readonly answer: Readonly<Record<string, string>> }
  /** Exit status 2; `words` is what it wrote on stderr, empty for nothing. */
  | { readonly end: "refused"; readonly hook: string; readonly words: string }
  /** It does not work; `what` says how, without a subject. */
  | { readonly end: "broken"; readonly hook: string; readonly what: string };

/**
 * Runs a hook that refuses by whatever is not a clear yes.
 *
 * @throws the signal's reason when it is aborted, after the hook is gone.
 */
export async function runHook(options: RunHookOptions): Promise<HookVerdict> {
  const outcome = await hearHook(options);
  switch (outcome.end) {
    case "answered":
      return { refused: false, answer: outcome.answer };
    case "refused": {
      const words = cutMiddle(outcome.words, MAX_WORDS).text;
      return {
        refused: true,
        reason: `${outcome.hook} refused${words === "" ? "" : `: ${words}`}`,
      };
    }
    case "broken":
      return {
        refused: true,
        reason: `${outcome.hook} ${outcome.what}; a hook that does not work refuses`,
      };
  }
}

/**
 * Runs a hook and tells how it ended: what that means is a matter of its kind.
 *
 * @throws the signal's reason when it is aborted, after the hook is gone.
 */
export async function hearHook(options: RunHookOptions): Promise<HookOutcome> {
  const { hook, kind, input, run, cwd, env, signal } = options;
  const name = `the ${kind} hook "${oneLine(hook.run, MAX_COMMAND)}"`;
  const broken = (what: string): HookOutcome => ({ end: "broken", hook: name, what });
  let result: FilterResult;
  try {
    result = await run(hook.run, {
      cwd,
      env,
      input: `${JSON.stringify(input)}\n`,
      timeoutMs: hook.timeoutMs,
      signal,
    });
  } catch (thrown) {
    signal.throwIfAborted();
    return broken(`could not be run: ${messageOf(thrown)}`);
  }
  const { end, stdout } = result;
  const words = result.stderr.trim();
  if ("stopped" in end) {
    return broken(
      end.stopped === "timeout"
        ? `took longer than ${formatDuration(hook.timeoutMs)}`
        : "printed more than mm reads",
    );
  }
  if (end.code === REFUSES) return { end: "refused", hook: name, words };
  if (end.code !== 0) {
    const how = end.signal === null
      ? `exited with status ${end.code ?? "unknown"}`
      : `was killed by ${end.signal}`;
    return broken(`${how}${words === "" ? "" : ` (${cutMiddle(words, MAX_WORDS).text})`}`);
  }
  const answer = readAnswer(stdout, options.answers);
  return typeof answer === "string" ? broken(answer) : { end: "answered", answer };
}

/** Returns the answer, or what is wrong with it. No output is an answer without anything in it. */
function readAnswer(
  stdout: string,
  known: readonly string[],
): Readonly<Record<string, string>> | string {
  if (stdout.trim() === "") return {};
  let value: unknown;
  try {
    value = JSON.parse(stdout);
  } catch {
    return "printed something that is no JSON";
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return "printed JSON that is no object";
  }
  const answer: Record<string, string> = {};
  for (const [key, part] of Object.entries(value)) {
    if (!known.includes(key)) {
      return `answered with "${oneLine(key, 40)}", but it may answer with ${known.join(", ")} only`;
    }
    if (typeof part !== "string") return `answered with a "${key}" that is no text`;
    answer[key] = part;
  }
  return answer;
}
