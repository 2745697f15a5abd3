/**
 * The model client for a configuration.
 *
 * @module
 */
import type { ModelConfig } from "../config/types.ts";
import { createDemoClient } from "./demo.ts";
import type { Env } from "./endpoint.ts";
import { createOpenAIClient } from "./openai_client.ts";
import type { RetryTiming } from "./retry.ts";
import type { ModelClient } from "./types.ts";

/** Options of {@linkcode createModelClient}. */
export interface CreateModelClientOptions {
  /** Must name a provider or a base URL: see `resolveModelConfig` for when it names neither. */
  readonly config: ModelConfig;
  /** The variables the provider's key is looked for in. Nothing else is read from it. */
  readonly env: Env;
  /** @default {globalThis.fetch} */
  readonly fetch?: typeof fetch;
  /** Other numbers for the waits between attempts. */
  readonly timing?: Partial<RetryTiming>;
  /** Milliseconds for usage and the end mark after the model stopped. @default {1000} */
  readonly graceMs?: number;
}

/**
 * Creates the client of a model. Costs nothing until its first use.
 *
 * @throws {UsageError} when no provider, URL or key is configured where one is needed.
 */
export function createModelClient(options: CreateModelClientOptions): ModelClient {
  if (options.config.provider === "demo") return createDemoClient();
  const { fetch: fetchFn = fetch, ...rest } = options;
  return createOpenAIClient({ ...rest, fetch: fetchFn });
}
