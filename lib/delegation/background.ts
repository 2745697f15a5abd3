/**
 * Whether a call of `agent` is waited for.
 *
 * @module
 */
import { type AgentArguments, type AgentOffer, isFork } from "./agent_arguments.ts";

/** What it depends on besides the call. */
export interface BackgroundOptions {
  readonly offer: Pick<AgentOffer, "background">;
  /** What the definition says, where it says anything. */
  readonly own?: boolean | undefined;
  /** Whether a call that does not say runs in the background. */
  readonly byDefault: boolean;
  /** Whether every fork runs there, because nobody looks at what comes after the prompt. */
  readonly headless: boolean;
}

/** Says whether a call runs in the background; one with a `working_dir` never does. */
export function runsInBackground(
  args: Pick<AgentArguments, "subagent_type" | "run_in_background" | "working_dir">,
  { offer, own, byDefault, headless }: BackgroundOptions,
): boolean {
  if (!offer.background || args.working_dir !== undefined) return false;
  return (headless && isFork(args)) || (args.run_in_background ?? own ?? byDefault);
}
