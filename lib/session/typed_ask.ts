/**
 * An ask that a person typed: `/ask-bob`.
 *
 * @module
 */
import type { AskResult } from "../agents/ask.ts";
import { otherAsks, resultText } from "../agents/ask_agent_tool.ts";
import type { AgentPool } from "../agents/pool.ts";
import { relayedAsk } from "../agents/relayed_ask.ts";
import { transcriptOf } from "../agents/transcript.ts";
import { cutMiddle } from "../base/cut.ts";
import { describeEnd } from "../base/ends.ts";
import type { Conversation } from "../engine/conversation.ts";
import type { Emit } from "../engine/events.ts";
import type { Gate } from "../gate/gate.ts";
import type { AskHooks } from "../hooks/ask_hooks.ts";
import type { PromptResult } from "./types.ts";

/** Options of {@linkcode typedAsk}. */
export interface TypedAskOptions {
  readonly agent: string;
  readonly prompt: string;
  readonly withContext: boolean;
  readonly pool: AgentPool;
  readonly conversation: Conversation;
  readonly gate: Gate;
  readonly hooks?: AskHooks | undefined;
  readonly emit: Emit;
  readonly yolo: () => boolean;
  readonly cwd: string;
  /** UTF-16 units of the answer that get into the conversation. */
  readonly maxOutput: number;
  readonly signal: AbortSignal;
}

/**
 * Asks, shows the answer, and keeps question and answer as a pair of messages. An ask without any
 * answer leaves the conversation as it was.
 */
export async function typedAsk(options: TypedAskOptions): Promise<AskResult> {
  const { agent, conversation, emit } = options;
  const result = await relayedAsk({
    ...options,
    by: "person",
    ...(options.withContext ? { transcript: transcriptOf(conversation.messages) } : {}),
    onQueued: (before) =>
      emit({
        type: "notice",
        severity: "info",
        text: `${agent} is asked after ${otherAsks(before + 1)}`,
      }),
  });
  const { end, label } = result;
  if (end.kind !== "cancelled" && result.answer.trim() !== "") {
    conversation.addPair(
      `[asked ${agent}${label === undefined ? "" : ` (${label})`}: ${result.asked}]`,
      `[${agent}'s answer]\n${cappedAnswer(options, result)}`,
    );
  }
  return result;
}

/** Returns how the prompt ended that was an ask. */
export function askedResult(agent: string, result: AskResult): PromptResult {
  const { end, answer, toolCalls, label, usage } = result;
  return {
    end,
    subject: agent,
    text: end.kind === "answered" ? answer : resultText(agent, result),
    toolCalls,
    label: label ?? agent,
    ...(usage === undefined ? {} : { usage }),
  };
}

function cappedAnswer({ agent, maxOutput }: TypedAskOptions, { end, answer }: AskResult): string {
  const mark = end.kind === "answered" ? "" : `\n[${describeEnd(end, agent)}]`;
  return cutMiddle(answer, maxOutput).text + mark;
}
