/**
 * Reading and checking the schema of `structuredOutput` when the configuration is loaded.
 *
 * @module
 */
import { messageOf } from "../base/errors.ts";
import { type JsonSchema, outputSchema } from "./output_schema.ts";
import { readTextFile } from "./text_file.ts";
import type { StructuredOutputConfig } from "./types.ts";

/** Largest schema in a file of its own, in bytes. */
const MAX_SCHEMA_BYTES = 256 * 1024;

/** Options of {@linkcode readOutputSchema}. */
export interface ReadOutputSchemaOptions {
  /** Exactly one of `schema` and `file` is present. */
  readonly schema?: JsonSchema;
  /** Absolute. */
  readonly file?: string;
  /** Told what is wrong, in a sentence. */
  readonly problem: (key: "schema" | "file", text: string) => void;
}

/** Returns the schema, or `undefined` when a problem was reported. */
export async function readOutputSchema(
  options: ReadOutputSchemaOptions,
): Promise<StructuredOutputConfig | undefined> {
  const { file, problem } = options;
  const key = file === undefined ? "schema" : "file";
  const where = file === undefined
    ? '"structuredOutput.schema"'
    : `"structuredOutput.file": the file "${file}"`;
  const read = file === undefined ? { schema: options.schema ?? {} } : await readSchemaFile(file);
  if ("fault" in read) {
    problem(key, `${where} ${read.fault}`);
    return undefined;
  }
  try {
    await outputSchema(read.schema);
  } catch (thrown) {
    problem(key, `${where} is no valid JSON Schema: ${messageOf(thrown)}`);
    return undefined;
  }
  return { schema: read.schema };
}

async function readSchemaFile(
  file: string,
): Promise<{ readonly schema: JsonSchema } | { readonly fault: string }> {
  const read = await readTextFile(file, { maxBytes: MAX_SCHEMA_BYTES });
  switch (read.kind) {
    case "absent":
      return { fault: "does not exist" };
    case "unusable":
      return { fault: `${read.reason}${read.line === undefined ? "" : ` (line ${read.line})`}` };
  }
  let value: unknown;
  try {
    value = JSON.parse(read.text);
  } catch (thrown) {
    return { fault: `is not valid JSON: ${messageOf(thrown)}` };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return { fault: "holds no JSON Schema: it must be an object" };
  }
  return { schema: value as JsonSchema };
}
