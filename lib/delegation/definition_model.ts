/**
 * The model that a definition names.
 *
 * @module
 */
import { quotable } from "../config/problems.ts";
import type { Dialect } from "./dialect.ts";

/** The model, absent for the one in use, and a note where that is not what the file says. */
export interface DefinitionModel {
  readonly model?: string;
  /** A sentence without a period. */
  readonly note?: string;
}

/** Names that stand for a model of another program's choice. */
const ALIASES = /^(?:sonnet|opus|haiku|opusplan|best|default)(?:\[1m\])?$/iu;

/** `authType:id`, as Qwen Code has it. Names of local models may hold a colon too. */
const AUTH_TYPE =
  /^(?:openai|openai-responses|qwen-oauth|gemini|gemini-api-key|vertex-ai|anthropic):\S+$/iu;

/** Reads the name of a model, which is not empty. */
export function readModel(name: string, dialect: Dialect): DefinitionModel {
  if (/^inherit$/iu.test(name)) return {};
  const foreign = ALIASES.test(name) || /^fast$/iu.test(name) ||
    (dialect === "qwen" && AUTH_TYPE.test(name));
  if (!foreign) return { model: name };
  return { note: `"model: ${quotable(name)}" means no model here; the one in use is taken` };
}
