/**
 * The key `agentsMd`: whether and where the project's own instructions are read.
 *
 * @module
 */
import { count, flag, group, path } from "./fields.ts";

/** The name that coding agents share for a project's instructions. */
export const AGENTS_MD = "AGENTS.md";

/** The key about the project's instructions. */
export const agentsMdKeys = {
  agentsMd: group({
    enabled: flag().default(true).describe("Whether the file is read."),
    path: path().default(AGENTS_MD).describe(
      "The file. A relative path begins at the session's working directory, not here.",
    ),
    maxChars: count({ min: 0 }).default(0).describe(
      "Unicode characters above which the whole file is left out. 0: no limit.",
    ),
  }).prefault({}).describe(
    "The project's instructions, added to the system prompt when a conversation begins.",
  ),
};
