/**
 * The keys about the model: where it is and how it is asked.
 *
 * @module
 */
import * as z from "zod";
import { count, line, number, oneOf } from "./fields.ts";

/** Names of {@linkcode ModelConfig.provider}. */
export const PROVIDERS = [
  "llamacpp",
  "ollama",
  "lmstudio",
  "vllm",
  "openai",
  "mistral",
  "gemini",
  "anthropic",
  "openrouter",
  "deepseek",
  "groq",
  "xai",
  "custom",
  "demo",
] as const;

/** Fields of a header, RFC 9110 section 5.6.2. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/u;

/** What fetch accepts as a header's value: anything else would fail at the first request. */
const HEADER_VALUE = /^[\t\x20-\x7e\x80-\xff]*$/u;

/** The keys about the model. */
export const modelKeys = {
  provider: oneOf(PROVIDERS).optional().describe(
    "Where the model is. Sets the address, the variable of the key and what the server is known " +
      "to do. Absent: the first server that runs on this machine, else the first key found.",
  ),
  baseUrl: line({ max: 2000 }).superRefine((value, context) => {
    const error = baseUrlError(value);
    if (error !== undefined) context.addIssue(error);
  }).optional().describe(
    "The address of an OpenAI-compatible server, with its /v1. Absent: the provider's own. " +
      "Required for the provider custom.",
  ),
  // It is sent in a header: anything else would fail at the first request, in words of fetch.
  apiKey: line({ max: 10_000 }).refine((value) => /^[\x21-\x7e]+$/u.test(value), {
    error: "must have ASCII characters only, and no space",
  }).optional().describe(
    "The key sent to the server. Write ${NAME} to read it from the environment. Absent: the " +
      "provider's usual variable.",
  ),
  model: line().optional().describe(
    "The model's name on its server. Absent: the provider's default, or the model that is loaded.",
  ),
  contextWindow: count().optional().describe(
    "The model's window in tokens. Absent: the server is asked.",
  ),
  maxTokens: count().optional().describe(
    "Most tokens of one answer. Absent: the server's own limit.",
  ),
  temperature: number({ min: 0, max: 2 }).optional().describe(
    "Sampling temperature. Absent: the server's own.",
  ),
  topP: number({ min: 0, max: 1 }).optional().describe(
    "Nucleus sampling: the share of probability that is considered. Absent: the server's own.",
  ),
  headers: z.record(
    z.string().regex(HEADER_NAME, { error: "is not the name of an HTTP header" }),
    z.string({ error: "must be text" }).regex(HEADER_VALUE, {
      error: "must be one line of Latin characters",
    }),
    { error: "must be a map from header names to text" },
  ).optional().describe("HTTP headers sent with each request, in addition to mm's own."),
  reasoning: oneOf(["none", "minimal", "low", "medium", "high"]).optional().describe(
    "How much a reasoning model thinks. Absent: the model's own default.",
  ),
};

function baseUrlError(value: string): string | undefined {
  if (!URL.canParse(value)) return "must be an address such as http://127.0.0.1:8080/v1";
  const url = new URL(value);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    return "must begin with http:// or https://";
  }
  if (url.username !== "" || url.password !== "") {
    return "must not hold a user name or a password; use apiKey or headers";
  }
  return undefined;
}
