/**
 * `todo`: the plan of a task, shown to the person.
 *
 * @module
 */
import { z } from "zod";
import { oneLine } from "../base/cut.ts";
import { PLAN_PRIORITIES, PLAN_STATUSES, type PlanEntry, planProgress } from "../base/plan.ts";
import { defineTool } from "./define_tool.ts";

const DESCRIPTION =
  "Shows the user your plan for a task of several steps. Send the whole list each time; keep one entry in_progress.";

/** Entries of a plan. */
const MAX_ENTRIES = 100;

/** UTF-16 units of an entry that are shown. */
const MAX_CONTENT = 500;

const schema = z.object({
  todos: z.array(z.object({
    content: z.string(),
    status: z.enum(PLAN_STATUSES),
    priority: z.enum(PLAN_PRIORITIES).optional(),
  })).max(MAX_ENTRIES),
});

/** Shows a plan. */
export const todoTool = defineTool({
  name: "todo",
  kind: "think",
  description: DESCRIPTION,
  schema,
  gated: false,
  parallel: false,
  preview: (input) => ({ title: `Plan: ${planProgress(planOf(input))}` }),
  run: (input, context) => {
    const entries = planOf(input);
    context.plan?.(entries);
    return Promise.resolve({ ok: true, text: `[${planProgress(entries)}]` });
  },
});

/** Returns the plan in the arguments of a call. */
export function planOf({ todos }: z.output<typeof schema>): PlanEntry[] {
  return todos.map(({ content, status, priority = "medium" }) => ({
    content: oneLine(content, MAX_CONTENT),
    status,
    priority,
  }));
}
