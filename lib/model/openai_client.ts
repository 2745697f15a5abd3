/**
 * A model behind an OpenAI-compatible server.
 *
 * @module
 */
import type { Effort, ModelConfig } from "../config/types.ts";
import { createAccumulator } from "./accumulate.ts";
import { endpointOf, type Env } from "./endpoint.ts";
import { answerFailure, type Failure, FailureError } from "./failure.ts";
import { FormatSupport } from "./format_support.ts";
import { firstModel, listModels } from "./model_list.ts";
import { modelError, waitingReason } from "./model_error.ts";
import type { Quirks } from "./presets.ts";
import { probe } from "./probe.ts";
import { readAnswer } from "./read_answer.ts";
import { nextWait, pause, RETRY_TIMING, type RetryTiming } from "./retry.ts";
import { createTransport } from "./transport.ts";
import { wireBody } from "./wire.ts";
import type {
  CompleteOptions,
  ModelClient,
  ModelFacts,
  ModelReply,
  ModelRequest,
} from "./types.ts";

/** Options of {@linkcode createOpenAIClient}. */
export interface OpenAIClientOptions {
  readonly config: ModelConfig;
  /** Where the provider's key is looked for. */
  readonly env: Env;
  readonly fetch: typeof fetch;
  /** The efforts that can be chosen. @default {as the provider and the configuration say} */
  readonly efforts?: readonly Effort[];
  /** The numbers of the waits, for tests. */
  readonly timing?: Partial<RetryTiming>;
  /** Milliseconds for usage and the end mark after the model stopped. */
  readonly graceMs?: number;
}

/** What is sent as the model when the server lists none: those servers have but one. */
const ONLY_MODEL = "default";

const EFFORTS: readonly Effort[] = ["none", "minimal", "low", "medium", "high"];

/**
 * Creates the client. Nothing is loaded or connected before the first use.
 *
 * @throws {UsageError} when the configuration cannot work.
 */
export function createOpenAIClient(options: OpenAIClientOptions): ModelClient {
  const { config } = options;
  const endpoint = endpointOf(config, options.env);
  const transport = createTransport(endpoint, options.fetch);
  const timing = { ...RETRY_TIMING, ...options.timing };
  let model = config.model ?? endpoint.preset.defaultModel;
  let quirks = quirksOf(endpoint.preset.quirks, config);
  const formats = new FormatSupport({ freely: quirks.formatWithTools });
  let contextWindow = config.contextWindow;
  let known: Promise<ModelFacts> | undefined;
  let images = config.images;
  // Whoever configures an effort says that the model has one.
  const efforts = options.efforts ?? endpoint.preset.efforts ??
    (config.reasoning === undefined ? [] : EFFORTS);

  return {
    get label() {
      // The server says its model with the first answer, or when it is asked.
      return model === undefined ? endpoint.preset.name : `${endpoint.preset.name}/${model}`;
    },
    url: endpoint.baseUrl,
    get contextWindow() {
      return contextWindow;
    },
    get images() {
      return images;
    },
    get settings() {
      return {
        ...(model === undefined ? {} : { model }),
        ...(config.reasoning === undefined ? {} : { reasoning: config.reasoning }),
      };
    },
    efforts,
    asked: endpoint.preset.probe !== "none",
    async models({ signal }) {
      const listed = await listModels(endpoint, {
        fetch: options.fetch,
        ...(signal === undefined ? {} : { signal }),
      });
      return listed?.map(({ id }) => id);
    },
    with(settings) {
      const { model: _, reasoning: __, contextWindow: own, images: takes, ...rest } = config;
      // What the configuration says about its model holds for no other one.
      const same = settings.model === model
        ? { ...defined("contextWindow", own), ...defined("images", takes) }
        : {};
      return createOpenAIClient({ ...options, efforts, config: { ...rest, ...same, ...settings } });
    },
    async facts({ signal }) {
      known ??= findFacts(signal);
      return await known;
    },
    async complete(request, completeOptions) {
      return await complete(request, completeOptions);
    },
  };

  async function findFacts(signal: AbortSignal | undefined): Promise<ModelFacts> {
    const probing = { fetch: options.fetch, ...(signal === undefined ? {} : { signal }) };
    model ??= await firstModel(endpoint, probing);
    const { facts, reached } = await probe(endpoint, model, probing);
    // The package is needed for the first request. Loading it before would keep the answers waiting.
    transport.warm().catch(() => {});
    // A server that was not there is asked again the next time.
    if (!reached) known = undefined;
    contextWindow = config.contextWindow ?? facts.contextWindow;
    images = config.images ?? facts.images ?? (reached ? endpoint.preset.images : undefined);
    return {
      ...facts,
      ...defined("contextWindow", contextWindow),
      ...(facts.contextWindow === contextWindow
        ? {}
        : defined("serverWindow", facts.contextWindow)),
      ...defined("images", images),
    };
  }

  async function complete(request: ModelRequest, to: CompleteOptions): Promise<ModelReply> {
    let attempts = 0;
    let firstFailure: number | undefined;
    for (;;) {
      to.signal.throwIfAborted();
      attempts++;
      const outcome = await attempt(request, to);
      if ("reply" in outcome) return outcome.reply;
      const { failure, shown } = outcome;
      if (dropsUsageOption(failure)) {
        // Not counted: the request was refused for a field, and the next one goes without it.
        quirks = { ...quirks, streamUsage: false };
        attempts--;
        continue;
      }
      if (!shown && formats.learns(failure, request)) {
        attempts--;
        continue;
      }
      firstFailure ??= performance.now();
      const wait = shown ? undefined : nextWait(failure, {
        attempts,
        waitedMs: performance.now() - firstFailure,
        patienceMs: to.patienceMs,
        timing,
      });
      if (wait === undefined) {
        throw await errorFor(failure, attempts, performance.now() - firstFailure, to.signal);
      }
      to.onEvent({ type: "waiting", reason: waitingReason(failure, endpoint), ms: wait });
      await pause(wait, to.signal);
    }
  }

  async function attempt(
    request: ModelRequest,
    to: CompleteOptions,
  ): Promise<{ reply: ModelReply } | { failure: Failure; shown: boolean }> {
    // A signal of its own: the package never removes its listeners.
    const controller = new AbortController();
    const stop = () => controller.abort(to.signal.reason);
    to.signal.addEventListener("abort", stop, { once: true });
    try {
      const name = model ??= await firstModel(endpoint, {
        fetch: options.fetch,
        signal: controller.signal,
      });
      to.signal.throwIfAborted();
      // Before a server is up it cannot say its model; sending the request finds out why.
      const constrained = formats.sends(request);
      const body = wireBody(request, {
        model: name ?? ONLY_MODEL,
        config,
        quirks,
        sendFormat: constrained,
        // A conversation may hold images of a model that it was begun with.
        sendImages: images !== false,
      });
      const response = await transport.send(body, { signal: controller.signal });
      const accumulator = createAccumulator({
        onEvent: to.onEvent,
        toolNames: new Set(request.tools.map((tool) => tool.name)),
        textCalls: quirks.textCalls,
      });
      const end = await readAnswer({
        body: response.body,
        accumulator,
        onEvent: to.onEvent,
        signal: controller.signal,
        ...(options.graceMs === undefined ? {} : { graceMs: options.graceMs }),
      });
      if (end.type === "complete") {
        model = body.model;
        return { reply: constrained ? { ...end.reply, constrained } : end.reply };
      }
      return { failure: answerFailure(end), shown: accumulator.shown };
    } catch (thrown) {
      to.signal.throwIfAborted();
      if (thrown instanceof FailureError) return { failure: thrown.failure, shown: false };
      throw thrown;
    } finally {
      to.signal.removeEventListener("abort", stop);
    }
  }

  function dropsUsageOption(failure: Failure): boolean {
    return quirks.streamUsage && (failure.status === 400 || failure.status === 422) &&
      /stream_options|include_usage/iu.test(failure.words.text);
  }

  async function errorFor(
    failure: Failure,
    attempts: number,
    waitedMs: number,
    signal: AbortSignal,
  ): Promise<Error> {
    const models = isUnknownModel(failure)
      ? await listModels(endpoint, { fetch: options.fetch, signal })
      : undefined;
    signal.throwIfAborted();
    return modelError({
      failure,
      endpoint,
      model,
      attempts,
      waitedMs,
      ...(models === undefined ? {} : { models: models.map((listed) => listed.id) }),
    });
  }
}

/** A quirk that is configured is the configured one. */
function quirksOf(quirks: Quirks, config: ModelConfig): Quirks {
  return {
    ...quirks,
    ...defined("textCalls", config.textCalls),
    ...defined("sendReasoning", config.sendReasoning),
  };
}

/** Returns an object with the one property, or an empty one where there is no value. */
function defined<Key extends string, Value>(
  key: Key,
  value: Value | undefined,
): { readonly [K in Key]?: Value } {
  return value === undefined ? {} : { [key]: value } as { readonly [K in Key]: Value };
}

function isUnknownModel(failure: Failure): boolean {
  return (failure.status === 404 || failure.status === 400 || failure.status === 422) &&
    /model/iu.test(failure.words.text) &&
    /not (be )?(found|exist|support|available|loaded)|unknown|invalid model|no such|pull/iu.test(
      failure.words.text,
    );
}
