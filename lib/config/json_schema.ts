/**
 * The JSON Schema of `agent.yaml`, for editors.
 *
 * @module
 */
import * as z from "zod";
import { agentFileSchema } from "./schema.ts";

/**
 * Returns the JSON Schema as the text of `agent.schema.json`. It describes what is written in the
 * file: durations are text or numbers.
 */
export function jsonSchemaText(): string {
  const schema = z.toJSONSchema(agentFileSchema, {
    io: "input",
    // The draft that the YAML extensions of all editors know.
    target: "draft-07",
  });
  return `${JSON.stringify({ title: "agent.yaml", ...schema }, null, 2)}\n`;
}
