/**
 * The tools about runs in the background: list them, tell them something, wait for them, stop them.
 *
 * @module
 */
import { z } from "zod";
import { defineTool } from "../tools/define_tool.ts";
import type { Tool, ToolContext, ToolResult } from "../tools/tool.ts";
import { MAX_MESSAGE, MAX_WAIT_SECONDS } from "./delegation_limits.ts";

/** What the tools do. */
export interface RunActions {
  list(context: ToolContext): Promise<ToolResult>;
  send(
    args: { readonly task_id: string; readonly message: string },
    context: ToolContext,
  ): Promise<ToolResult>;
  wait(
    args: {
      readonly task_ids?: readonly string[] | undefined;
      readonly timeout?: number | undefined;
    },
    context: ToolContext,
  ): Promise<ToolResult>;
  stop(args: { readonly task_id: string }, context: ToolContext): Promise<ToolResult>;
}

/** Returns the tools for one session, always in the same order. */
export function runTools(actions: RunActions): readonly Tool[] {
  const common = { kind: "other", gated: false, parallel: false } as const;
  return [
    defineTool({
      ...common,
      name: "list_agents",
      description: "List the background subagents, and which of them take a message.",
      schema: z.strictObject({}),
      preview: () => ({ title: "background subagents" }),
      run: (_input, context) => actions.list(context),
    }) as Tool,
    defineTool({
      ...common,
      name: "send_message",
      description:
        "Tell a background subagent more, rather than start another. At work, it reads " +
        "it after its next tool calls; ended, it goes on with it and reports again.",
      schema: z.strictObject({
        task_id: z.string().min(1),
        message: z.string().max(MAX_MESSAGE)
          .refine((text) => text.trim() !== "", "is blank"),
      }),
      preview: ({ task_id }) => ({ title: `message to ${task_id}` }),
      run: (input, context) => actions.send(input, context),
    }) as Tool,
    {
      ...defineTool({
        ...common,
        name: "wait_agent",
        description: "Wait for background subagents and get their results. Without task_ids: all.",
        schema: z.strictObject({
          task_ids: z.array(z.string()).optional(),
          timeout: z.number()
            .positive(`has to be more than 0 and at most ${MAX_WAIT_SECONDS} seconds`)
            .max(MAX_WAIT_SECONDS).optional().describe("seconds"),
        }),
        preview: ({ task_ids }) => ({ title: `wait for ${task_ids?.join(", ") || "all"}` }),
        run: (input, context) => actions.wait(input, context),
      }),
      repeatable: true,
    } as Tool,
    defineTool({
      ...common,
      name: "task_stop",
      description: "Stop a background subagent.",
      schema: z.strictObject({ task_id: z.string().min(1) }),
      preview: ({ task_id }) => ({ title: `stop ${task_id}` }),
      run: (input, context) => actions.stop(input, context),
    }) as Tool,
  ];
}
