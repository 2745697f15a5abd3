/**
 * The agents of most tests: you (`agent.yaml`) may ask bob, bob may ask riker, and riker would ask bob
 * again. All talk to one model server, each with a model of its own name.
 *
 * @module
 */
import type { ModelServer } from "./model_server.ts";
import type { TestProject } from "./project.ts";

/** Keys of an agent's configuration. */
export type Keys = Readonly<Record<string, unknown>>;

/** Options of {@linkcode writeAgents}. */
export interface WriteAgentsOptions {
  readonly server: ModelServer;
  /** More keys of each file. */
  readonly you?: Keys;
  readonly bob?: Keys;
  readonly riker?: Keys;
  /** More keys of your entry for bob; a `command` takes the place of his file. */
  readonly bobEntry?: Keys;
  /** More entries of your `mmConfigs`. */
  readonly entries?: Keys;
}

/** Writes the three files. YAML is a superset of JSON. */
export async function writeAgents(project: TestProject, options: WriteAgentsOptions) {
  const { server, bobEntry = {} } = options;
  const agent = (model: string, keys: Keys) =>
    JSON.stringify({ provider: "llamacpp", baseUrl: server.url, model, ...keys }, null, 1);
  const entry = (name: string, more: Keys = {}) => ({
    ...("command" in more ? {} : { path: `${name}.yaml` }),
    description: `knows all about ${name}`,
    ...more,
  });
  await project.write(
    "agent.yaml",
    agent("you", {
      mmConfigs: { bob: entry("bob", bobEntry), ...options.entries },
      ...options.you,
    }),
  );
  await project.write(
    "bob.yaml",
    agent("bob", { mmConfigs: { riker: entry("riker") }, ...options.bob }),
  );
  await project.write(
    "riker.yaml",
    agent("riker", { mmConfigs: { bob: entry("bob") }, ...options.riker }),
  );
}

/** A call of `ask_agent`, as a model makes it. */
export function askAgent(agent: string, prompt: string) {
  return { name: "ask_agent", arguments: { agent, prompt } };
}

/** A call of `bash`, as a model makes it. */
export function bash(command: string, more: Keys = {}) {
  return { name: "bash", arguments: { command, ...more } };
}

/** A call of `agent`, as a model makes it. */
export function delegate(prompt: string, more: Keys = {}) {
  return { name: "agent", arguments: { description: "A task", prompt, ...more } };
}
