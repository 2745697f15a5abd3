/**
 * The model of a configuration that names none: the first server found, looked for at first use, so
 * that starting a process waits for nothing.
 *
 * @module
 */
import type { Effort } from "../config/types.ts";
import { createModelClient, type CreateModelClientOptions } from "./client.ts";
import { resolveModelConfig } from "./discover.ts";
import { providerOf } from "./endpoint.ts";
import type {
  CompleteOptions,
  ModelClient,
  ModelFacts,
  ModelReply,
  ModelRequest,
  ModelSettings,
} from "./types.ts";

/** Options of {@linkcode createLazyModelClient}. */
export interface LazyModelClientOptions extends CreateModelClientOptions {
  /** Takes the sentence that says which server was found. */
  readonly onNotice: (text: string) => void;
}

/**
 * Creates the client of a model, which may be one that has to be found first. When none is found,
 * `complete` rejects with what to do, and a later one looks again.
 *
 * @throws {UsageError} when the configuration names a provider that cannot be used as configured.
 */
export function createLazyModelClient(options: LazyModelClientOptions): ModelClient {
  return providerOf(options.config) === undefined
    ? new DiscoveringClient(options)
    : createModelClient(options);
}

class DiscoveringClient implements ModelClient {
  readonly #options: LazyModelClientOptions;
  #client: ModelClient | undefined;
  #search: Promise<ModelClient> | undefined;

  constructor(options: LazyModelClientOptions) {
    this.#options = options;
  }

  get label(): string {
    return this.#client?.label ?? "no model server found yet";
  }

  get url(): string {
    return this.#client?.url ?? "";
  }

  get contextWindow(): number | undefined {
    return this.#client?.contextWindow ?? this.#options.config.contextWindow;
  }

  get images(): boolean | undefined {
    return this.#client?.images ?? this.#options.config.images;
  }

  get settings(): ModelSettings {
    const { model, reasoning } = this.#options.config;
    return this.#client?.settings ?? {
      ...(model === undefined ? {} : { model }),
      ...(reasoning === undefined ? {} : { reasoning }),
    };
  }

  get asked(): boolean {
    return this.#client?.asked ?? false;
  }

  get efforts(): readonly Effort[] {
    return this.#client?.efforts ?? [];
  }

  async models(options: { readonly signal?: AbortSignal }): Promise<readonly string[] | undefined> {
    try {
      return await (await this.#found()).models(options);
    } catch {
      return undefined;
    }
  }

  with(settings: ModelSettings): ModelClient {
    if (this.#client !== undefined) return this.#client.with(settings);
    const { model: _, reasoning: __, ...config } = this.#options.config;
    return new DiscoveringClient({ ...this.#options, config: { ...config, ...settings } });
  }

  async facts(options: { readonly signal?: AbortSignal }): Promise<ModelFacts> {
    try {
      return await (await this.#found()).facts(options);
    } catch {
      return {};
    }
  }

  async complete(request: ModelRequest, options: CompleteOptions): Promise<ModelReply> {
    const client = await this.#found();
    options.signal.throwIfAborted();
    return await client.complete(request, options);
  }

  #found(): Promise<ModelClient> {
    // A search that found nothing is forgotten: a server may have been started since.
    return this.#search ??= this.#find().catch((error) => {
      this.#search = undefined;
      throw error;
    });
  }

  async #find(): Promise<ModelClient> {
    const { onNotice, ...options } = this.#options;
    const { config, notice } = await resolveModelConfig(options);
    this.#client = createModelClient({ ...options, config });
    if (notice !== undefined) onNotice(notice);
    return this.#client;
  }
}
