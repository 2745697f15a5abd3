/**
 * The secrets a configuration holds, so that no message repeats one.
 *
 * @module
 */

/**
 * Returns the texts that are secret in a file's values as they were read, valid or not: `apiKey`,
 * the values of `headers`, those of the `env` of agents and MCP servers and of the servers' `headers`; and
 * the override `AGENT_API_KEY`.
 */
export function secretsIn(
  raw: unknown,
  env: Readonly<Record<string, string | undefined>>,
): string[] {
  const entries = values(at(raw, "mmConfigs")).map((entry) => at(entry, "env"));
  const servers = values(at(raw, "mcpServers")).flatMap((server) => [
    at(server, "env"),
    at(server, "headers"),
  ]);
  return [
    env["AGENT_API_KEY"],
    at(raw, "apiKey"),
    ...values(at(raw, "headers")),
    ...entries.flatMap(values),
    ...servers.flatMap(values),
  ].filter((value) => typeof value === "string");
}

function at(value: unknown, key: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
  return (value as Record<string, unknown>)[key];
}

function values(value: unknown): unknown[] {
  return typeof value === "object" && value !== null ? Object.values(value) : [value];
}
