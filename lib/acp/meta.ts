/**
 * What two mm processes tell each other beyond the protocol, in `_meta.mm`. Everything here is
 * optional for both sides.
 *
 * @module
 */
import type { EndKind, IncompleteLimit } from "../base/ends.ts";
import type { ForkOpening } from "../agents/child_connection.ts";
import type { ModelSettings, Usage } from "../model/types.ts";
import { countOf, type Fields, fieldsOf } from "./fields.ts";

/** The key under which mm's own facts stand in a `_meta` object. */
const KEY = "mm";

/** Facts about a session, with the answer to `session/new`. */
export interface SessionMeta {
  /** `provider/model`. */
  readonly label: string;
  /** Tokens of the model's window, where it is known. */
  readonly window?: number;
  /** What is in use, under the names of the server. */
  readonly settings?: ModelSettings;
  /** MCP servers of the editor that were not started. */
  readonly mcpServersNotStarted?: readonly string[];
}

/** What a session of a subagent begins with, in the request that opens it. */
export interface OpeningMeta {
  /** Whether the conversation is saved. */
  readonly save?: boolean;
  /** Present for a fork of another conversation. */
  readonly fork?: ForkOpening;
}

/** Facts about the agent, with the answer to `initialize`. */
export interface AgentMeta {
  /** Whether it takes messages while a prompt runs. */
  readonly steer: boolean;
}

/** How the value of an option is meant. */
export interface OptionMeta {
  /** The model's name on its server, without the provider before it. */
  readonly bare: boolean;
}

/** Facts about the end of a prompt, with its answer. */
export interface PromptMeta {
  readonly end: EndKind;
  /** What made the answer incomplete: the protocol has no word for calls in circles. */
  readonly limit?: IncompleteLimit;
  /** `provider/model` that answered. */
  readonly label: string;
  readonly usage?: Usage;
}

/** Facts about a tool call. */
export interface CallMeta {
  /** The full name: `bash`, `bob/bash`. */
  readonly name: string;
  /** The title without the name of the asked agent, where the shown one has it. */
  readonly title?: string;
  /** The call this one belongs to. */
  readonly parentCallId?: string;
  /** The asked agent that makes the call: `bob`, `bob/riker`. */
  readonly agent?: string;
}

/** Facts about a piece of text. */
export interface ChunkMeta {
  /** The asked agent that speaks. */
  readonly agent?: string;
  /** The text is a message of mm itself, not of a model. */
  readonly notice?: "info" | "warning" | "error";
}

/** Facts about a permission question. */
export interface QuestionMeta {
  /** A rule of the agent that asks wants a person: no yolo and no rule of the other side answers it. */
  readonly mustAsk: true;
}

/** Facts about the answer to a permission question. */
export interface PermissionMeta {
  /** Why nobody could answer, as the end of a sentence. */
  readonly reason: string;
}

/** Returns the `_meta` object that carries `facts`. */
export function metaOf(
  facts:
    | AgentMeta
    | OpeningMeta
    | OptionMeta
    | SessionMeta
    | PromptMeta
    | CallMeta
    | ChunkMeta
    | QuestionMeta
    | PermissionMeta,
): Record<string, unknown> {
  return { [KEY]: facts };
}

/** Returns mm's own facts of a message, an empty object where it has none. */
export function readMeta(message: unknown): Fields {
  return fieldsOf(fieldsOf(fieldsOf(message)["_meta"])[KEY]);
}

/** Returns the token counts in `value`, or `undefined` when they are none. */
export function readUsage(value: unknown): Usage | undefined {
  const fields = fieldsOf(value);
  const inputTokens = countOf(fields["inputTokens"]);
  const outputTokens = countOf(fields["outputTokens"]);
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  // ACP's own usage of a prompt calls it otherwise.
  const cachedTokens = countOf(fields["cachedTokens"]) ?? countOf(fields["cachedReadTokens"]);
  const cost = fields["cost"];
  return {
    inputTokens,
    outputTokens,
    ...(cachedTokens === undefined ? {} : { cachedTokens }),
    ...(typeof cost === "number" && cost >= 0 ? { cost } : {}),
  };
}
