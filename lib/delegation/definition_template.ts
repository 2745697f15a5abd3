/**
 * The file that `/agents create` writes.
 *
 * @module
 */
import { stringify } from "yaml";

/** What stands in it. */
export interface DefinitionTemplateOptions {
  readonly name: string;
  readonly description: string;
}

/** Takes the place of the system prompt until somebody writes one. */
const PROMPT =
  "Say here what the subagent is, how it works, and what its report has to hold. Below this line " +
  "everything is its system prompt.";

/** Returns the text. It loads as it is, and with any of the keys that are commented out made active. */
export function definitionTemplate(options: DefinitionTemplateOptions): string {
  const { name, description } = options;
  const scalar = (value: string) => stringify(value, { blockQuote: false, lineWidth: 0 }).trimEnd();
  return `---
name: ${scalar(name)}
# When it is to be used: the model chooses by it.
description: ${scalar(description.replaceAll(/\s+/gu, " ").trim())}
# What it has of the tools of the agent that starts it. Without the key: all of them.
#tools: [read, glob, grep, ls]
#disallowedTools: [write, edit]
# Another model of the same server.
#model: name-on-the-server
# The longest run, in model requests and in time.
#maxTurns: 50
#maxTime: 10m
# Whether it runs in the background where the call does not say.
#background: false
---
${PROMPT}
`;
}
