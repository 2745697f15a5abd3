/**
 * What an asked agent may do, in words for people.
 *
 * @module
 */
import type { PermissionRules } from "../config/types.ts";
import { concernsAgent } from "../gate/rules.ts";

/** Options of {@linkcode permissionWords}. */
export interface PermissionWordsOptions {
  readonly agent: string;
  /** Whether the agent's gated calls run without a question. */
  readonly runs: boolean;
  /** Whether the asking agent was itself asked. */
  readonly asked: boolean;
  /** The rules of the asking agent. */
  readonly rules: PermissionRules;
}

/** Returns whether gated calls of an agent run or ask, and the rules about them, on one line. */
export function permissionWords({ agent, runs, asked, rules }: PermissionWordsOptions): string {
  const calls = runs
    ? "gated calls run (yolo)"
    : asked
    ? "gated calls ask whoever asked this agent"
    : "gated calls ask";
  // An agent that was itself asked permits nothing.
  const kinds = asked ? ["deny", "ask"] as const : ["deny", "ask", "allow"] as const;
  const lists = kinds.flatMap((kind) => {
    const about = rules[kind].filter((rule) => concernsAgent(rule, agent));
    return about.length === 0 ? [] : [`${kind} ${about.join(", ")}`];
  });
  return [calls, ...lists].join("; ");
}
