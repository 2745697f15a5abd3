/**
 * What a model and its server really do, found out with two small requests: whether calls of tools
 * and streaming work, whether reasoning is seen, and whether the server keeps what it has read.
 *
 * The second request begins with the first, as all requests of a conversation do. What a server does
 * not report is said to be unknown, never guessed.
 *
 * @module
 */
import { formatDuration } from "../base/duration.ts";
import { messageOf } from "../base/errors.ts";
import {
  type Message,
  type ModelClient,
  ModelError,
  type ModelReply,
  type ToolDeclaration,
} from "./types.ts";

/** Something that was looked at; `ok` is absent where it cannot be told. */
export interface ModelTrait {
  readonly what: "tool calls" | "streaming" | "reasoning" | "prompt cache";
  readonly ok?: boolean;
  /** One line. */
  readonly detail: string;
}

/** What was found. */
export interface ModelReport {
  /** Milliseconds to the end of the first answer. */
  readonly answeredMs: number;
  /** Whether the model refused the test's question. */
  readonly refused: boolean;
  readonly traits: readonly ModelTrait[];
}

/** Options of {@linkcode checkModel}. */
export interface CheckModelOptions {
  readonly signal: AbortSignal;
  /** Milliseconds for each of the two requests. */
  readonly limitMs: number;
  /** Milliseconds that a server which is not up yet is waited for. */
  readonly patienceMs: number;
}

const TOOL: ToolDeclaration = {
  name: "report_ready",
  description: "Reports that you are ready. Takes one word.",
  parameters: {
    type: "object",
    properties: { word: { type: "string", description: 'Always "ready"' } },
    required: ["word"],
  },
};

const OPENING: readonly Message[] = [
  {
    role: "system",
    text:
      "You take part in a short test of this connection. Do exactly what is asked, in few words.",
  },
  {
    role: "user",
    text: `Call the tool ${TOOL.name} with the word "ready". Say nothing else. When you have its ` +
      `result, write the numbers from one to twenty as English words, and nothing else.`,
  },
];

const COUNT = "Write the numbers from one to twenty as English words, and nothing else.";

/** Share of the first request that has to come from the cache to call it kept. */
const KEPT = 0.9;

interface Answer {
  readonly reply: ModelReply;
  /** Pieces of text and thought. */
  readonly pieces: number;
  /** Milliseconds from the first piece to the last. */
  readonly spanMs: number;
  readonly ms: number;
  readonly thought: boolean;
}

/**
 * Asks a model twice and reports what was seen.
 *
 * @throws {ModelError} when the first request got no answer, or not in time.
 * @throws the signal's reason when it was aborted.
 */
export async function checkModel(
  client: ModelClient,
  options: CheckModelOptions,
): Promise<ModelReport> {
  const { first, tools, refusedTools } = await askFirst(client, options);
  const calls = first.reply.message.toolCalls ?? [];
  const results = calls.map(({ id, name }): Message => ({
    role: "tool",
    callId: id,
    name,
    text: "You are ready.",
  }));
  let second: Answer | undefined;
  let failure: unknown;
  try {
    second = await ask(client, [
      ...OPENING,
      first.reply.message,
      ...(results.length > 0 ? results : [{ role: "user", text: COUNT } as const]),
    ], { ...options, tools });
  } catch (thrown) {
    options.signal.throwIfAborted();
    failure = thrown;
  }
  const missing = `the second request failed: ${messageOf(failure)}`;
  return {
    answeredMs: first.ms,
    refused: first.reply.finish === "refusal",
    traits: [
      toolTrait(first, refusedTools),
      second === undefined
        ? { what: "streaming", detail: missing }
        : streamTrait(second.pieces > first.pieces ? second : first),
      first.thought || second?.thought === true
        ? { what: "reasoning", ok: true, detail: "seen, and told apart from the answer" }
        : { what: "reasoning", detail: "none seen" },
      second === undefined
        ? { what: "prompt cache", detail: missing }
        : cacheTrait(first.reply, second.reply),
    ],
  };
}

/** Asks with a tool; a server that refuses the request for it is asked once more without. */
async function askFirst(client: ModelClient, options: CheckModelOptions) {
  try {
    const first = await ask(client, OPENING, { ...options, tools: [TOOL] });
    return { first, tools: [TOOL], refusedTools: undefined };
  } catch (thrown) {
    const refused = thrown instanceof ModelError && thrown.kind === "server" &&
      [400, 404, 422, 500, 501].includes(thrown.status ?? 0);
    if (!refused) throw thrown;
    const first = await ask(client, OPENING, { ...options, tools: [] }).catch((again) => {
      // What is wrong has nothing to do with the tool.
      throw options.signal.aborted ? again : thrown;
    });
    return { first, tools: [], refusedTools: thrown.message };
  }
}

async function ask(
  client: ModelClient,
  messages: readonly Message[],
  options: CheckModelOptions & { readonly tools: readonly ToolDeclaration[] },
): Promise<Answer> {
  const { tools, limitMs, patienceMs } = options;
  const began = performance.now();
  const limit = AbortSignal.timeout(limitMs);
  let pieces = 0;
  let thought = false;
  let firstAt = began;
  let lastAt = began;
  try {
    const reply = await client.complete({ messages, tools }, {
      signal: AbortSignal.any([options.signal, limit]),
      patienceMs,
      onEvent: (event) => {
        if (event.type !== "text" && event.type !== "thought") return;
        thought ||= event.type === "thought";
        lastAt = performance.now();
        if (pieces++ === 0) firstAt = lastAt;
      },
    });
    return { reply, pieces, thought, spanMs: lastAt - firstAt, ms: performance.now() - began };
  } catch (thrown) {
    options.signal.throwIfAborted();
    if (!limit.aborted) throw thrown;
    throw new ModelError(
      `${client.label} at ${client.url} gave no whole answer within ${formatDuration(limitMs)}`,
      { kind: "malformed", cause: thrown },
    );
  }
}

function toolTrait({ reply }: Answer, refused: string | undefined): ModelTrait {
  const what = "tool calls";
  if (refused !== undefined) return { what, ok: false, detail: refused };
  const [call] = reply.message.toolCalls ?? [];
  if (call?.name === TOOL.name) return { what, ok: true, detail: "the model called its tool" };
  return {
    what,
    detail: call === undefined
      ? "the server takes tools, but the model did not call the one it was told to"
      : `the model called "${call.name}", which it does not have`,
  };
}

function streamTrait({ pieces, spanMs }: Answer): ModelTrait {
  const what = "streaming";
  if (pieces > 2) {
    return { what, ok: true, detail: `${pieces} pieces in ${formatDuration(spanMs)}` };
  }
  return {
    what,
    detail: pieces === 0
      ? "the model wrote nothing to see it by"
      : `the answer came in ${pieces === 1 ? "one piece" : "two pieces"}`,
  };
}

function cacheTrait(first: ModelReply, second: ModelReply): ModelTrait {
  const what = "prompt cache";
  const cached = second.usage?.cachedTokens;
  const before = first.usage?.inputTokens ?? 0;
  if (cached === undefined || before === 0) {
    return { what, detail: "not reported by the server" };
  }
  const detail = `${Math.min(cached, before)} of the ${before} tokens of the first request were ` +
    `kept for the second`;
  if (cached >= KEPT * before) return { what, ok: true, detail };
  // Providers keep long prompts only; a small one says nothing about those.
  return { what, detail: `${detail}; some servers keep long prompts only` };
}
