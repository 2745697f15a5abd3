/**
 * `agent`: the tool with which a model starts a subagent.
 *
 * @module
 */
import { oneLine } from "../base/cut.ts";
import { AGENT } from "../config/tool_names.ts";
import { defineTool } from "../tools/define_tool.ts";
import type { Tool, ToolContext, ToolResult } from "../tools/tool.ts";
import {
  type AgentArguments,
  type AgentOffer,
  agentSchema,
  strictArguments,
} from "./agent_arguments.ts";
import { runsInBackground } from "./background.ts";
import type { AgentDefinition } from "./definition.ts";
import { DEFAULT_DEFINITION, FORK, nameKey } from "./definition_name.ts";

/** Definitions that are described; the others can be named all the same. */
const MAX_OFFERED = 20;

/** UTF-16 units of a definition's description, for the model. */
const MAX_DESCRIPTION = 160;

/** UTF-16 units of a task's description: it stands in lists, notifications and on disk. */
const MAX_TASK = 200;

/** UTF-16 units of the call's title. */
const TITLE_LENGTH = 200;

/** Options of {@linkcode agentTool}. */
export interface AgentToolOptions {
  readonly offer: AgentOffer;
  /** Whether a call that does not say runs in the background. */
  readonly backgroundByDefault: boolean;
  /** Whether every fork runs there, because nobody looks at what comes after the prompt. */
  readonly headless: boolean;
  /** The definitions that are described; fixed for the conversation. */
  readonly definitions: readonly AgentDefinition[];
  readonly launch: (args: AgentArguments, context: ToolContext) => Promise<ToolResult>;
}

/** Returns the tool for one session. */
export function agentTool(options: AgentToolOptions): Tool {
  const { offer, launch } = options;
  const tool = defineTool({
    name: AGENT,
    kind: "other",
    gated: true,
    parallel: true,
    description: descriptionOf(options),
    schema: agentSchema(offer),
    preview: (input) => {
      const { subagent_type: type = DEFAULT_DEFINITION, description } = input;
      return {
        title: oneLine(`${type}: ${description}`, TITLE_LENGTH),
        ...(offer.background ? { note: noteOf(input as AgentArguments, options) } : {}),
      };
    },
    run: (input, context) => launch(input as AgentArguments, context),
  });
  return {
    ...tool,
    parse: (raw) => {
      const strict = strictArguments(raw, offer);
      if ("error" in strict) return strict;
      const parsed = tool.parse(strict.raw);
      if ("error" in parsed) return parsed;
      const { subagent_type: type = DEFAULT_DEFINITION, description, ...rest } = parsed.input;
      return {
        input: {
          ...rest,
          description: oneLine(description, MAX_TASK),
          // Rules of the gate are about who works, also where the model names nobody.
          subagent_type: type.normalize("NFC").trim(),
        },
      };
    },
  } as Tool;
}

/** Says whether a call runs in the background, as far as it can be said before it begins. */
function noteOf(args: AgentArguments, options: AgentToolOptions): string {
  const { offer, definitions, backgroundByDefault: byDefault, headless } = options;
  const type = nameKey(args.subagent_type ?? DEFAULT_DEFINITION);
  const own = definitions.find(({ name }) => nameKey(name) === type)?.background;
  return runsInBackground(args, { offer, own, byDefault, headless })
    ? "in the background"
    : "waited for";
}

function descriptionOf(options: AgentToolOptions): string {
  const { offer, definitions, backgroundByDefault } = options;
  const parts = [
    "Hand a task to a subagent, which works alone and reports once. It sees nothing of this " +
    "conversation: put all it needs into prompt. Calls in one answer run at the same time. " +
    "Not for what one tool call does.",
  ];
  if (offer.background) {
    parts.push(
      `In the background (${
        backgroundByDefault ? "default" : "run_in_background"
      }) it gives a task_id at once and its result later, by itself, in a <task-notification>: ` +
        "do not guess it or do the task yourself.",
    );
  }
  if (offer.worktrees) parts.push('isolation "worktree": in a git worktree of its own.');
  const types = definitions.slice(0, MAX_OFFERED).map(({ name, description }) =>
    `- ${name}: ${oneLine(description, MAX_DESCRIPTION)}`
  );
  if (offer.forks) types.push(`- ${FORK}: a copy of you that knows this conversation`);
  const list = types.length === 0 ? "" : `:\n${types.join("\n")}`;
  return `${parts.join(" ")}\nsubagent_type (default ${DEFAULT_DEFINITION})${list}`;
}
