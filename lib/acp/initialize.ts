/**
 * The greeting: what this agent can do, and what the client told about itself.
 *
 * @module
 */
import type { InitializeRequest, InitializeResponse } from "@agentclientprotocol/sdk";
import { metaOf } from "./meta.ts";
import { TERMINAL_OUTPUT } from "./terminal_call.ts";

/** The one version of the protocol this agent speaks. */
const VERSION = 1;

/** What this agent has to know of a client. */
export interface ClientAbilities {
  /** It takes `notice` updates. */
  readonly notices: boolean;
  /** It takes updates about the compression of conversations. */
  readonly compactions: boolean;
  /** It shows forms. */
  readonly forms: boolean;
  /** It draws the output of commands as a terminal: see `terminal_call.ts`. */
  readonly terminals: boolean;
  /** It is an mm that asks this agent; nobody there chooses a model. */
  readonly asks: boolean;
}

/** A client that told nothing about itself. */
export const NO_ABILITIES: ClientAbilities = {
  notices: false,
  compactions: false,
  forms: false,
  terminals: false,
  asks: false,
};

/** Returns what a client told about itself. */
export function abilitiesOf(request: InitializeRequest): ClientAbilities {
  return {
    notices: Boolean(request.clientCapabilities?.session?.notices),
    compactions: Boolean(request.clientCapabilities?.session?.compaction),
    forms: Boolean(request.clientCapabilities?.elicitation?.form),
    terminals: request.clientCapabilities?._meta?.[TERMINAL_OUTPUT] === true,
    asks: request.clientInfo?.name === "mm",
  };
}

/** What this agent tells about itself. */
export interface AgentFacts {
  readonly title: string;
  readonly version: string;
  /** Whether the model takes images. */
  readonly images: boolean;
  /** Whether conversations are saved. */
  readonly saved: boolean;
}

/**
 * Returns the answer to `initialize`. It is the same whatever version the client wants: one that
 * cannot speak ours closes the connection.
 */
export function initializeResponse(facts: AgentFacts): InitializeResponse {
  return {
    protocolVersion: VERSION,
    agentInfo: { name: "mm", title: facts.title, version: facts.version },
    authMethods: [],
    agentCapabilities: {
      loadSession: facts.saved,
      promptCapabilities: { embeddedContext: true, image: facts.images, audio: false },
      mcpCapabilities: { http: true, sse: false },
      // Objects, not booleans: some editors refuse an agent that gets this wrong.
      sessionCapabilities: facts.saved
        ? { close: {}, list: {}, resume: {}, delete: {} }
        : { close: {} },
    },
    _meta: metaOf({ steer: true }),
  };
}
