/**
 * Environment variables that are meant for this process and not for every program it starts.
 *
 * @module
 */

/** Overrides of this process's configuration. */
export const OVERRIDE_VARIABLE = /^AGENT_/u;

/** Tells a process that was started for subagents where it saves conversations, absolute. */
export const SUBAGENT_STATE_VARIABLE = "MM_SUBAGENT_STATE";

/** Tells a process that was started for subagents what its configuration file has to hold. */
export const CONFIG_DIGEST_VARIABLE = "MM_CONFIG_DIGEST";

/** Tells such a process which definition it is to serve: mm's version, a space, the definition's. */
export const DEFINITION_VARIABLE = "MM_DEFINITION";

/** What mm tells one process that it starts, about this mm and this conversation. */
export const OWN_VARIABLES: ReadonlySet<string> = new Set([
  "MM_BIN",
  "MM_CONFIG",
  "MM_TRANSCRIPT",
  "MM_ASK_DEPTH",
  SUBAGENT_STATE_VARIABLE,
  CONFIG_DIGEST_VARIABLE,
  DEFINITION_VARIABLE,
]);

/** How mm is set up on this machine: for every mm, and for no other vendor's program. */
export const SETUP_VARIABLES: ReadonlySet<string> = new Set([
  "MM_STATE_DIR",
  "MM_CONFIG_DIR",
  "MM_LOG",
]);

/** Accounts with model providers: not for another vendor's program unless its entry passes them. */
export const PROVIDER_VARIABLE =
  /^(?:OPENAI|ANTHROPIC|CLAUDE|GEMINI|GOOGLE|MISTRAL|OPENROUTER|DEEPSEEK|GROQ|XAI|AZURE_OPENAI)_/u;
