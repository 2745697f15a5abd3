/**
 * A single agent on a scripted model server, for tests that are about no other agent.
 *
 * @module
 */
import type { Keys } from "./agents.ts";
import type { ModelServer, ModelServerOptions } from "./model_server.ts";
import type { TestProject } from "./project.ts";

/** Name of the agent's model. */
export const MODEL = "m";

/** Writes `agent.yaml` for a server, with more keys; a key that is `undefined` is left out. */
export async function writeAgent(
  project: TestProject,
  server: ModelServer,
  keys: Keys = {},
): Promise<void> {
  const all = { provider: "llamacpp", baseUrl: server.url, model: MODEL, ...keys };
  // YAML is a superset of JSON.
  await project.write("agent.yaml", JSON.stringify(all, null, 1));
}

/** Starts a model server with a script and writes the agent that uses it. */
export async function oneAgent(
  project: TestProject,
  reply: NonNullable<ModelServerOptions["reply"]>,
  keys: Keys = {},
): Promise<ModelServer> {
  const server = await project.model({ reply });
  await writeAgent(project, server, keys);
  return server;
}
