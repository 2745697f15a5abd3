/**
 * `ask_agent`: the tool with which a model asks another agent.
 *
 * @module
 */
import { z } from "zod";
import { cutMiddle, oneLine } from "../base/cut.ts";
import { describeEnd } from "../base/ends.ts";
import type { Emit } from "../engine/events.ts";
import type { Gate } from "../gate/gate.ts";
import type { AskHooks } from "../hooks/ask_hooks.ts";
import { defineTool } from "../tools/define_tool.ts";
import type { Tool, ToolResult } from "../tools/tool.ts";
import type { AskResult } from "./ask.ts";
import { MAX_MODEL_ASKS } from "./ask_limits.ts";
import type { AgentPool } from "./pool.ts";
import { relayedAsk } from "./relayed_ask.ts";

/** The tool's name. */
export const ASK_AGENT = "ask_agent";

/** UTF-16 units of the prompt in the call's title; the whole one is in its arguments. */
const TITLE_LENGTH = 200;

const Arguments = z.strictObject({ agent: z.string(), prompt: z.string().min(1) });

/** Options of {@linkcode askAgentTool}. */
export interface AskAgentToolOptions {
  readonly pool: AgentPool;
  readonly gate: Gate;
  readonly emit: Emit;
  /** What is run around each ask; absent where nothing is. */
  readonly hooks?: AskHooks | undefined;
  /** Whether gated calls of this agent run without a question. */
  readonly yolo: () => boolean;
}

/** Returns the tool for one session, offering the agents of the pool. */
export function askAgentTool(options: AskAgentToolOptions): Tool<z.output<typeof Arguments>> {
  const { pool } = options;
  let asks = 0;
  const names = pool.entries.map((entry) => entry.name);
  const offered = pool.entries.map(({ name, description }) =>
    `- ${name}${description === undefined ? "" : `: ${description}`}`
  );
  return defineTool({
    name: ASK_AGENT,
    kind: "other",
    gated: true,
    parallel: true,
    description:
      "Ask another agent. It works on its own and answers once; it knows nothing of this " +
      "conversation, so put everything it needs into the prompt. Its answer is the result.\n" +
      `Agents:\n${offered.join("\n")}`,
    schema: Arguments.superRefine(({ agent }, context) => {
      if (names.includes(agent)) return;
      context.addIssue({ code: "custom", path: ["agent"], message: pool.unknownAgent(agent) });
    }),
    preview: ({ agent, prompt }) => ({ title: `${agent}: ${oneLine(prompt, TITLE_LENGTH)}` }),
    run: async ({ agent, prompt }, context) => {
      if (++asks > MAX_MODEL_ASKS) return tooMany(agent);
      let resume = () => {};
      const result = await relayedAsk({
        ...options,
        by: "model",
        agent,
        prompt,
        cwd: context.cwd,
        signal: context.signal,
        // The turn's own watchdog counts the silence, unless the entry sets a time of its own.
        silenceMs: Infinity,
        onQueued: (before) => context.output(`[waits for ${otherAsks(before + 1)}]\n`),
        onBusy: (busy) => {
          resume();
          resume = busy ? context.pauseWatchdog() : () => {};
        },
        call: {
          id: context.callId,
          output: context.output,
          alive: context.alive,
          pauseWatchdog: context.pauseWatchdog,
        },
      });
      resume();
      context.signal.throwIfAborted();
      return {
        ok: result.end.kind === "answered" || result.end.kind === "incomplete",
        text: cutMiddle(resultText(agent, result), context.maxOutput).text,
        end: result.end,
      };
    },
  });
}

/** `3 other asks`. */
export function otherAsks(count: number): string {
  return `${count} other ask${count === 1 ? "" : "s"}`;
}

/** A model that asks without end is told to stop by itself. */
function tooMany(agent: string): ToolResult {
  const end = {
    kind: "failed",
    reason: `this session has asked ${MAX_MODEL_ASKS} times, which is the most it may; ` +
      "finish the work with your own tools",
  } as const;
  return { ok: false, text: `[${describeEnd(end, agent)}]`, end };
}

/** The tool's result: the answer, and how the ask ended where that was not by answering. */
export function resultText(agent: string, result: AskResult): string {
  const { end, answer } = result;
  if (end.kind === "answered") {
    return answer.trim() === "" ? `[${agent} answered with no text]` : answer;
  }
  const words = `[${describeEnd(end, agent)}]`;
  return answer.trim() === "" ? words : `${answer}\n${words}`;
}
