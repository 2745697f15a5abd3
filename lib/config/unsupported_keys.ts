/**
 * Keys that mm will have and this version has not. A file with one of them was written for another
 * version: it is refused by name, because an agent without the hook or the fence that its file asks
 * for is a different agent.
 *
 * @module
 */

/** Keys at the top of the file. */
export const UNSUPPORTED_KEYS: readonly string[] = [
  "fence",
  "editFormat",
  "skills",
];

/** Keys of an entry of `mmConfigs`. */
export const UNSUPPORTED_ENTRY_KEYS: readonly string[] = ["fence"];

/** Kinds of hooks, keys of `hooks`. */
export const UNSUPPORTED_HOOKS: readonly string[] = [
  "preTool",
  "postTool",
  "userPrompt",
  "sessionStart",
  "sessionEnd",
  "turnEnd",
];
