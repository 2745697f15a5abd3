/**
 * A model without a model: a small script that reads the prompt, calls real tools and reports.
 *
 * It is deterministic and needs no network, so that a first run, the tutorial, a bug report and a
 * benchmark need nothing else.
 *
 * @module
 */
import { oneLine } from "../base/cut.ts";
import { readDemoStep, splitDemoSteps } from "./demo_grammar.ts";
import type { CompleteOptions, Message, ModelClient, ModelReply, ModelRequest } from "./types.ts";

/** How the demo model is always shown. */
export const DEMO_LABEL = "demo (no model)";

const MARK = "[demo] ";

/** Characters of one streamed piece. */
const PIECE = 24;

/** Lines of a tool's result that are quoted, and characters of each. */
const QUOTED_LINES = 4;
const QUOTED_CHARS = 120;

/** Creates the demo model. */
export function createDemoClient(): ModelClient {
  return {
    label: DEMO_LABEL,
    url: "",
    contextWindow: undefined,
    images: false,
    settings: {},
    efforts: [],
    asked: false,
    models: () => Promise.resolve(undefined),
    with() {
      return this;
    },
    facts: () => Promise.resolve({}),
    async complete(request, options) {
      // The answer comes later than the call, as with every other model.
      await Promise.resolve();
      options.signal.throwIfAborted();
      return answer(request, options);
    },
  };
}

function answer(request: ModelRequest, options: CompleteOptions): ModelReply {
  const { question, results, calls } = lastTurn(request.messages);
  // One step for each call: the turn's results so far say how many steps are done.
  const step = splitDemoSteps(question)[results.length];
  const action = step === undefined ? undefined : readDemoStep(step, request.tools);
  const text = MARK + (action?.sentence ?? (results.length > 0 ? report(results) : help(question)));
  for (let at = 0; at < text.length; at += PIECE) {
    options.signal.throwIfAborted();
    options.onEvent({ type: "text", text: text.slice(at, at + PIECE) });
  }
  const call = action && {
    id: `demo${String(calls + 1).padStart(5, "0")}`,
    name: action.tool,
    arguments: JSON.stringify(action.input),
  };
  return {
    message: { role: "assistant", text, ...(call === undefined ? {} : { toolCalls: [call] }) },
    finish: call === undefined ? "stop" : "tool_calls",
    usage: { inputTokens: tokensOf(request.messages), outputTokens: Math.ceil(text.length / 4) },
  };
}

/** The last question, the results that followed it, and the number of all calls before. */
function lastTurn(messages: readonly Message[]) {
  const start = messages.findLastIndex((message) => message.role === "user");
  const user = messages[start];
  return {
    question: user?.role === "user" ? user.text : "",
    results: messages.slice(start + 1).filter((message) => message.role === "tool"),
    calls: messages.filter((message) => message.role === "tool").length,
  };
}

function report(results: readonly { readonly name: string; readonly text: string }[]): string {
  return results.map(({ name, text }) => {
    const lines = text.split("\n").filter((line) => line.trim() !== "");
    const quoted = lines.slice(0, QUOTED_LINES).map((line) => `> ${oneLine(line, QUOTED_CHARS)}`);
    const more = lines.length - quoted.length;
    return [
      `The tool \`${name}\` gave this:`,
      "",
      ...(quoted.length === 0 ? ["> (nothing)"] : quoted),
      ...(more > 0 ? [`> (${more} more lines)`] : []),
    ].join("\n");
  }).join("\n\n");
}

function help(question: string): string {
  return `You wrote: "${
    oneLine(question, 200)
  }". I am the demo: a small script, not a model, so I ` +
    "cannot think about it. I understand `ask <agent> <question>`, `delegate <task>`, `list`, " +
    "`read <file>`, `write <file> <text>` and `run <command>`, also several of them joined by `then`.";
}

/** A rough count, so that front ends have a figure to show. */
function tokensOf(messages: readonly Message[]): number {
  return Math.ceil(messages.reduce((sum, message) => sum + message.text.length, 0) / 4);
}
