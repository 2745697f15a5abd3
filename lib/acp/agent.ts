/**
 * mm as an agent: what editors and asking agents start with `mm -acp`.
 *
 * @module
 */
import {
  agent,
  type AgentRequestContext,
  type AgentRequestHandlersByMethod,
  type AgentRequestMethod,
  methods,
  type SessionUpdate,
} from "@agentclientprotocol/sdk";
import { messageOf } from "../base/errors.ts";
import { redactor } from "../base/secrets.ts";
import { within } from "../base/within.ts";
import type { SessionHost } from "../session/types.ts";
import { EFFORT_OPTION, MODE_OPTION, MODEL_OPTION, yoloOf } from "./config_options.ts";
import { invalidParams, requestErrorOf } from "./errors.ts";
import { abilitiesOf, initializeResponse, NO_ABILITIES } from "./initialize.ts";
import { readMeta } from "./meta.ts";
import { PromptCancels } from "./prompt_cancels.ts";
import { Replies } from "./replies.ts";
import { Sessions } from "./sessions.ts";
import { readSteerParams, STEER, type SteerReply } from "./steer.ts";
import { openWire } from "./wire.ts";

/** Milliseconds in which the last messages have to be taken once the connection ends. */
const LAST_WORDS_MS = 500;

/** The streams an agent is served on. */
export interface AgentStreams {
  readonly input: ReadableStream<Uint8Array>;
  readonly output: WritableStream<Uint8Array>;
}

/** Options of {@linkcode serveAcp}. */
export interface ServeAcpOptions {
  readonly host: SessionHost;
  readonly streams: AgentStreams;
  /** mm's version. */
  readonly version: string;
  /** Ends the connection. */
  readonly signal: AbortSignal;
  /**
   * Whether the sessions are closed at the end, because the host goes on for other clients.
   * @default {false}
   */
  readonly sessionsEnd?: boolean;
  /** Takes the warnings of the sessions. @default {they reach the client only} */
  readonly warn?: (line: string) => void;
  /** Takes lines for whoever looks for a fault. @default {nothing is logged} */
  readonly log?: (line: string) => void;
}

/**
 * Serves one client until the connection ends: its end of input, a broken pipe, or `signal`. What
 * runs is cancelled then; the caller closes the host.
 */
export async function serveAcp(options: ServeAcpOptions): Promise<void> {
  const { host, streams, version, signal, warn = () => {}, log = () => {} } = options;
  const { apiKey, headers } = host.config.model;
  const redact = redactor([apiKey, ...Object.values(headers ?? {})]);
  const replies = new Replies();
  const cancels = new PromptCancels();
  const wire = openWire({
    ...streams,
    answerNoise: true,
    intercept: (message) => cancels.take(message),
    onSent: (message) => {
      replies.note(message);
      cancels.note(message);
    },
    onBroken: (error) => connection.close(error),
  });
  const send = (sessionId: string, update: SessionUpdate) => {
    try {
      wire.send({
        jsonrpc: "2.0",
        method: methods.client.session.update,
        params: { sessionId, update },
      });
    } catch (error) {
      log(`An update was not sent: ${messageOf(error)}`);
    }
  };
  const sessions = new Sessions({ host, client: () => connection.client, send, redact, warn });
  let abilities = NO_ABILITIES;
  const saved = host.saved !== undefined;

  const app = agent({ name: "mm" });
  const answer: Answer = (method, handler) => {
    const handle = handler as (context: AgentRequestContext<unknown>) => unknown;
    app.onRequest(method, guarded(handle, redact) as AgentRequestHandlersByMethod[typeof method]);
  };
  answer(methods.agent.initialize, ({ params }) => {
    abilities = abilitiesOf(params);
    return initializeResponse({ title: host.title, version, images: host.images, saved });
  });
  answer(
    methods.agent.session.new,
    ({ params, requestId }) =>
      sessions.open(params, { abilities, replied: replies.sent(requestId) }),
  );
  answer(
    methods.agent.session.prompt,
    ({ params, requestId, signal }) => {
      const cancelled = cancels.signalOf(requestId);
      return sessions.get(params.sessionId).prompt(params, {
        signal: cancelled === undefined ? signal : AbortSignal.any([signal, cancelled]),
        replied: replies.sent(requestId),
      });
    },
  );
  answer(methods.agent.session.setMode, ({ params }) => {
    const session = sessions.get(params.sessionId);
    session.setYolo(yoloFor(params.modeId, "mode"));
    return {};
  });
  answer(methods.agent.session.setConfigOption, async ({ params }) => {
    const session = sessions.get(params.sessionId);
    switch (params.configId) {
      case MODE_OPTION:
        session.setYolo(yoloFor(params.value, "value"));
        break;
      case MODEL_OPTION:
        await session.chooseModel(String(params.value), {
          bare: readMeta(params)["bare"] === true,
        });
        break;
      case EFFORT_OPTION:
        await session.chooseEffort(params.value);
        break;
      default:
        throw invalidParams(`Cannot set "${params.configId}": there is no such option`);
    }
    return { configOptions: session.options };
  });
  if (saved) {
    answer(
      methods.agent.session.load,
      ({ params, requestId }) =>
        sessions.load(params, { abilities, replied: replies.sent(requestId) }),
    );
    answer(
      methods.agent.session.resume,
      ({ params, requestId }) =>
        sessions.resume(params, { abilities, replied: replies.sent(requestId) }),
    );
    answer(methods.agent.session.list, ({ params }) => sessions.list(params));
    answer(methods.agent.session.delete, async ({ params }) => {
      await sessions.delete(params.sessionId);
      return {};
    });
  }
  answer(methods.agent.session.close, async ({ params }) => {
    await sessions.close(params.sessionId);
    return {};
  });
  const steer = ({ params }: { readonly params: unknown }): SteerReply => {
    const { sessionId, text } = readSteerParams(params);
    return { accepted: sessions.get(sessionId).steer(text) };
  };
  app.onRequest(STEER, (params) => params, guarded(steer, redact));
  const connection = app.connect(wire.stream);
  const onAbort = () => connection.close(signal.reason);
  signal.addEventListener("abort", onAbort, { once: true });
  if (signal.aborted) onAbort();
  try {
    await connection.closed;
  } finally {
    signal.removeEventListener("abort", onAbort);
    replies.close();
    sessions.cancelAll();
    await within(wire.flushed(), LAST_WORDS_MS);
    if (options.sessionsEnd === true) await sessions.closeAll();
  }
}

type Answer = <Method extends AgentRequestMethod>(
  method: Method,
  handler: AgentRequestHandlersByMethod[Method],
) => void;

/** Returns a handler whose failures are errors with readable words and without secrets. */
function guarded<Context, Reply>(
  handle: (context: Context) => Reply | Promise<Reply>,
  redact: (text: string) => string,
): (context: Context) => Promise<Reply> {
  return async (context) => {
    try {
      return await handle(context);
    } catch (error) {
      throw requestErrorOf(error, redact);
    }
  };
}

function yoloFor(mode: unknown, field: string): boolean {
  const yolo = typeof mode === "string" ? yoloOf(mode) : undefined;
  if (yolo === undefined) {
    throw invalidParams(`Cannot set the ${field} "${mode}": choose "ask" or "yolo"`);
  }
  return yolo;
}
