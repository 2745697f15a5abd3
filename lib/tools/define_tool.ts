/**
 * Makes a tool from a zod schema of its arguments, and keeps the promises every tool makes: it
 * throws nothing but the signal's reason, and its text is well formed and within the limit.
 *
 * @module
 */
import { z } from "zod";
import { cutMiddle } from "../base/cut.ts";
import { messageOf } from "../base/errors.ts";
import type { ToolKind } from "../base/tool_call.ts";
import { checkArguments } from "./check_arguments.ts";
import { errorCode, FileProblem, whyNot } from "./file_problem.ts";
import type { Tool, ToolContext, ToolPreview, ToolResult } from "./tool.ts";

/** What a tool says of itself. */
export interface ToolDefinition<Schema extends z.ZodObject> {
  readonly name: string;
  readonly kind: ToolKind;
  /** Text for the model. */
  readonly description: string;
  /** The arguments. Optional ones have no default here: the tool decides. */
  readonly schema: Schema;
  readonly gated: boolean;
  readonly parallel: boolean;
  /** Says what a call will do. What it throws is caught and leaves the title alone. */
  readonly preview: (
    input: z.output<Schema>,
    context: Parameters<Tool["preview"]>[1],
  ) => ToolPreview | Promise<ToolPreview>;
  /** Runs the call. A `FileProblem` it throws becomes the result. */
  readonly run: (input: z.output<Schema>, context: ToolContext) => Promise<ToolResult>;
}

/** Makes a tool. */
export function defineTool<Schema extends z.ZodObject>(
  definition: ToolDefinition<Schema>,
): Tool<z.output<Schema>> {
  const { name, schema } = definition;
  const parameters = compact(z.toJSONSchema(schema, { io: "input" }));
  return {
    name,
    kind: definition.kind,
    description: definition.description,
    parameters,
    gated: definition.gated,
    parallel: definition.parallel,
    parse: (raw) => {
      const checked = checkArguments(raw, parameters);
      if ("error" in checked) return checked;
      const parsed = schema.safeParse(checked.values);
      if (parsed.success) return { input: parsed.data };
      // What the JSON Schema of the properties cannot express is left to zod.
      const faults = parsed.error.issues.map(({ path, message }) =>
        path.length === 0 ? message : `"${path.join(".")}": ${message}`
      );
      return { error: faults.join("; ") };
    },
    preview: async (input, context) => {
      try {
        return await definition.preview(input, context);
      } catch {
        return { title: name };
      }
    },
    run: async (input, context) => {
      context.signal.throwIfAborted();
      try {
        const result = await definition.run(input, context);
        return { ...result, text: cutMiddle(result.text, context.maxOutput).text };
      } catch (error) {
        context.signal.throwIfAborted();
        const text = error instanceof FileProblem
          ? error.message
          : `${name} failed: ${errorCode(error) === "" ? messageOf(error) : whyNot(error)}`;
        return { ok: false, text: cutMiddle(text, context.maxOutput).text };
      }
    },
  };
}

/** Leaves out of a schema what says nothing to a model and costs it tokens. */
function compact(schema: Record<string, unknown>): Record<string, unknown> {
  const kept: Record<string, unknown> = {};
  for (const [key, value] of Object.entries(schema)) {
    if (key === "$schema") continue;
    if (typeof value === "number" && Math.abs(value) === Number.MAX_SAFE_INTEGER) continue;
    kept[key] = isRecord(value) ? compact(value) : value;
  }
  return kept;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
