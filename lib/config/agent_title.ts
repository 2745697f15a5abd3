/**
 * What an asked agent calls itself, read from its own file.
 *
 * @module
 */
import { MAX_CONFIG_BYTES } from "./discover.ts";
import { readTextFile } from "./text_file.ts";
import { readYaml } from "./yaml_source.ts";

/**
 * Returns `acp.title` of a configuration file, or `undefined` where it has none or cannot be read.
 * Whatever is wrong with the file is said when its agent is asked.
 */
export async function agentTitle(file: string): Promise<string | undefined> {
  const read = await readTextFile(file, { maxBytes: MAX_CONFIG_BYTES });
  if (read.kind !== "text") return undefined;
  const { value } = readYaml(read.text, { file, env: {} });
  const title = property(property(value, "acp"), "title");
  return typeof title === "string" && title.trim() !== "" ? title : undefined;
}

function property(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, name)
    ? (value as Readonly<Record<string, unknown>>)[name]
    : undefined;
}
