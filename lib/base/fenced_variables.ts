/**
 * Environment variables that are meant for this process and not for every program it starts.
 *
 * @module
 */

/** Overrides of this process's configuration. */
export const OVERRIDE_VARIABLE = /^AGENT_/u;

/** Accounts with model providers: not for another vendor's program unless its entry passes them. */
export const PROVIDER_VARIABLE =
  /^(?:OPENAI|ANTHROPIC|CLAUDE|GEMINI|GOOGLE|MISTRAL|OPENROUTER|DEEPSEEK|GROQ|XAI|AZURE_OPENAI)_/u;
