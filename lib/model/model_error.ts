/**
 * The sentences about failures: while mm waits, and when it gives up.
 *
 * @module
 */
import { nearest } from "../base/nearest.ts";
import { formatDuration } from "../base/duration.ts";
import type { Endpoint } from "./endpoint.ts";
import type { Failure } from "./failure.ts";
import { ruleFor } from "./retry.ts";
import { ModelError } from "./types.ts";

/** What a final error is made of. */
export interface ModelErrorFacts {
  readonly failure: Failure;
  readonly endpoint: Endpoint;
  /** Unknown when the server never said which it has. */
  readonly model: string | undefined;
  /** Attempts made in all. */
  readonly attempts: number;
  /** Milliseconds from the first failure to the last. */
  readonly waitedMs: number;
  /** The models of the server, where the failure is about a model. */
  readonly models?: readonly string[];
}

/** Models that an error message names at most. */
const MAX_NAMED = 5;

/** Returns why mm waits, as a clause for the user: `llama.cpp is loading ...`. */
export function waitingReason(failure: Failure, endpoint: Endpoint): string {
  const where = `${endpoint.preset.title} at ${endpoint.baseUrl}`;
  const words = endpoint.redact(failure.words.text);
  switch (failure.condition) {
    case "refused":
    case "unknown_host":
    case "connection":
      return `${where} cannot be reached: ${words}`;
    case "status":
    case "error_inside":
      return `${where} answered ${statusOf(failure)}${words}`;
    default:
      return `${where} gave no whole answer: ${words}`;
  }
}

/** Returns the error for a failure that no further attempt follows. */
export function modelError(facts: ModelErrorFacts): ModelError {
  const { failure, endpoint } = facts;
  const who = facts.model === undefined ? "a model" : `"${facts.model}"`;
  const url = `${endpoint.baseUrl}/chat/completions`;
  const tried = facts.attempts > 1
    ? ` (${facts.attempts} attempts in ${formatDuration(facts.waitedMs)})`
    : "";
  const message = `Cannot get an answer from ${who} at ${url}: ` +
    `${statusOf(failure)}${failure.words.text}${tried}${hintFor(facts)}`;
  const kind = ruleFor(failure).kind;
  return new ModelError(endpoint.redact(message), {
    kind,
    ...(failure.status === undefined ? {} : { status: failure.status }),
    ...(failure.partial === undefined ? {} : { partial: failure.partial }),
    ...(failure.cause === undefined ? {} : { cause: failure.cause }),
  });
}

function statusOf(failure: Failure): string {
  return failure.status === undefined ? "" : `HTTP ${failure.status}: `;
}

function hintFor({ failure, endpoint, model, models }: ModelErrorFacts): string {
  const { preset } = endpoint;
  if (failure.status === 401 || failure.status === 403) {
    return preset.keyVariable === undefined
      ? `; check "apiKey" in the configuration`
      : `; check the API key (${preset.keyVariable}, or "apiKey" in the configuration)`;
  }
  if (models !== undefined && models.length > 0) return `; ${namesOf(models, model ?? "")}`;
  if (failure.condition === "refused" || failure.condition === "unknown_host") {
    return endpoint.local
      ? `; start ${preset.title}, or set "baseUrl" to where it runs`
      : `; check the network, and "baseUrl" in the configuration`;
  }
  if (failure.condition === "not_an_answer" || (failure.status === 404 && models === undefined)) {
    return `; check "baseUrl" in the configuration`;
  }
  return "";
}

function namesOf(models: readonly string[], wanted: string): string {
  const near = nearest(wanted, models);
  const first = near === undefined ? models : [near, ...models.filter((name) => name !== near)];
  const named = first.slice(0, MAX_NAMED).map((name) => `"${name}"`).join(", ");
  const more = models.length > MAX_NAMED ? ` and ${models.length - MAX_NAMED} more` : "";
  return `this server has ${named}${more}`;
}
