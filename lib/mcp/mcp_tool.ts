/**
 * A tool of an MCP server, as a tool of mm.
 *
 * @module
 */
import { cutMiddle, headOf } from "../base/cut.ts";
import type { Tool } from "../tools/tool.ts";
import { visibleCommand } from "../tools/visible_command.ts";
import { resultText } from "./result_text.ts";
import type { McpServer } from "./server.ts";
import type { ServerTool } from "./server_tool.ts";

/** UTF-16 units of the arguments in a title; a question shows them whole below it. */
const MAX_TITLE = 500;

/** The arguments as they go to the server. */
type Arguments = Readonly<Record<string, unknown>>;

/** Options of {@linkcode mcpTool}. */
export interface McpToolOptions {
  /** The name the model calls it by. */
  readonly name: string;
  readonly server: McpServer;
  readonly tool: ServerTool;
}

/** Makes the tool. */
export function mcpTool(options: McpToolOptions): Tool<Arguments> {
  const { name, server, tool } = options;
  return {
    name,
    kind: tool.readOnly ? "read" : "other",
    description: tool.description,
    parameters: tool.parameters,
    gated: !tool.readOnly,
    parallel: tool.readOnly,
    parse: readArguments,
    preview: (input) => Promise.resolve({ title: titleOf(tool.name, input) }),
    async run(input, context) {
      // The call has a budget of its own, which each sign of life begins anew.
      const resumeWatchdog = context.pauseWatchdog();
      try {
        const outcome = await server.call(tool.name, input, {
          signal: context.signal,
          timeoutMs: context.bashTimeoutMaxMs,
          onProgress: (words) => {
            context.alive();
            if (words !== "") context.output(`${words.toWellFormed()}\n`);
          },
        });
        if ("failure" in outcome) {
          return { ok: false, text: cutMiddle(outcome.failure, context.maxOutput).text };
        }
        const { text, ok } = resultText(outcome.result);
        const note = outcome.note === undefined ? "" : `[${outcome.note}]\n`;
        const room = Math.max(0, context.maxOutput - note.length);
        return { ok, text: note + cutMiddle(text, room).text };
      } finally {
        resumeWatchdog();
      }
    },
  };
}

/** The server checks the arguments against its own schema; here they only have to be an object. */
function readArguments(raw: unknown): { readonly input: Arguments } | { readonly error: string } {
  let value = raw;
  if (typeof value === "string") {
    try {
      // Some models write the object as a text once more.
      value = JSON.parse(value);
    } catch {
      // It is no object either way.
    }
  }
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    return { input: value as Arguments };
  }
  return { error: "the arguments have to be a JSON object" };
}

function titleOf(name: string, input: Arguments): string {
  const shown = Object.keys(input).length === 0 ? "" : ` ${JSON.stringify(input)}`;
  const title = visibleCommand(name + shown);
  return title.length <= MAX_TITLE ? title : `${headOf(title, MAX_TITLE)}…`;
}
