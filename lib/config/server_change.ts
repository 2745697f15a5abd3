/**
 * Keeping a file's secrets at the server they were written for.
 *
 * `AGENT_BASE_URL` and `AGENT_PROVIDER` can lead a request elsewhere; a key of the file would then be
 * handed to whoever answers there.
 *
 * @module
 */
import type { Overrides } from "./overrides.ts";
import type { AgentFile, AgentFileKey } from "./schema.ts";

/** The values of the file that still count, and what the user should know about it. */
export interface KeptValues {
  readonly values: AgentFile;
  readonly warnings: readonly string[];
}

/**
 * Leaves out `apiKey` and `headers` of the file when an override leads to another server, and
 * `baseUrl` when it names another provider: the new provider's own key must not reach the old
 * address either.
 */
export function keepSecretsAtHome(file: AgentFile, overrides: Overrides): KeptValues {
  const { baseUrl, provider } = overrides.values;
  const elsewhere = baseUrl !== undefined
    ? !sameAddress(baseUrl, file.baseUrl)
    : provider !== undefined && provider !== file.provider;
  if (!elsewhere) return { values: file, warnings: [] };

  const dropped = (["baseUrl", "apiKey", "headers"] as const).filter((key) =>
    file[key] !== undefined && overrides.values[key] === undefined
  );
  if (dropped.length === 0) return { values: file, warnings: [] };
  const values = { ...file };
  for (const key of dropped) delete values[key];
  return { values, warnings: [warning(dropped, overrides)] };
}

function warning(dropped: readonly AgentFileKey[], { values, names }: Overrides): string {
  const variable = names[values.baseUrl !== undefined ? "baseUrl" : "provider"] ?? "an override";
  const keys = dropped.map((key) => `"${key}"`).join(" and ");
  return `${variable} leads to another server, so ${keys} of the configuration file ` +
    `${dropped.length === 1 ? "is" : "are"} not used; AGENT_API_KEY sets the key for it`;
}

function sameAddress(a: string, b: string | undefined): boolean {
  return b !== undefined && normal(a) === normal(b);
}

function normal(url: string): string {
  return new URL(url).href.replace(/\/+$/u, "");
}
