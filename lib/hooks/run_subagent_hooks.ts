/**
 * Running the hooks around a subagent: which there are for it, what they read, what their answers mean.
 *
 * @module
 */
import picomatch from "picomatch";
import { cutMiddle } from "../base/cut.ts";
import type { HookConfig, HooksConfig } from "../config/types.ts";
import type { RunFilter } from "../platform/filter.ts";
import { hearHook, runHook, type RunHookOptions } from "./run_hook.ts";
import type { HookedRun, SubagentHooks } from "./subagent_hooks.ts";

/** UTF-16 units that all hooks together may add to a prompt, and tell an agent that goes on. */
const MAX_ADDED = 20_000;

type Kind = "subagentStart" | "subagentStop";

/** Options of {@linkcode createSubagentHooks}. */
export interface CreateSubagentHooksOptions {
  readonly config: Pick<HooksConfig, Kind>;
  readonly run: RunFilter;
  /** The environment of a command of the session. */
  readonly env: () => Promise<Readonly<Record<string, string>>>;
  /** How deep this process is in a chain of asks and subagents. */
  readonly depth: number;
  /** Takes secrets out of what a hook wrote on stderr. */
  readonly redact: (text: string) => string;
}

/** Creates the hooks of one session; nothing is run. */
export function createSubagentHooks(options: CreateSubagentHooksOptions): SubagentHooks {
  const { config, redact } = options;

  async function setupOf(
    kind: Kind,
    hook: HookConfig,
    call: {
      readonly run: HookedRun;
      readonly answer: string;
      readonly more?: Readonly<Record<string, unknown>>;
      readonly signal: AbortSignal;
    },
  ): Promise<RunHookOptions> {
    const { taskId, agent, description, prompt, background, cwd } = call.run;
    const { depth } = options;
    return {
      hook,
      kind,
      input: {
        hook: kind,
        taskId,
        agent,
        description,
        prompt,
        background,
        cwd,
        depth,
        ...call.more,
      },
      answers: [call.answer],
      run: options.run,
      cwd,
      env: await options.env(),
      signal: call.signal,
    };
  }

  return {
    async before(run, { signal }) {
      const added: string[] = [];
      for (const hook of hooksFor(config.subagentStart, run.agent)) {
        const verdict = await runHook(
          await setupOf("subagentStart", hook, { run, answer: "context", signal }),
        );
        if (verdict.refused) return { refused: redact(verdict.reason) };
        added.push(verdict.answer["context"] ?? "");
      }
      return { context: joined(added) };
    },

    async after(run, { answer, end, again }, { signal }) {
      const reasons: string[] = [];
      const warnings: string[] = [];
      const more = { answer, end, stopHookActive: again > 0, sentBack: again };
      for (const hook of hooksFor(config.subagentStop, run.agent)) {
        const outcome = await hearHook(
          await setupOf("subagentStop", hook, { run, answer: "again", more, signal }),
        );
        switch (outcome.end) {
          case "answered":
            reasons.push(outcome.answer["again"] ?? "");
            break;
          case "refused":
            reasons.push(
              outcome.words === "" ? `${outcome.hook} wants you to go on` : redact(outcome.words),
            );
            break;
          // It can only ask for more, and nothing is let through that it should have held back.
          case "broken":
            warnings.push(
              redact(`${outcome.hook} ${outcome.what}; ${run.taskId} ends all the same`),
            );
        }
      }
      const reason = joined(reasons);
      return { ...(reason === "" ? {} : { again: reason }), warnings };
    },
  };
}

/** In any case of letters, as a definition is looked up: a project's file has the name as it likes. */
function hooksFor(hooks: readonly HookConfig[], agent: string): HookConfig[] {
  return hooks.filter(({ match }) =>
    match === undefined || picomatch.isMatch(agent, match, { nocase: true })
  );
}

function joined(parts: readonly string[]): string {
  const text = parts.map((part) => part.trim()).filter((part) => part !== "").join("\n\n");
  return cutMiddle(text, MAX_ADDED).text;
}
