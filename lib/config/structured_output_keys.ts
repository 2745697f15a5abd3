/**
 * The key `structuredOutput`: the JSON that an agent answers with.
 *
 * @module
 */
import * as z from "zod";
import { group, path } from "./fields.ts";

/** The key about the shape of answers. What it names is checked in `output_schema.ts`. */
export const structuredOutputKeys = {
  structuredOutput: group({
    schema: z.record(z.string(), z.unknown(), { error: "must be a map: a JSON Schema" }).optional()
      .describe("The JSON Schema of the answers. Exactly one of schema and file is given."),
    file: path().optional().describe("A file that holds the JSON Schema, as JSON."),
  }).superRefine((value, context) => {
    // A misspelt key has been reported already; that one is missing would follow from it.
    if (context.issues.length > 0) return;
    if (value.schema !== undefined && value.file !== undefined) {
      context.addIssue("has both schema and file; remove one of them");
    } else if (value.schema === undefined && value.file === undefined) {
      context.addIssue("has neither schema nor file; write a JSON Schema in schema");
    }
  }).meta({ oneOf: [{ required: ["schema"] }, { required: ["file"] }] }).optional().describe(
    "The agent answers with JSON that satisfies this schema, and nothing else.",
  ),
};
