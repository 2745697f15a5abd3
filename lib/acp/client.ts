/**
 * mm as a client: the connection to an asked agent, another mm or any program that speaks ACP.
 *
 * It offers the agent nothing but updates and permission questions: what an agent does with files
 * and commands it does itself, under its own fence.
 *
 * @module
 */
import {
  type AnyMessage,
  client,
  type ClientConnection,
  type JsonRpcId,
  methods,
} from "@agentclientprotocol/sdk";
import {
  type ChildConnection,
  ChildError,
  type ChildSession,
  type ChildStreams,
  type ConnectChild,
  type OpenSessionOptions,
} from "../agents/child_connection.ts";
import { oneLine } from "../base/cut.ts";
import { messageOf } from "../base/errors.ts";
import { VERSION } from "../base/version.ts";
import { childErrorOf } from "./child_error.ts";
import { askingMode, modeRefused } from "./child_mode.ts";
import { CANCELLED } from "./child_permission.ts";
import { OpenChildSession } from "./child_session.ts";
import { settingChanges } from "./child_settings.ts";
import { countOf, type Fields, fieldsOf, listOf, textOf } from "./fields.ts";
import { FirstWords } from "./first_words.ts";
import { givenServers } from "./mcp_servers.ts";
import { readMeta } from "./meta.ts";
import { openingMeta } from "./opening.ts";
import { openWire, type Wire } from "./wire.ts";

/** The one version of the protocol that is spoken. */
const PROTOCOL = 1;

/** Opens the protocol on the streams of a child. */
export const connectChild: ConnectChild = async (streams, { signal }) => {
  signal.throwIfAborted();
  const connection = new Connection(streams);
  try {
    await connection.greet(signal);
    return connection;
  } catch (error) {
    connection.close();
    throw error;
  }
};

class Connection implements ChildConnection {
  readonly closed: Promise<void>;
  readonly #connection: ClientConnection;
  readonly #wire: Wire;
  readonly #streams: ChildStreams;
  readonly #sessions = new Map<string, OpenChildSession>();
  /** Requests of this side that have no reply yet. */
  readonly #asked = new Set<JsonRpcId>();
  readonly #firstWords: FirstWords;
  #hello: Fields = {};

  constructor(streams: ChildStreams) {
    this.#streams = streams;
    this.#firstWords = new FirstWords(streams.stdout);
    this.#wire = openWire({
      input: this.#firstWords.stream,
      output: streams.stdin,
      // A program that prints noise is not told so: another one may take the answer for input.
      answerNoise: false,
      intercept: (message) => this.#intercept(message),
      onSent: (message) => {
        if ("method" in message && "id" in message) this.#asked.add(message.id);
      },
      onBroken: (error) => this.#connection.close(error),
    });
    const app = client({ name: "mm" }).onRequest(
      methods.client.session.requestPermission,
      async ({ params, signal }) => {
        const session = this.#sessions.get(params.sessionId);
        return await session?.permit(fieldsOf(params), signal) ?? CANCELLED;
      },
    );
    this.#connection = app.connect(this.#wire.stream);
    this.closed = this.#connection.closed;
  }

  get title(): string | undefined {
    const info = fieldsOf(this.#hello["agentInfo"]);
    return textOf(info["title"]) ?? textOf(info["name"]);
  }

  async greet(signal: AbortSignal): Promise<void> {
    let reply: unknown;
    try {
      reply = await this.#request(methods.agent.initialize, {
        protocolVersion: PROTOCOL,
        clientInfo: { name: "mm", version: VERSION },
        clientCapabilities: {
          fs: { readTextFile: false, writeTextFile: false },
          terminal: false,
          // Notices must not come as text of the answer.
          session: { notices: {} },
        },
      }, signal);
    } catch (error) {
      if (signal.aborted && !isTimeout(signal.reason)) throw signal.reason;
      const kind = this.#connection.signal.aborted ? "closed" : "protocol";
      throw new ChildError(kind, this.#greetingFault(error, signal), { cause: error });
    } finally {
      this.#firstWords.stop();
    }
    this.#hello = fieldsOf(reply);
    const version = this.#hello["protocolVersion"];
    if (version !== PROTOCOL) {
      throw new ChildError(
        "protocol",
        `it speaks version ${oneLine(String(version), 40)} of the protocol, mm speaks ${PROTOCOL}`,
      );
    }
  }

  async newSession(options: OpenSessionOptions): Promise<ChildSession> {
    const reply = await this.#open(methods.agent.session.new, {}, options);
    const id = textOf(reply["sessionId"]);
    if (id === undefined) {
      throw new ChildError("protocol", "it opened a session without giving its id");
    }
    return await this.#prepared(id, reply, options);
  }

  async loadSession(
    { id, ...options }: OpenSessionOptions & { readonly id: string },
  ): Promise<ChildSession> {
    if (this.#capabilities["loadSession"] !== true) {
      throw new ChildError("agent", "it cannot go on with a saved session");
    }
    const reply = await this.#open(methods.agent.session.load, { sessionId: id }, options);
    return await this.#prepared(id, reply, options);
  }

  get #capabilities(): Fields {
    return fieldsOf(this.#hello["agentCapabilities"]);
  }

  async #open(method: string, params: Fields, options: OpenSessionOptions): Promise<Fields> {
    const { cwd, signal, opening = {} } = options;
    signal.throwIfAborted();
    try {
      const mcpServers = givenServers(opening.mcpServers);
      const request = { ...params, cwd, mcpServers, ...openingMeta(opening) };
      return fieldsOf(await this.#request(method, request, signal));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw childErrorOf(error);
    }
  }

  /** Puts a session that was opened into the state it is asked in; one that cannot be is closed. */
  async #prepared(
    id: string,
    reply: Fields,
    { signal, opening }: OpenSessionOptions,
  ): Promise<ChildSession> {
    const session = (label: string | undefined, window: number | undefined) =>
      new OpenChildSession({
        id,
        label: label ?? this.title,
        window,
        agent: this.#connection.agent,
        closable: Boolean(fieldsOf(this.#capabilities["sessionCapabilities"])["close"]),
        steerable: readMeta(this.#hello)["steer"] === true,
        onClose: (closed) => {
          // Under its id another one may have been loaded.
          if (this.#sessions.get(id) === closed) this.#sessions.delete(id);
        },
      });
    let label = labelOf(reply);
    let window = countOf(readMeta(reply)["window"], 1);
    try {
      await this.#chooseMode(id, reply, signal);
      for (const change of settingChanges(reply, opening?.settings)) {
        const changed = await this.#change({ sessionId: id, ...change }, signal);
        label = labelOf(changed) ?? label;
        // The window was that of the model before.
        window = undefined;
      }
    } catch (error) {
      void session(label, window).close();
      throw error;
    }
    const opened = session(label, window);
    this.#sessions.set(id, opened);
    return opened;
  }

  async #change(params: Fields, signal: AbortSignal): Promise<Fields> {
    try {
      return fieldsOf(
        await this.#request(methods.agent.session.setConfigOption, params, signal),
      );
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      throw childErrorOf(error);
    }
  }

  /** Puts a session into a mode in which the agent asks; where that fails, nothing is asked of it. */
  async #chooseMode(sessionId: string, reply: Fields, signal: AbortSignal): Promise<void> {
    const choice = askingMode(reply);
    if (choice === undefined) return;
    const { mode, option } = choice;
    try {
      await (option === undefined
        ? this.#request(methods.agent.session.setMode, { sessionId, modeId: mode }, signal)
        : this.#request(
          methods.agent.session.setConfigOption,
          { sessionId, configId: option, value: mode },
          signal,
        ));
    } catch (error) {
      if (signal.aborted) throw signal.reason;
      const fault = childErrorOf(error);
      throw fault.kind === "closed" ? fault : modeRefused(choice, fault);
    }
  }

  close(): void {
    this.#connection.close();
    // End of input is how an agent is told to go; one that reads nothing more cannot be told.
    this.#wire.flushed().then(() => this.#streams.stdin.close()).catch(() => {});
  }

  async #request(method: string, params: unknown, signal: AbortSignal): Promise<unknown> {
    return await this.#connection.agent.request<unknown, unknown>(method, params, {
      cancellationSignal: signal,
      stopWaitingOnCancel: true,
    });
  }

  /** Delivers updates in the order of the wire, so that all of a prompt's come before its reply. */
  #intercept(message: AnyMessage): boolean {
    if (!("method" in message)) {
      // The library prints what it cannot match; an agent's slip is not the user's business.
      return !this.#asked.delete(message.id as JsonRpcId);
    }
    if (message.method !== methods.client.session.update || "id" in message) return false;
    const params = fieldsOf(message.params);
    this.#sessions.get(textOf(params["sessionId"]) ?? "")?.take(params["update"]);
    return true;
  }

  #greetingFault(error: unknown, signal: AbortSignal): string {
    const said = this.#firstWords.text();
    const printed = said === "" ? "it printed nothing" : `it printed "${said}"`;
    if (signal.aborted) return `no answer to "initialize" in time; ${printed}`;
    if (this.#connection.signal.aborted) {
      return `it closed its output before it answered "initialize"; ${printed}`;
    }
    return `it answered "initialize" with an error: ${messageOf(childErrorOf(error))}`;
  }
}

function labelOf(reply: Fields): string | undefined {
  const own = textOf(readMeta(reply)["label"]);
  if (own !== undefined) return own;
  const model = listOf(reply["configOptions"]).map(fieldsOf).find((option) =>
    option["category"] === "model"
  );
  return textOf(model?.["currentValue"]);
}

function isTimeout(reason: unknown): boolean {
  return reason instanceof Error && reason.name === "TimeoutError";
}
