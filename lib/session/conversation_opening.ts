/**
 * What a conversation begins with: the configured system prompt, the project's instructions, the
 * shape of the answers.
 *
 * @module
 */
import type { AgentConfig } from "../config/types.ts";
import { outputFormatParagraph } from "../engine/structured_prompt.ts";
import { type ProjectInstructions, readProjectInstructions } from "./project_instructions.ts";
import { builtinSystemPrompt } from "./system_prompt.ts";

/** The beginning of a conversation. */
export interface ConversationOpening {
  /** The whole system prompt; it stays as it is until the next conversation begins. */
  readonly system: string;
  readonly instructions: ProjectInstructions;
  /** The model's window when the instructions were read, in tokens, where it was known. */
  readonly window: number | undefined;
}

/** Options of {@linkcode openConversation}. */
export interface OpenConversationOptions {
  /** The session's working directory, absolute. */
  readonly cwd: string;
  readonly config: AgentConfig;
  /** The model's window in tokens, where it is known. */
  readonly window: number | undefined;
}

/**
 * Puts the system prompt of a new, a resumed or a loaded conversation together. What the
 * configuration says stands first and is never replaced. Never rejects.
 */
export async function openConversation(
  options: OpenConversationOptions,
): Promise<ConversationOpening> {
  const { cwd, config, window } = options;
  const instructions = await readProjectInstructions(options);
  const sections = [
    config.system ?? builtinSystemPrompt({ cwd }),
    instructions.section,
    config.structuredOutput && outputFormatParagraph(config.structuredOutput.schema),
  ].filter((section) => section !== undefined);
  return { system: joined(sections), instructions, window };
}

/** Puts an empty line between sections, whether or not they end with a line feed. */
function joined(sections: readonly string[]): string {
  return sections.reduce((before, section) =>
    `${before}${before.endsWith("\n\n") ? "" : before.endsWith("\n") ? "\n" : "\n\n"}${section}`
  );
}
