/**
 * One model request of a turn, with its events for the front end.
 *
 * @module
 */
import { formatDuration } from "../base/duration.ts";
import type { ModelClient, ModelReply, ResponseFormat, ToolDeclaration } from "../model/types.ts";
import type { Conversation } from "./conversation.ts";
import { estimateTokens } from "./estimate.ts";
import type { Emit } from "./events.ts";
import { signOfLife } from "./sign_of_life.ts";
import type { Watchdog } from "./watchdog.ts";

/** Options of {@linkcode completeOnce}. */
export interface ModelRequestOptions {
  readonly conversation: Conversation;
  readonly model: ModelClient;
  /** What is declared to the model, in this order. */
  readonly tools: readonly ToolDeclaration[];
  readonly emit: Emit;
  readonly watchdog: Watchdog;
  readonly watchdogTimeoutMs: number;
  readonly signal: AbortSignal;
  /** The shape the answer has to have. */
  readonly responseFormat?: ResponseFormat;
  /** Takes the answer's text as it comes. */
  readonly onText: (text: string) => void;
}

/**
 * Sends the conversation and returns the answer.
 *
 * @throws {ModelError} when there was none.
 * @throws the signal's reason when it was aborted.
 */
export async function completeOnce(options: ModelRequestOptions): Promise<ModelReply> {
  const { conversation, model, tools, emit, watchdog, signal } = options;
  const messageId = crypto.randomUUID();
  const alive = signOfLife(emit);
  const reply = await model.complete({
    messages: conversation.messages,
    tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
    ...(options.responseFormat === undefined ? {} : { responseFormat: options.responseFormat }),
  }, {
    signal,
    patienceMs: options.watchdogTimeoutMs,
    onEvent: (event) => {
      watchdog.touch();
      switch (event.type) {
        case "text":
          options.onText(event.text);
          emit({ type: "text", messageId, text: event.text });
          break;
        case "thought":
          emit({ type: "thought", messageId, text: event.text });
          break;
        case "waiting":
          emit({
            type: "notice",
            severity: "info",
            text: `${event.reason}; trying again in ${formatDuration(event.ms)}`,
          });
          break;
        case "alive":
          alive();
          break;
      }
    },
  });
  const { usage } = reply;
  const used = usage === undefined
    ? estimateTokens([...conversation.messages, reply.message])
    : usage.inputTokens + usage.outputTokens;
  // The facts were asked for when the host was made; a server that is slow to tell delays nothing.
  const size = model.contextWindow;
  emit({
    type: "usage",
    used,
    ...(size === undefined ? {} : { size }),
    ...(usage?.cost === undefined ? {} : { cost: usage.cost }),
  });
  return reply;
}
