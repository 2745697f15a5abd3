/**
 * The models of a server, and which of them is taken when none is configured.
 *
 * @module
 */
import type { Endpoint } from "./endpoint.ts";
import { asArray, asCount, asObject, asText, type JsonObject } from "./json.ts";
import { type Ask, asker, type ProbeOptions } from "./probe_ask.ts";

/** A model as a server lists it. */
export interface ListedModel {
  readonly id: string;
  /** Whether it is in memory, where the server says so. */
  readonly loaded?: boolean;
  readonly contextWindow?: number;
  readonly images?: boolean;
}

/** Models that cannot hold a conversation. */
const OTHER_KINDS = /embed|rerank|whisper|\btts\b/iu;

/**
 * Lists the models of a server in its own order, without those that cannot answer.
 *
 * @returns `undefined` when the server does not say.
 */
export async function listModels(
  endpoint: Endpoint,
  options: ProbeOptions,
): Promise<readonly ListedModel[] | undefined> {
  return await listModelsWith(endpoint, asker(endpoint, options));
}

/** The same through a given way to ask. */
export async function listModelsWith(
  endpoint: Endpoint,
  ask: Ask,
): Promise<readonly ListedModel[] | undefined> {
  const answer = await ask(`${endpoint.baseUrl}/models`);
  const list = answer?.["data"] ?? answer?.["models"];
  if (!Array.isArray(list)) return undefined;
  return list.flatMap((entry): ListedModel[] => {
    const model = asObject(entry);
    const id = asText(model?.["id"]) ?? asText(model?.["name"]);
    if (model === undefined || id === undefined || OTHER_KINDS.test(id)) return [];
    const contextWindow = asCount(
      model["max_model_len"] ?? model["context_length"] ?? model["context_window"] ??
        model["max_context_length"],
    );
    // llama.cpp with several models says which are in memory.
    const state = asText(asObject(model["status"])?.["value"]);
    const images = takesImages(model);
    return [{
      id,
      ...(contextWindow === undefined || contextWindow === 0 ? {} : { contextWindow }),
      ...(state === undefined ? {} : { loaded: state === "loaded" }),
      ...(images === undefined ? {} : { images }),
    }];
  });
}

/** OpenRouter lists what a model reads, Mistral what it can do. */
function takesImages(model: JsonObject): boolean | undefined {
  const reads = asObject(model["architecture"])?.["input_modalities"];
  if (Array.isArray(reads)) return reads.includes("image");
  const vision = asObject(model["capabilities"])?.["vision"];
  return typeof vision === "boolean" ? vision : undefined;
}

/** Returns the model to take when none is configured: one in memory, else the first. */
export async function firstModel(
  endpoint: Endpoint,
  options: ProbeOptions,
): Promise<string | undefined> {
  const ask = asker(endpoint, options);
  const own = await loadedModel(endpoint, ask);
  if (own !== undefined) return own;
  const models = await listModelsWith(endpoint, ask);
  return (models?.find((model) => model.loaded === true) ?? models?.[0])?.id;
}

/** Ollama and LM Studio say elsewhere which model is in memory; another one would have to load. */
async function loadedModel(endpoint: Endpoint, ask: Ask): Promise<string | undefined> {
  if (endpoint.preset.probe === "lmstudio") {
    return (await lmStudioModels(endpoint, ask)).find((model) => model.loaded === true)?.id;
  }
  if (endpoint.preset.probe === "ollama") {
    const running = await ask(`${endpoint.root}/api/ps`);
    for (const entry of asArray(running?.["models"])) {
      const id = asText(asObject(entry)?.["model"]) ?? asText(asObject(entry)?.["name"]);
      if (id !== undefined && !OTHER_KINDS.test(id)) return id;
    }
  }
  return undefined;
}

/** LM Studio's own list: `loaded_context_length` is the window that the loaded model really has. */
export async function lmStudioModels(
  endpoint: Endpoint,
  ask: Ask,
): Promise<readonly ListedModel[]> {
  const answer = await ask(`${endpoint.root}/api/v0/models`);
  return asArray(answer?.["data"]).flatMap((entry): ListedModel[] => {
    const model = asObject(entry);
    const id = asText(model?.["id"]);
    if (model === undefined || id === undefined || model["type"] === "embeddings") return [];
    const contextWindow = asCount(model["loaded_context_length"] ?? model["max_context_length"]);
    return [{
      id,
      loaded: model["state"] === "loaded",
      ...(contextWindow === undefined || contextWindow === 0 ? {} : { contextWindow }),
      images: model["type"] === "vlm",
    }];
  });
}
