/**
 * What the tests of this folder share: byte streams in memory, a host whose turns are functions,
 * and a peer that reads and writes raw lines.
 *
 * @module
 */
import type { AgentConfig } from "../config/types.ts";
import type { Emit } from "../engine/events.ts";
import type { AskPermission } from "../gate/question.ts";
import { UserError } from "../base/errors.ts";
import type {
  BackgroundWork,
  CommandInfo,
  CreateSessionOptions,
  ModelChoice,
  PromptInput,
  PromptResult,
  Session,
  SessionHost,
} from "../session/types.ts";
import { type Fields, fieldsOf } from "./fields.ts";

/** What one turn of a {@linkcode ScriptedHost} can do. */
export interface TurnContext {
  readonly input: PromptInput;
  readonly emit: Emit;
  readonly askPermission: AskPermission;
  readonly signal: AbortSignal;
  readonly session: Session;
}

/** Runs one prompt; what it leaves out of the result is filled in. */
export type Turn = (context: TurnContext) => Promise<Partial<PromptResult> | void>;

/** Options of {@linkcode ScriptedHost}. */
export interface ScriptedHostOptions {
  readonly turn: Turn;
  readonly images?: boolean;
  readonly apiKey?: string;
  readonly subagent?: boolean;
  readonly onCreate?: (options: CreateSessionOptions) => void;
}

/** A host whose sessions run a given function for each prompt. */
export class ScriptedHost implements SessionHost {
  readonly config: AgentConfig;
  readonly title = "Scripted";
  label = "test/model";
  readonly images: boolean;
  readonly sessions: ScriptedSession[] = [];
  /** Whether sessions take messages while they work. */
  steers = true;
  readonly subagent: boolean;
  readonly #options: ScriptedHostOptions;

  constructor(options: ScriptedHostOptions) {
    this.#options = options;
    this.images = options.images ?? false;
    this.subagent = options.subagent ?? false;
    this.config = { model: { apiKey: options.apiKey } } as AgentConfig;
  }

  createSession(options: CreateSessionOptions): Promise<Session> {
    this.#options.onCreate?.(options);
    const session = new ScriptedSession(this, options, this.#options.turn);
    this.sessions.push(session);
    return Promise.resolve(session);
  }

  async close(): Promise<void> {
    for (const session of this.sessions) await session.close();
  }
}

/** A session of a {@linkcode ScriptedHost}. */
export class ScriptedSession implements Session {
  readonly id = crypto.randomUUID();
  readonly cwd: string;
  readonly title = undefined;
  commands: readonly CommandInfo[] = [
    { name: "ask-bob", description: "Ask bob", hint: "question" },
  ];
  readonly instructions = "";
  readonly model: ModelChoice;
  yolo = false;
  closed = false;
  readonly #host: ScriptedHost;
  readonly #options: CreateSessionOptions;
  readonly #turn: Turn;
  readonly #closing = new AbortController();

  constructor(host: ScriptedHost, options: CreateSessionOptions, turn: Turn) {
    this.#host = host;
    this.#options = options;
    this.#turn = turn;
    this.cwd = options.cwd;
    this.model = scriptedModel(host);
  }

  /** What was said to the session while it worked. */
  readonly steered: string[] = [];

  tasks(): Promise<{ readonly ok: boolean; readonly text: string }> {
    return Promise.resolve({ ok: false, text: "" });
  }

  steer(text: string): boolean {
    const { steers } = this.#host;
    if (steers) this.steered.push(text);
    return steers;
  }

  readonly background: BackgroundWork = {
    active: 0,
    ids: [],
    pending: false,
    watch: () => () => {},
  };

  deliver(): Promise<PromptResult | undefined> {
    return Promise.resolve(undefined);
  }

  async prompt(input: PromptInput, options: { signal: AbortSignal }): Promise<PromptResult> {
    const signal = AbortSignal.any([options.signal, this.#closing.signal]);
    const { emit, askPermission } = this.#options;
    let result: Partial<PromptResult> | void;
    try {
      result = await this.#turn({ input, emit, askPermission, signal, session: this });
    } catch (error) {
      if (!signal.aborted) throw error;
      result = { end: { kind: "cancelled" } };
    }
    return {
      end: { kind: "answered" },
      text: "",
      toolCalls: 0,
      label: this.#host.label,
      ...result,
    };
  }

  close(): Promise<void> {
    this.closed = true;
    this.#closing.abort();
    return Promise.resolve();
  }
}

/** The host's one model, which nothing can change. */
function scriptedModel(host: ScriptedHost): ModelChoice {
  const only = () => Promise.reject(new UserError(`${host.label} is the only model here`));
  return {
    get label() {
      return host.label;
    },
    settings: {},
    get images() {
      return host.images;
    },
    listed: [],
    efforts: [],
    asked: false,
    models: () => Promise.resolve(undefined),
    choose: only,
    think: only,
  };
}

/** Two byte streams that are connected crosswise, as two processes are by pipes. */
export function pipes() {
  const room = { highWaterMark: 100 };
  const there = new TransformStream<Uint8Array>(undefined, room, room);
  const back = new TransformStream<Uint8Array>(undefined, room, room);
  return {
    near: { input: back.readable, output: there.writable },
    far: { input: there.readable, output: back.writable },
  };
}

/** The other side of a connection, which sends and sees lines as they are. */
export class RawPeer {
  /** Everything that came, in order. */
  readonly seen: Fields[] = [];
  /** Settles when the other side closed its output. */
  readonly ended: Promise<void>;
  /** Answers requests of the other side. */
  onRequest: (message: Fields) => void = () => {};
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #waiting = new Set<() => void>();
  #id = 0;

  constructor(streams: {
    input: ReadableStream<Uint8Array>;
    output: WritableStream<Uint8Array>;
  }) {
    this.#writer = streams.output.getWriter();
    this.ended = this.#read(streams.input);
  }

  /** Writes text as it is. */
  async write(text: string): Promise<void> {
    await this.#writer.write(new TextEncoder().encode(text));
  }

  /** Writes messages in one write. */
  async send(...messages: object[]): Promise<void> {
    const lines = messages.map((message) => JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n");
    await this.write(lines.join(""));
  }

  /** Sends a request and returns its reply. */
  async request(method: string, params: unknown): Promise<Fields> {
    const id = `t${++this.#id}`;
    await this.send({ id, method, params });
    return await this.reply(id);
  }

  /** Sends a request and returns its result. */
  async result(method: string, params: unknown): Promise<Fields> {
    const reply = await this.request(method, params);
    if ("error" in reply) throw new Error(`${method}: ${JSON.stringify(reply["error"])}`);
    return fieldsOf(reply["result"]);
  }

  /** Waits for the reply to a request. */
  async reply(id: unknown): Promise<Fields> {
    return await this.find((message) => message["id"] === id && !("method" in message));
  }

  /** Waits for a message. */
  async find(wanted: (message: Fields) => boolean): Promise<Fields> {
    for (;;) {
      const found = this.seen.find(wanted);
      if (found !== undefined) return found;
      await this.#next();
    }
  }

  /** Says hello and opens a session in the temporary directory; returns its id. */
  async hello(clientCapabilities: object = {}, cwd = "/"): Promise<string> {
    await this.result("initialize", { protocolVersion: 1, clientCapabilities });
    const session = await this.result("session/new", { cwd, mcpServers: [] });
    return String(session["sessionId"]);
  }

  /** Sends a prompt of text and returns the whole reply. */
  async prompt(sessionId: string, text: string): Promise<Fields> {
    return await this.request("session/prompt", { sessionId, prompt: [{ type: "text", text }] });
  }

  /** The updates so far, of one kind where it is given. */
  updates(kind?: string): Fields[] {
    return this.seen.filter((message) => message["method"] === "session/update")
      .map((message) => fieldsOf(fieldsOf(message["params"])["update"]))
      .filter((update) => kind === undefined || update["sessionUpdate"] === kind);
  }

  /** The text of all chunks of one kind. */
  text(kind = "agent_message_chunk"): string {
    return this.updates(kind).map((update) => fieldsOf(update["content"])["text"]).join("");
  }

  /** Closes what the other side reads. */
  async end(): Promise<void> {
    await this.#writer.close();
  }

  async #next(): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    await new Promise<void>((resolve, reject) => {
      timer = setTimeout(() => reject(new Error("Nothing came in 5 s")), 5000);
      this.#waiting.add(resolve);
    }).finally(() => clearTimeout(timer));
  }

  async #read(input: ReadableStream<Uint8Array>): Promise<void> {
    let rest = "";
    for await (const text of input.pipeThrough(new TextDecoderStream())) {
      const lines = (rest + text).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) {
        const message = JSON.parse(line) as Fields;
        this.seen.push(message);
        if ("method" in message && "id" in message) this.onRequest(message);
      }
      for (const resolve of this.#waiting) resolve();
      this.#waiting.clear();
    }
  }
}
