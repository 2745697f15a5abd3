/**
 * What a server says about a model: the window, the slots, whether it takes images.
 *
 * Every question has a time limit and may stay without an answer.
 *
 * @module
 */
import type { Endpoint } from "./endpoint.ts";
import { asArray, asCount, asObject, asText } from "./json.ts";
import { type ListedModel, listModelsWith, lmStudioModels } from "./model_list.ts";
import { type Ask, asker, type ProbeOptions } from "./probe_ask.ts";
import type { ModelFacts } from "./types.ts";

/** What was found out. */
export interface ProbeResult {
  readonly facts: ModelFacts;
  /** Whether the server answered anything; when not, it is worth asking again later. */
  readonly reached: boolean;
}

/** Finds out what the server says about one of its models. Never rejects. */
export async function probe(
  endpoint: Endpoint,
  model: string | undefined,
  options: ProbeOptions,
): Promise<ProbeResult> {
  let reached = endpoint.preset.probe === "none";
  const ask = asker(endpoint, { ...options, onAnswer: () => reached = true });
  return { facts: await factsOf(endpoint, model, ask), reached };
}

async function factsOf(
  endpoint: Endpoint,
  model: string | undefined,
  ask: Ask,
): Promise<ModelFacts> {
  switch (endpoint.preset.probe) {
    case "llamacpp":
      return await llamaFacts(endpoint, ask);
    case "ollama":
      return await ollamaFacts(endpoint, model, ask);
    case "lmstudio":
      return factsOfListed(await lmStudioModels(endpoint, ask), model);
    case "models":
      return factsOfListed(await listModelsWith(endpoint, ask), model);
    case "custom": {
      const [llama, listed] = await Promise.all([
        llamaFacts(endpoint, ask),
        listModelsWith(endpoint, ask),
      ]);
      return { ...factsOfListed(listed, model), ...llama };
    }
    case "none":
      return {};
  }
}

/** llama.cpp: the window of one slot is what a request may use. */
async function llamaFacts(endpoint: Endpoint, ask: Ask): Promise<ModelFacts> {
  const props = await ask(`${endpoint.root}/props`);
  const settings = asObject(props?.["default_generation_settings"]);
  const contextWindow = positive(settings?.["n_ctx"]) ?? positive(props?.["n_ctx"]);
  const slots = positive(props?.["total_slots"]);
  const vision = asObject(props?.["modalities"])?.["vision"];
  return {
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(slots === undefined ? {} : { slots }),
    ...(typeof vision === "boolean" ? { images: vision } : {}),
  };
}

/**
 * Ollama: the window it gave to the running model; before it runs, the one its file sets; else the
 * most the model can have.
 */
async function ollamaFacts(
  endpoint: Endpoint,
  model: string | undefined,
  ask: Ask,
): Promise<ModelFacts> {
  const [running, shown] = await Promise.all([
    ask(`${endpoint.root}/api/ps`),
    model === undefined ? undefined : ask(`${endpoint.root}/api/show`, { model }),
  ]);
  const active = asArray(running?.["models"]).map(asObject).find((entry) =>
    entry !== undefined &&
    [entry["model"], entry["name"]].some((name) => name === model || name === `${model}:latest`)
  );
  const set = /^num_ctx\s+(\d+)/mu.exec(asText(shown?.["parameters"]) ?? "")?.[1];
  const info = asObject(shown?.["model_info"]) ?? {};
  const most = Object.keys(info).find((key) => key.endsWith(".context_length"));
  const contextWindow = positive(active?.["context_length"]) ?? positive(set) ??
    (most === undefined ? undefined : positive(info[most]));
  const capabilities = shown?.["capabilities"];
  return {
    ...(contextWindow === undefined ? {} : { contextWindow }),
    ...(Array.isArray(capabilities) ? { images: capabilities.includes("vision") } : {}),
  };
}

function factsOfListed(
  models: readonly ListedModel[] | undefined,
  name: string | undefined,
): ModelFacts {
  const model = models?.find((listed) => listed.id === name);
  return {
    ...(model?.contextWindow === undefined ? {} : { contextWindow: model.contextWindow }),
    ...(model?.images === undefined ? {} : { images: model.images }),
  };
}

function positive(value: unknown): number | undefined {
  const count = asCount(value);
  return count !== undefined && count > 0 ? count : undefined;
}
