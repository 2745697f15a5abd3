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

/** How any subagent works well; what it is for stands above it. */
const WAY = `- Find out before you act: read the files concerned, search rather than guess.
- Do what the task says and no more. After a change, run what proves it.
- When a call is refused, do not look for a way around it: go on without it, and say so.
- Name the file and the line of whatever you report. Say what you did not find or did not do.`;

/**
 * Returns the text, with a system prompt made of what the subagent is for. It can be used as it is, and
 * with any of the keys that are commented out made active.
 */
export function definitionTemplate(options: DefinitionTemplateOptions): string {
  const { name } = options;
  const description = options.description.replaceAll(/\s+/gu, " ").trim();
  const scalar = (value: string) => stringify(value, { blockQuote: false, lineWidth: 0 }).trimEnd();
  return `---
name: ${scalar(name)}
# When it is to be used: the model chooses by it.
description: ${scalar(description)}
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
You are the subagent ${name}. What you are for: ${description}

${WAY}
`;
}
