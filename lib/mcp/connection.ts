/**
 * One connection to an MCP server: started, greeted, its tools listed, called, ended. Importing this
 * file loads the SDK, so it is imported when the first server is started.
 *
 * @module
 */
import { basename } from "node:path";
import { pathToFileURL } from "node:url";
import { Client } from "@modelcontextprotocol/sdk/client";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport";
// The package's wildcard export gives types only without the extension, and code only with it.
// @ts-types="@modelcontextprotocol/sdk/types"
import {
  ListRootsRequestSchema,
  ToolListChangedNotificationSchema,
} from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { oneLine } from "../base/cut.ts";
import { messageOf } from "../base/errors.ts";
import { VERSION } from "../base/version.ts";
import { within } from "../base/within.ts";
import type { McpServerConfig } from "../config/types.ts";
import type { Child, ProcessEnd, StartChild } from "../platform/process.ts";
import { ChildTransport } from "./child_transport.ts";
import { type CallFailure, failureWords } from "./failure_words.ts";
import { httpTransport } from "./http_transport.ts";
import { readServerTool, type ServerTool } from "./server_tool.ts";

/** Tools of one server that are taken, and pages of its list that are read. */
export const MAX_SERVER_TOOLS = 200;
const MAX_PAGES = 50;

/** How long a server may take to end by itself, in milliseconds; half of it before TERM. */
const STOP_GRACE_MS = 1000;

/** How long the end of a session may take over HTTP, in milliseconds. */
const GOODBYE_MS = 500;

/** How long a closed connection's process may take to be gone, in milliseconds. */
const DEATH_GRACE_MS = 1000;

/** What is read of the list; everything in it is read by `readServerTool`. */
const toolList = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

const anything = z.looseObject({});

/** Options of {@linkcode connectServer}. */
export interface ConnectOptions {
  /** Where a program is started, and what a server is told to work in. Absolute. */
  readonly cwd: string;
  /** The whole environment of a program. */
  readonly env: Readonly<Record<string, string>>;
  readonly start: StartChild;
  /** Ends the attempt. */
  readonly signal: AbortSignal;
  /** How long the server may take until its tools are known, in milliseconds. */
  readonly timeoutMs: number;
}

/** Options of {@linkcode McpConnection.call}. */
export interface CallOptions {
  readonly signal: AbortSignal;
  /** Longest silence of the call, in milliseconds. */
  readonly timeoutMs: number;
  /** Told of each sign of life, with the server's words where it has some. */
  readonly onProgress: (words: string) => void;
}

/** A server that answered. */
export interface McpConnection {
  /** Its own name and version, where it told them. */
  readonly label: string;
  /** Its tools, as they were when it was asked last. */
  readonly tools: readonly ServerTool[];
  /** Tools it has and mm left out, because they are too many. */
  readonly leftOut: number;
  /** Settles when the connection is lost. */
  readonly lost: Promise<void>;
  /**
   * Calls a tool and returns what came, unread.
   *
   * @throws {CallFailure} when no answer came.
   * @throws the signal's reason.
   */
  call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options: CallOptions,
  ): Promise<unknown>;
  /** Asks for the tools again if the server said that they changed. */
  refresh(options: { readonly signal: AbortSignal; readonly timeoutMs: number }): Promise<void>;
  /** Says why the connection was lost, in words that follow the server's name. */
  whyLost(): Promise<string>;
  /** Ends the connection and the program. */
  close(): Promise<void>;
}

/**
 * Starts a server, or reaches it, and asks for its tools.
 *
 * @throws {Error} with words that follow the server's name: `exited with status 1`.
 */
export async function connectServer(
  config: McpServerConfig,
  options: ConnectOptions,
): Promise<McpConnection> {
  const limit = AbortSignal.timeout(options.timeoutMs);
  const connection = "url" in config
    ? new Connection({ transport: httpTransport(config) })
    : await startProgram(config.command, options);
  try {
    await connection.open({ ...options, signal: AbortSignal.any([options.signal, limit]) });
    return connection;
  } catch (error) {
    const words = await connection.wordsFor(error, { limit, timeoutMs: options.timeoutMs });
    await connection.close();
    options.signal.throwIfAborted();
    throw new Error(words, { cause: error });
  }
}

async function startProgram(
  command: readonly [string, ...string[]],
  { cwd, env, start }: ConnectOptions,
): Promise<Connection> {
  let child: Child;
  try {
    child = await start({ command, cwd, env });
  } catch (error) {
    throw new Error(messageOf(error).replace(/^C(?=annot )/u, "c"), { cause: error });
  }
  return new Connection({ transport: new ChildTransport(child), child, cwd });
}

interface ConnectionParts {
  readonly transport: ChildTransport | ReturnType<typeof httpTransport>;
  readonly child?: Child;
  /** What the server is told to work in; a remote one is told nothing about this machine. */
  readonly cwd?: string;
}

class Connection implements McpConnection {
  tools: readonly ServerTool[] = [];
  leftOut = 0;
  label = "";
  readonly lost: Promise<void>;
  readonly #parts: ConnectionParts;
  readonly #client: Client;
  #changed = false;
  #closed = false;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    const { cwd } = parts;
    this.#client = new Client({ name: "mm", version: VERSION }, {
      capabilities: cwd === undefined ? {} : { roots: {} },
    });
    if (cwd !== undefined) {
      this.#client.setRequestHandler(ListRootsRequestSchema, () => ({
        roots: [{ uri: pathToFileURL(cwd).href, name: basename(cwd) }],
      }));
    }
    this.#client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
      this.#changed = true;
    });
    this.lost = new Promise((resolve) => {
      this.#client.onclose = () => resolve();
    });
    // What is wrong with a message of the server is its own affair; what matters is the answer.
    this.#client.onerror = () => {};
  }

  async open(options: { readonly signal: AbortSignal; readonly timeoutMs: number }): Promise<void> {
    const { signal, timeoutMs } = options;
    // Types of the SDK and the strictness of ours differ in optional members only.
    await this.#client.connect(this.#parts.transport as Transport, { signal, timeout: timeoutMs });
    const { name, version } = this.#client.getServerVersion() ?? {};
    this.label = oneLine([name, version].filter((part) => part !== undefined).join(" "), 100);
    await this.#list(options);
  }

  async call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    options: CallOptions,
  ): Promise<unknown> {
    const { signal, timeoutMs, onProgress } = options;
    signal.throwIfAborted();
    // The SDK keeps its listener on the signal for ever, and would cancel a call that is over.
    const cancel = new AbortController();
    const onAbort = () => cancel.abort(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    try {
      return await this.#client.request(
        { method: "tools/call", params: { name: tool, arguments: { ...args } } },
        anything,
        {
          signal: cancel.signal,
          timeout: timeoutMs,
          resetTimeoutOnProgress: true,
          onprogress: ({ progress, total, message }) =>
            onProgress(message ?? (total === undefined ? "" : `${progress} of ${total}`)),
        },
      );
    } catch (error) {
      signal.throwIfAborted();
      throw await this.#failure(error, timeoutMs);
    } finally {
      signal.removeEventListener("abort", onAbort);
    }
  }

  async refresh(
    options: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<void> {
    if (!this.#changed) return;
    await this.#list(options);
  }

  async whyLost(): Promise<string> {
    const { child, transport } = this.#parts;
    if (child === undefined) return "closed the connection";
    const end = await within(child.ended, DEATH_GRACE_MS);
    const noise = transport instanceof ChildTransport ? transport.noise : undefined;
    return diedWords(end, child.stderrTail(), noise);
  }

  /** Returns words for a failed start. */
  async wordsFor(
    error: unknown,
    start: { readonly limit: AbortSignal; readonly timeoutMs: number },
  ): Promise<string> {
    const { child, transport } = this.#parts;
    const failure = failureWords(error, start.timeoutMs);
    if (child !== undefined && (failure.lost || await this.#isGone())) return await this.whyLost();
    if (!start.limit.aborted) return failure.words;
    const noise = transport instanceof ChildTransport ? transport.noise : undefined;
    return failureWords(start.limit.reason, start.timeoutMs).words +
      (noise === undefined ? "" : `; it printed "${noise}", which is no message of MCP`);
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const { child, transport } = this.#parts;
    if (!(transport instanceof ChildTransport) && transport.sessionId !== undefined) {
      await within(transport.terminateSession().catch(() => {}), GOODBYE_MS);
    }
    await this.#client.close().catch(() => {});
    await child?.stop({ graceMs: STOP_GRACE_MS });
  }

  async #failure(error: unknown, timeoutMs: number): Promise<CallFailure> {
    const failure = failureWords(error, timeoutMs);
    if (!failure.lost && !await this.#isGone()) return failure;
    if (this.#parts.child === undefined) return failure;
    return failureWords(new Error(await this.whyLost(), { cause: error }), timeoutMs, true);
  }

  async #isGone(): Promise<boolean> {
    const { child } = this.#parts;
    return child !== undefined && await within(child.ended, 0) !== undefined;
  }

  async #list(
    { signal, timeoutMs }: { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<void> {
    this.#changed = false;
    if (this.#client.getServerCapabilities()?.tools === undefined) return;
    const tools: ServerTool[] = [];
    let leftOut = 0;
    let cursor: string | undefined;
    for (let page = 0; page < MAX_PAGES; page++) {
      const params = cursor === undefined ? {} : { cursor };
      const list = await this.#client.request({ method: "tools/list", params }, toolList, {
        signal,
        timeout: timeoutMs,
      });
      for (const entry of list.tools) {
        const tool = readServerTool(entry);
        if (tool === undefined) continue;
        if (tools.length < MAX_SERVER_TOOLS) tools.push(tool);
        else leftOut++;
      }
      if (list.nextCursor === undefined || list.nextCursor === cursor) break;
      cursor = list.nextCursor;
    }
    this.tools = tools;
    this.leftOut = leftOut;
  }
}

function diedWords(end: ProcessEnd | undefined, stderr: string, noise: string | undefined): string {
  const how = end === undefined
    ? "closed its output"
    : end.signal !== null
    ? `was killed by ${end.signal}`
    : `exited with status ${end.code ?? "unknown"}`;
  const last = stderr.trim() || noise || "";
  return last === "" ? how : `${how}; its last words: ${last.slice(-1000)}`;
}
