/**
 * What a JSON agent tells its model about its answers.
 *
 * @module
 */
import type { JsonSchema } from "../config/output_schema.ts";

/**
 * Returns the paragraph of the system prompt. It depends on the schema alone, and writes it without
 * white space and without the name of its draft: the window is paid for in every request.
 */
export function outputFormatParagraph(schema: JsonSchema): string {
  const { $schema: _, ...rest } = schema;
  return `OUTPUT FORMAT

Your final answer is one JSON value that satisfies the JSON Schema below, and nothing else: no words before or after it, no Markdown fence. Tools are called as usual; only the final answer is JSON.
${JSON.stringify(rest).toWellFormed()}`;
}

/** How what the model is told about a wrong answer begins. */
export const REPAIR_MARK = "[Automatic check: your answer does not satisfy OUTPUT FORMAT.]";

/** Returns what the model is told about an answer that does not satisfy the schema. */
export function repairPrompt(faults: readonly string[]): string {
  return `${REPAIR_MARK}
${faults.map((fault) => `- ${fault}`).join("\n")}
Answer again with the corrected JSON value and nothing else.`;
}
