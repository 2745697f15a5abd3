/**
 * Opening the session of a run in its child: a new one, the copy of a fork, or the one it had.
 *
 * @module
 */
import type { OpenSession } from "../agents/ask.ts";
import { ChildError, type ChildOpening, type ForkOpening } from "../agents/child_connection.ts";
import type { ModelSettings } from "../model/types.ts";
import type { Run } from "./run.ts";

/** What a run of this session begins with. */
export interface OpenRunSetup {
  /** What a person changed of the model; absent where nothing was. */
  readonly settings: () => ModelSettings | undefined;
  /** MCP servers of the session besides those of the configuration. */
  readonly mcpServers: ChildOpening["mcpServers"];
}

/** Returns what opens the session of a run; it rejects with a {@linkcode ChildError} where none can be. */
export function openingOf(run: Run, { settings, mcpServers = [] }: OpenRunSetup): OpenSession {
  const { target } = run;
  return async (connection, options) => {
    const own = target.kind === "definition" && target.definition.model !== undefined;
    const changed = own ? undefined : settings();
    const opening: ChildOpening = {
      ...(changed === undefined ? {} : { settings: changed }),
      ...(mcpServers.length === 0 ? {} : { mcpServers }),
      ...(run.background || target.kind === "fork" ? {} : { save: false }),
      ...(target.kind === "fork" ? { fork: forkOpening(target.opening, run.sessionId) } : {}),
    };
    // What is not saved ends with its process.
    if (opening.save === false && run.sessionId !== undefined) return await conversationLost();
    const id = run.sessionId ?? (target.kind === "fork" ? target.sessionId : undefined);
    return id === undefined
      ? await connection.newSession({ ...options, opening })
      : await connection.loadSession({ ...options, id, opening });
  };
}

/** Rejects: a session that is gone cannot be gone on with where nothing of it is saved. */
export function conversationLost(): Promise<never> {
  const words = "its process ended, and its conversation with it";
  return Promise.reject(new ChildError("agent", words));
}

/** The call that made a fork is answered once; whoever goes on with it says something new. */
function forkOpening(opening: ForkOpening, sessionId: string | undefined): ForkOpening {
  if (sessionId === undefined) return opening;
  const { callId: _, ...rest } = opening;
  return rest;
}
