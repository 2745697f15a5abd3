/**
 * What a server says of its tools, read without trust: whatever cannot be used is left out, and
 * nothing is larger than a request can carry.
 *
 * @module
 */
import { cutMiddle } from "../base/cut.ts";

/** A tool of a server. */
export interface ServerTool {
  /** As the server knows it. */
  readonly name: string;
  readonly description: string;
  /** JSON Schema of the arguments. */
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Whether the server says that the tool changes nothing. */
  readonly readOnly: boolean;
}

/** UTF-16 units of a description that reach the model. */
const MAX_DESCRIPTION = 2000;

/** UTF-16 units of a schema as JSON; a larger one is replaced by one that takes anything. */
const MAX_SCHEMA = 16_000;

/** Returns a tool from an entry of `tools/list`, or `undefined` when it is none. */
export function readServerTool(entry: unknown): ServerTool | undefined {
  const { name, title, description, inputSchema, annotations } = fields(entry);
  if (typeof name !== "string" || name === "") return undefined;
  const hints = fields(annotations);
  const words = [description, title, hints["title"], name].find((text) =>
    typeof text === "string" && text.trim() !== ""
  ) as string;
  const schema = schemaOf(inputSchema);
  return {
    name,
    description: cutMiddle(words.trim(), MAX_DESCRIPTION).text + (schema.note ?? ""),
    parameters: schema.parameters,
    readOnly: hints["readOnlyHint"] === true,
  };
}

function schemaOf(
  value: unknown,
): { readonly parameters: Record<string, unknown>; readonly note?: string } {
  const { $schema: _, ...schema } = fields(value);
  const size = JSON.stringify(schema).length;
  if (size > MAX_SCHEMA) {
    return {
      parameters: { type: "object" },
      note: ` [its schema has ${size} characters and is not shown]`,
    };
  }
  const parameters = { ...schema, type: "object" };
  // Some providers refuse an object without this.
  return {
    parameters: "properties" in parameters ? parameters : { ...parameters, properties: {} },
  };
}

/** Returns `value` when it is an object, else an empty one. */
export function fields(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? value as Record<string, unknown>
    : {};
}
