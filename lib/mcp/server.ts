/**
 * One MCP server of this process, through its starts and ends.
 *
 * @module
 */
import { messageOf } from "../base/errors.ts";
import { untilAborted } from "../base/until_aborted.ts";
import type { McpServerConfig } from "../config/types.ts";
import type { StartChild } from "../platform/process.ts";
import type { CallFailure } from "./failure_words.ts";
import type { McpConnection } from "./connection.ts";
import type { ServerTool } from "./server_tool.ts";

/** How long a server may take until its tools are known, in milliseconds. Some download themselves. */
export const START_MS = 60_000;

/** How long a server that died may take to be there again while a call waits, in milliseconds. */
const RESTART_MS = 15_000;

/** A server that ran for this long, in milliseconds, may be started again when it dies. */
const STEADY_MS = 60_000;

/** What `/mcp` says of a server. */
export type ServerState = "starting" | "ready" | "failed" | "ended";

/** Options of {@linkcode McpServer}. */
export interface McpServerOptions {
  readonly config: McpServerConfig;
  /** The directory it works in, absolute. */
  readonly cwd: string;
  /** The whole environment of a program. */
  readonly env: Readonly<Record<string, string>>;
  readonly start: StartChild;
  /** Takes secrets out of words about the server. */
  readonly redact: (text: string) => string;
}

/** Options of {@linkcode McpServer.call}. */
export interface ServerCallOptions {
  readonly signal: AbortSignal;
  /** Longest silence of the call, in milliseconds. */
  readonly timeoutMs: number;
  readonly onProgress: (words: string) => void;
}

/** What a call gave. */
export type ServerCallResult =
  | {
    readonly result: unknown;
    /** What happened to the server on the way, as a sentence. */
    readonly note?: string;
  }
  /** No answer came; the sentence says why and what to do. */
  | { readonly failure: string };

/** A server. It starts when it is told to, in the background, and never throws for how that goes. */
export class McpServer {
  readonly #options: McpServerOptions;
  readonly #closing = new AbortController();
  #attempt: Promise<void> | undefined;
  #connection: McpConnection | undefined;
  #failure: string | undefined;
  /** Why the connection was lost; absent while it stands. */
  #lost: string | undefined;
  #startedAt = 0;
  /** Starts since the server last ran steadily. */
  #starts = 0;
  #state: ServerState = "starting";

  /** Creates the server; nothing is started yet. */
  constructor(options: McpServerOptions) {
    this.#options = options;
  }

  /** The name it was configured under. */
  get name(): string {
    return this.#options.config.name;
  }

  get state(): ServerState {
    return this.#state;
  }

  /** Its tools, as far as they are known. */
  get tools(): readonly ServerTool[] {
    return this.#connection?.tools ?? [];
  }

  /** Tools that were left out because they are too many. */
  get leftOut(): number {
    return this.#connection?.leftOut ?? 0;
  }

  /** Its own name and version, where it told them. */
  get label(): string {
    return this.#connection?.label ?? "";
  }

  /** Why it cannot be used, in words that follow its name. */
  get failure(): string | undefined {
    return this.#failure ?? this.#lost;
  }

  /**
   * A conversation begins: starts the server, or asks for its tools again where they changed.
   *
   * @param options `again`: also where it could not be started before.
   */
  begin(options: { readonly again?: boolean } = {}): Promise<void> {
    if (this.#attempt !== undefined && this.#state === "starting") return this.#attempt;
    if (this.#failure !== undefined && options.again !== true) return Promise.resolve();
    if (this.#state === "ended") return Promise.resolve();
    const connection = this.#connection;
    if (this.#state === "ready" && connection !== undefined) {
      const signal = this.#closing.signal;
      this.#attempt = connection.refresh({ signal, timeoutMs: START_MS }).catch(() => {});
      return this.#attempt;
    }
    this.#starts = 0;
    return this.#connect(START_MS);
  }

  /** Calls a tool. @throws the signal's reason. */
  async call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options: ServerCallOptions,
  ): Promise<ServerCallResult> {
    let note: string | undefined;
    for (let attempt = 0;; attempt++) {
      note = await this.#ensure(options.signal) ?? note;
      const connection = this.#connection;
      if (this.#state !== "ready" || connection === undefined) {
        return { failure: this.#sentence(`${this.failure ?? "was ended"}. ${NO_MORE}`) };
      }
      try {
        const result = await connection.call(tool, args, options);
        return { result, ...(note === undefined ? {} : { note }) };
      } catch (thrown) {
        options.signal.throwIfAborted();
        const { words, lost, unseen } = thrown as CallFailure;
        if (!lost) return { failure: this.#sentence(words) };
        this.#lose(connection, words);
        // Sent again only when the server cannot have begun: a call may change something.
        if (!unseen || attempt > 0) {
          const next = this.#mayRestart() ? AGAIN : NO_MORE;
          return {
            failure: this.#sentence(
              `${words}. Whether the call had an effect is not known. ${next}`,
            ),
          };
        }
      }
    }
  }

  /** Ends the server. */
  async close(): Promise<void> {
    this.#closing.abort(new Error("mm ends"));
    await this.#attempt;
    this.#state = "ended";
    await this.#connection?.close();
  }

  /** Starts a server that died; returns a sentence about it when it did. */
  async #ensure(signal: AbortSignal): Promise<string | undefined> {
    if (this.#state === "starting" && this.#attempt !== undefined) {
      await untilAborted(this.#attempt, signal);
      return undefined;
    }
    const why = this.#lost;
    if (this.#state === "ready" || why === undefined || !this.#mayRestart()) return undefined;
    await untilAborted(this.#connect(RESTART_MS), signal);
    return this.#state as ServerState === "ready"
      ? this.#sentence(`had ended (it ${why}) and was started again for this call`)
      : undefined;
  }

  #connect(timeoutMs: number): Promise<void> {
    const { config, cwd, env, start } = this.#options;
    this.#state = "starting";
    this.#starts++;
    const attempt = async () => {
      try {
        const { connectServer } = await import("./connection.ts");
        const connection = await connectServer(config, {
          cwd,
          env,
          start,
          signal: this.#closing.signal,
          timeoutMs,
        });
        this.#connection = connection;
        this.#failure = undefined;
        this.#lost = undefined;
        this.#startedAt = performance.now();
        this.#state = "ready";
        void connection.lost.then(async () => this.#lose(connection, await connection.whyLost()));
      } catch (error) {
        this.#failure = this.#options.redact(messageOf(error));
        this.#state = "failed";
      }
    };
    this.#attempt = attempt();
    return this.#attempt;
  }

  #lose(connection: McpConnection, words: string): void {
    if (this.#connection !== connection || this.#state !== "ready") return;
    this.#lost = this.#options.redact(words);
    this.#state = "failed";
    if (performance.now() - this.#startedAt >= STEADY_MS) this.#starts = 0;
    // The process, where it still runs, is of no use without its connection.
    void connection.close();
  }

  /** A program that dies again at once is not started over and over; an address costs nothing. */
  #mayRestart(): boolean {
    if (this.#lost === undefined || this.#failure !== undefined) return false;
    return ("url" in this.#options.config || this.#starts < 2) && !this.#closing.signal.aborted;
  }

  #sentence(words: string): string {
    return this.#options.redact(`The MCP server "${this.name}" ${words}`);
  }
}

const AGAIN = "The next call starts the server again";
const NO_MORE = "Go on without its tools; /new tries to start it again";
