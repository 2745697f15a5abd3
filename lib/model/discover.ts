/**
 * The first model server found when none is configured: one that runs on this machine, else the
 * provider whose key is in the environment.
 *
 * @module
 */
import { UserError } from "../base/errors.ts";
import type { ModelConfig, ProviderName } from "../config/types.ts";
import type { Env } from "./endpoint.ts";
import { providerOf } from "./endpoint.ts";
import { askJson } from "./http_json.ts";
import { asArray, asObject } from "./json.ts";
import { type Preset, PRESETS } from "./presets.ts";
import { wordsOf } from "./server_words.ts";

/** Options of {@linkcode discoverServer}. */
export interface DiscoverOptions {
  readonly env: Env;
  readonly signal?: AbortSignal;
  /** @default {globalThis.fetch} */
  readonly fetch?: typeof fetch;
  /** Milliseconds for each server on this machine. @default {300} */
  readonly timeoutMs?: number;
  /** Other ports of the servers on this machine. */
  readonly ports?: Readonly<Partial<Record<ProviderName, number>>>;
}

/** A server that was found. */
export interface DiscoveredServer {
  readonly provider: ProviderName;
  readonly baseUrl?: string;
  /** One sentence that says what was found and how. */
  readonly notice: string;
}

const TIMEOUT_MS = 300;

/**
 * Looks on this machine (llama.cpp, Ollama, LM Studio, vLLM, all at once) and then for keys.
 *
 * @returns the first in that order, or `undefined` when there is none.
 */
export async function discoverServer(
  options: DiscoverOptions,
): Promise<DiscoveredServer | undefined> {
  const presets = Object.values(PRESETS);
  const local = presets.filter((preset) => preset.local);
  // All asked at the same time; the order decides, not who is first to answer.
  const looks = local.map((preset) => isThere(preset, options));
  for (const [i, preset] of local.entries()) {
    const baseUrl = localUrl(preset, options);
    if (await looks[i] === true) {
      return {
        provider: preset.name,
        baseUrl,
        notice: `No model server is configured: using ${preset.title}, found at ${baseUrl}`,
      };
    }
  }
  for (const preset of presets) {
    if (preset.local || preset.keyVariable === undefined) continue;
    if ((options.env[preset.keyVariable] ?? "").trim() === "") continue;
    return {
      provider: preset.name,
      notice: `No model server is configured: using ${preset.title} with ` +
        `"${preset.defaultModel}", because ${preset.keyVariable} is set`,
    };
  }
  return undefined;
}

/** Returns the error for when there is no model at all: what to do next. */
export function noServerError(): UserError {
  const local = Object.values(PRESETS).filter((preset) => preset.local);
  const places = local.map((p) => `${p.title} (${p.baseUrl?.replace(/^.*:(\d+).*$/u, "$1")})`);
  const variables = Object.values(PRESETS).flatMap((p) => p.needsKey ? [p.keyVariable] : []);
  return new UserError(
    `No model was found. Do one of these: start a local server on its usual port, ` +
      `${places.join(", ")}; or set a key in the environment: ${variables.join(", ")}; or write ` +
      `"provider" and "baseUrl" into agent.yaml ("mm -init" makes one). To try mm without any ` +
      `model, run "mm -demo"`,
  );
}

/**
 * Completes a configuration that names neither a provider nor a URL with the first server found.
 *
 * @throws {UserError} when there is none; it says what to do.
 */
export async function resolveModelConfig(
  options: DiscoverOptions & { readonly config: ModelConfig },
): Promise<{ readonly config: ModelConfig; readonly notice?: string }> {
  const { config } = options;
  if (providerOf(config) !== undefined) return { config };
  const found = await discoverServer(options);
  options.signal?.throwIfAborted();
  if (found === undefined) throw noServerError();
  const { notice, ...server } = found;
  return { config: { ...config, ...server }, notice };
}

function localUrl(preset: Preset, options: DiscoverOptions): string {
  const url = new URL(preset.baseUrl ?? "");
  const port = options.ports?.[preset.name];
  if (port !== undefined) url.port = String(port);
  return url.href;
}

/** Whether a server with at least one model is there, or one that is loading its model. */
async function isThere(preset: Preset, options: DiscoverOptions): Promise<boolean> {
  const answer = await askJson(`${localUrl(preset, options)}/models`, {
    fetch: options.fetch ?? fetch,
    timeoutMs: options.timeoutMs ?? TIMEOUT_MS,
    ...(options.signal === undefined ? {} : { signal: options.signal }),
  });
  if (answer === undefined) return false;
  if (answer.status === 200) return asArray(asObject(answer.json)?.["data"]).length > 0;
  return answer.status === 503 && /loading/iu.test(wordsOf(answer.json).text);
}
