/**
 * The project of `mm -demo`: two agents and a file, in a directory of its own.
 *
 * @module
 */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { privateTempDir } from "../platform/directories.ts";

/** What stands in the demo's file, and must come back through each way of asking. */
export const DEMO_FACT = "The tests need 42 seconds.";

const AGENT = `# The agent you talk to. "demo" is a small script in place of a model.
provider: demo
acp: {title: Demo agent}
mmConfigs:
  bob:
    path: bob.yaml
    description: Knows the files of this project
`;

const BOB = `# The agent that is asked.
provider: demo
acp: {title: Bob}
`;

/** The demo's project. */
export interface DemoProject {
  readonly directory: string;
  /** The asking agent's configuration, absolute. */
  readonly config: string;
  /** Removes it. */
  remove(): Promise<void>;
}

/** Writes the project. */
export async function createDemoProject(): Promise<DemoProject> {
  const directory = await privateTempDir("mm-demo-");
  const config = join(directory, "agent.yaml");
  await writeFile(config, AGENT);
  await writeFile(join(directory, "bob.yaml"), BOB);
  await writeFile(join(directory, "notes.txt"), `${DEMO_FACT}\n`);
  return {
    directory,
    config,
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}
