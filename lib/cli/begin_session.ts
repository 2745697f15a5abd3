/**
 * The session that a command line asks for: a fresh one, or a saved conversation.
 *
 * @module
 */
import { UsageError, UserError } from "../base/errors.ts";
import { NOT_KEPT } from "../session/kept_conversation.ts";
import type { CreateSessionOptions, Session, SessionHost } from "../session/types.ts";
import type { SavedChoice } from "./command_line.ts";

/** Options of {@linkcode beginSession}. */
export interface BeginSessionOptions {
  readonly host: SessionHost;
  /** What `-resume` and `-continue` say; absent for a fresh conversation. */
  readonly saved: SavedChoice | undefined;
  readonly session: CreateSessionOptions;
}

/**
 * Begins the session.
 *
 * @throws {UsageError} when the conversation that was asked for cannot be gone on with.
 */
export async function beginSession(options: BeginSessionOptions): Promise<Session> {
  const { host, saved, session } = options;
  // The list is shown in a conversation, which a command there can leave.
  if (saved === undefined || saved.kind === "list") return await host.createSession(session);
  if (host.saved === undefined) throw new UsageError(NOT_KEPT);
  try {
    const id = saved.kind === "last"
      ? await lastOf(host, session.cwd)
      : await host.saved.find(saved.beginning, session.cwd);
    return await host.saved.resume({ ...session, id });
  } catch (cause) {
    if (cause instanceof UserError) throw new UsageError(cause.message, { cause });
    throw cause;
  }
}

async function lastOf(host: SessionHost, cwd: string): Promise<string> {
  const [last] = await host.saved?.list({ cwd, limit: 1 }) ?? [];
  if (last !== undefined) return last.id;
  throw new UsageError(`Cannot continue: no conversation of "${cwd}" is saved`);
}
