/**
 * `mm -acp -listen 127.0.0.1:PORT`: the agent of `-acp` for clients that come over a network.
 *
 * @module
 */
import { randomBytes } from "node:crypto";
import process from "node:process";
import { guardConsole } from "../acp/console.ts";
import { UsageError } from "../base/errors.ts";
import { VERSION } from "../base/version.ts";
import type { ModeOptionsOf } from "./mode.ts";
import { safeText } from "./safe_text.ts";

/** The variable that holds the token; it reaches no process that mm starts. */
export const LISTEN_TOKEN_VARIABLE = "MM_LISTEN_TOKEN";

/** Characters a token has at least. */
const MIN_TOKEN = 16;

/** Serves clients until it is told to end. Returns the exit status. */
export async function runListenMode(
  { options, io, lifetime }: ModeOptionsOf<"acp">,
): Promise<number> {
  const [{ ENDPOINT, isLoopback, listen }, { loadAgentConfig }, { composeHost }] = await Promise
    .all([import("../acp/listen.ts"), import("./load_agent_config.ts"), import("./compose.ts")]);
  // What the protocol's library has to say is for whoever looks for a fault.
  guardConsole(process.stderr);
  const say = (text: string) => io.err(`mm: ${text}\n`);
  const { hostname, port } = listenAddress(options.listen ?? "");
  const given = tokenOf(io.env[LISTEN_TOKEN_VARIABLE]);
  if (given === undefined && !isLoopback(hostname)) {
    throw new UsageError(
      `Cannot listen on "${hostname}", which other machines reach, with a token made up here: ` +
        `set ${LISTEN_TOKEN_VARIABLE}`,
    );
  }
  const { config } = await loadAgentConfig({ options, io });
  const { [LISTEN_TOKEN_VARIABLE]: _, ...env } = io.env;
  const host = await composeHost({ config, env, onNotice: say });
  lifetime.add(() => host.close());
  const token = given ?? randomBytes(24).toString("base64url");
  const listener = listen({
    host,
    hostname,
    port,
    token,
    version: VERSION,
    signal: lifetime.signal,
    warn: (line) => say(safeText(line)),
    ...(options.verbose ? { log: say } : {}),
  });
  const shown = hostname.includes(":") ? `[${hostname}]` : hostname;
  say(`Listening on ws://${shown}:${listener.port}${ENDPOINT} (experimental)`);
  if (given === undefined) say(`Token: ${token}`);
  await listener.closed;
  return 0;
}

function tokenOf(value: string | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (value.length < MIN_TOKEN || /\s/u.test(value)) {
    throw new UsageError(
      `The token in ${LISTEN_TOKEN_VARIABLE} is too weak: it needs ${MIN_TOKEN} characters ` +
        "without spaces",
    );
  }
  return value;
}

/**
 * Reads `127.0.0.1:8123`, `[::1]:0`.
 *
 * @throws {UsageError} for anything else.
 */
export function listenAddress(text: string): { readonly hostname: string; readonly port: number } {
  const match = /^(?:\[([0-9a-f:.]+)\]|([\w.-]+)):(\d{1,5})$/iu.exec(text);
  const port = Number(match?.[3]);
  const hostname = match?.[1] ?? match?.[2];
  if (hostname === undefined || port > 65_535) {
    throw new UsageError(
      `Cannot listen on "${text}": write an address and a port, for example 127.0.0.1:8123; ` +
        "port 0 takes a free one",
    );
  }
  return { hostname, port };
}
