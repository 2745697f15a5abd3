/**
 * The model of one session: the configured one until a person chooses another. It counts what the
 * session used.
 *
 * @module
 */
import { UserError } from "../base/errors.ts";
import { didYouMean } from "../base/nearest.ts";
import type { Effort } from "../config/types.ts";
import type {
  CompleteOptions,
  ModelClient,
  ModelFacts,
  ModelReply,
  ModelRequest,
  ModelSettings,
  Usage,
} from "../model/types.ts";
import { addUsage } from "../model/usage.ts";
import type { ModelChoice } from "./types.ts";

/** Models that an error names at most. */
const MAX_NAMED = 10;

/** The model of one session. */
export class SessionModel implements ModelClient, ModelChoice {
  /** Clients by their settings: one that comes again knows its server already. */
  readonly #clients = new Map<string, ModelClient>();
  #client: ModelClient;
  #listed: readonly string[] = [];
  #used: Usage | undefined;
  #chosen = false;

  /** Begins with the model of the process. */
  constructor(client: ModelClient) {
    this.#client = client;
    this.#clients.set(keyOf(client.settings), client);
  }

  get label(): string {
    return this.#client.label;
  }

  get url(): string {
    return this.#client.url;
  }

  get contextWindow(): number | undefined {
    return this.#client.contextWindow;
  }

  get settings(): ModelSettings {
    return this.#client.settings;
  }

  /** What a person chose in place of what the configuration says; `undefined` where nobody did. */
  get chosen(): ModelSettings | undefined {
    return this.#chosen ? this.settings : undefined;
  }

  get efforts(): readonly Effort[] {
    return this.#client.efforts;
  }

  get asked(): boolean {
    return this.#client.asked;
  }

  /** Whether the model is known to take images. */
  get images(): boolean {
    return this.#client.images === true;
  }

  get listed(): readonly string[] {
    return this.#listed;
  }

  /** What all requests of the session used together, where the server counted. */
  get used(): Usage | undefined {
    return this.#used;
  }

  async models(options: { readonly signal?: AbortSignal }) {
    const models = await this.#client.models(options);
    this.#listed = models ?? this.#listed;
    return models;
  }

  with(settings: ModelSettings): ModelClient {
    return this.#client.with(settings);
  }

  async facts(options: { readonly signal?: AbortSignal }): Promise<ModelFacts> {
    return await this.#client.facts(options);
  }

  async complete(request: ModelRequest, options: CompleteOptions): Promise<ModelReply> {
    const client = this.#client;
    const reply = await client.complete(request, options);
    if (reply.usage !== undefined) this.#used = addUsage(this.#used, reply.usage);
    // A server that was not there at the start is now.
    if (client.contextWindow === undefined) void this.facts({});
    return reply;
  }

  /** The conversation is another one: what it used is counted anew. */
  forgetUsage(): void {
    this.#used = undefined;
  }

  async choose(name: string, options: { readonly signal?: AbortSignal } = {}): Promise<void> {
    const models = await this.models(options);
    options.signal?.throwIfAborted();
    await this.#use({ ...this.settings, model: nameAmong(name, models) }, options);
  }

  async think(effort: Effort | undefined): Promise<void> {
    const { reasoning: _, ...others } = this.settings;
    await this.#use(effort === undefined ? others : { ...others, reasoning: effort }, {});
  }

  async #use(settings: ModelSettings, options: { readonly signal?: AbortSignal }): Promise<void> {
    const key = keyOf(settings);
    if (key === keyOf(this.settings)) return;
    const known = this.#clients.get(key);
    const client = known ?? this.#client.with(settings);
    if (client === this.#client) throw new UserError(`${this.label} is the only model here`);
    this.#clients.set(key, client);
    this.#client = client;
    this.#chosen = true;
    // Images of the conversation are sent only to a model that takes them, so this has to be known.
    await this.facts(options);
  }
}

function keyOf({ model, reasoning }: ModelSettings): string {
  return JSON.stringify([model ?? null, reasoning ?? null]);
}

/** Returns the name as the server has it; any name where the server does not say. */
function nameAmong(name: string, models: readonly string[] | undefined): string {
  if (models === undefined || models.includes(name)) return name;
  const alike = models.filter((model) => model.toLowerCase() === name.toLowerCase());
  if (alike[0] !== undefined && alike.length === 1) return alike[0];
  const more = models.length > MAX_NAMED ? ` and ${models.length - MAX_NAMED} more` : "";
  throw new UserError(
    `The server has no model "${name}", only ${models.slice(0, MAX_NAMED).join(", ")}${more}` +
      didYouMean(name, models),
  );
}
