/**
 * The environment of an MCP server: this process's, without what is meant for mm alone.
 *
 * @module
 */
import {
  OVERRIDE_VARIABLE,
  OWN_VARIABLES,
  PROVIDER_VARIABLE,
  SETUP_VARIABLES,
} from "../base/fenced_variables.ts";

/** Options of {@linkcode serverEnvironment}. */
export interface ServerEnvironmentOptions {
  /** This process's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Values that no server needs: the key of the model. A variable that holds one is left out. */
  readonly secrets: readonly string[];
  /** What the server's own entry sets. */
  readonly own: Readonly<Record<string, string>> | undefined;
}

/**
 * Returns the whole environment a server starts with. It is another vendor's program: what its entry
 * does not pass on, it does not need to know.
 */
export function serverEnvironment(options: ServerEnvironmentOptions): Record<string, string> {
  const { env, secrets, own } = options;
  const kept: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || secrets.includes(value)) continue;
    if (OWN_VARIABLES.has(name) || SETUP_VARIABLES.has(name)) continue;
    if (OVERRIDE_VARIABLE.test(name) || PROVIDER_VARIABLE.test(name)) continue;
    kept[name] = value;
  }
  return { ...kept, ...own };
}
