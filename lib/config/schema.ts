/**
 * The schema of `agent.yaml`: every key, put together from one file for each subject.
 *
 * @module
 */
import * as z from "zod";
import { agentsMdKeys } from "./agents_md_keys.ts";
import { compactionKeys } from "./compaction_keys.ts";
import { delegationKeys } from "./delegation_keys.ts";
import { group, line, path, text } from "./fields.ts";
import { hooksKeys } from "./hooks_keys.ts";
import { limitKeys } from "./limit_keys.ts";
import { mcpKeys } from "./mcp_keys.ts";
import { mmConfigsKeys } from "./mm_configs.ts";
import { modelKeys } from "./model_keys.ts";
import { modelQuirkKeys } from "./model_quirk_keys.ts";
import { permissionKeys } from "./permission_keys.ts";
import { sessionsKeys } from "./sessions_keys.ts";
import { structuredOutputKeys } from "./structured_output_keys.ts";

const identityKeys = {
  system: z.union([
    text(),
    group({ file: path().describe("A file of text beside the configuration.") }),
  ], { error: "must be text, or a map with the key file" }).optional().describe(
    "The system prompt: text, or {file: path}. Absent: mm's own.",
  ),
  acp: group({
    title: line({ max: 100 }).optional().describe(
      "The name editors and asking agents show. Absent: mm's own.",
    ),
  }).optional().describe("How the agent presents itself over ACP."),
};

/** The schema of a whole file. What comes out has defaults, and durations in milliseconds. */
export const agentFileSchema = group({
  ...modelKeys,
  ...modelQuirkKeys,
  system: identityKeys.system,
  ...permissionKeys,
  ...limitKeys,
  ...agentsMdKeys,
  ...structuredOutputKeys,
  ...sessionsKeys,
  ...compactionKeys,
  ...mmConfigsKeys,
  ...delegationKeys,
  ...hooksKeys,
  ...mcpKeys,
  acp: identityKeys.acp,
}).describe("The configuration of one mm agent: agent.yaml.");

/** A file's keys and values after they were checked. */
export type AgentFile = z.output<typeof agentFileSchema>;

/** A key at the top of the file. */
export type AgentFileKey = keyof AgentFile;

/** All keys at the top of the file, in the order of the reference. */
export const AGENT_FILE_KEYS = Object.keys(agentFileSchema.shape) as AgentFileKey[];
