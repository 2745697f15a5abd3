/**
 * The list of saved conversations as an editor reads it: page by page.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { isAbsolute } from "node:path";
import type {
  ListSessionsRequest,
  ListSessionsResponse,
  SessionInfo,
} from "@agentclientprotocol/sdk";
import type { SavedSession, SavedSessions } from "../session/types.ts";
import { invalidParams } from "./errors.ts";

/** Conversations on one page. */
const PAGE = 50;

/**
 * Returns a page.
 *
 * @throws {RequestError} -32602 for a cursor that this agent did not give, or a path that is relative.
 */
export async function sessionPage(
  saved: SavedSessions,
  { cwd, cursor }: ListSessionsRequest,
): Promise<ListSessionsResponse> {
  if (typeof cwd === "string" && !isAbsolute(cwd)) {
    throw invalidParams(`Cannot list the sessions of "${cwd}": the path of "cwd" must be absolute`);
  }
  const found = await saved.list({
    ...(typeof cwd === "string" ? { cwd } : {}),
    ...(typeof cursor === "string" ? { after: readCursor(cursor) } : {}),
    limit: PAGE + 1,
  });
  const sessions = found.slice(0, PAGE);
  const last = sessions.at(-1);
  return {
    sessions: sessions.map(sessionInfo),
    ...(found.length > PAGE && last !== undefined ? { nextCursor: writeCursor(last) } : {}),
  };
}

function sessionInfo({ id, cwd, title, updatedAt }: SavedSession): SessionInfo {
  return {
    sessionId: id,
    cwd,
    ...(title === undefined ? {} : { title }),
    updatedAt: new Date(updatedAt).toISOString(),
  };
}

/** A page goes on behind the last conversation of the one before, so that new ones shift nothing. */
function writeCursor({ updatedAt, id }: SavedSession): string {
  return Buffer.from(`${updatedAt} ${id}`).toString("base64url");
}

function readCursor(cursor: string): { updatedAt: number; id: string } {
  const [, updatedAt, id] = /^(\d{1,15}) ([0-9a-f-]{36})$/u.exec(
    Buffer.from(cursor, "base64url").toString("latin1"),
  ) ?? [];
  if (updatedAt === undefined || id === undefined) {
    throw invalidParams(`Cannot go on with the list: "${cursor.slice(0, 100)}" is no cursor of it`);
  }
  return { updatedAt: Number(updatedAt), id };
}
