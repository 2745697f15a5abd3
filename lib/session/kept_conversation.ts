/**
 * What a session does with saved conversations: list them, go on with one of them.
 *
 * @module
 */
import { UserError } from "../base/errors.ts";
import type { OpenedSession } from "../store/opened_session.ts";
import type { SavedSession } from "../store/saved_session.ts";
import type { SessionLog } from "../store/session_log.ts";
import type { SessionStore } from "../store/session_store.ts";

/** Where a session saves its conversation, and finds earlier ones. */
export interface Keeping {
  readonly store: SessionStore;
  readonly log: SessionLog;
}

/** Why there are no saved conversations. */
export const NOT_KEPT =
  "Conversations are not saved here: sessions.enabled is false in the configuration, or " +
  "AGENT_SESSIONS is off";

/** Conversations that a list shows; the others can be named all the same. */
const LISTED = 30;

/** Characters of an id that a list shows: enough to name one among thousands. */
const SHORT_ID = 8;

const UNITS: readonly [string, number][] = [
  ["d", 86_400_000],
  ["h", 3_600_000],
  ["min", 60_000],
];

/** Returns the lines of `/sessions`. */
export async function sessionsText(
  keeping: Keeping | undefined,
  cwd: string,
): Promise<string> {
  if (keeping === undefined) return `${NOT_KEPT}.`;
  const sessions = await keeping.store.list({ cwd });
  if (sessions.length === 0) return "No conversation of this directory is saved yet.";
  return savedSessionsText(sessions, { now: Date.now(), current: keeping.log.id });
}

/** Options of {@linkcode savedSessionsText}. */
export interface SavedSessionsTextOptions {
  /** Milliseconds since 1970. */
  readonly now: number;
  /** The id of the conversation that goes on here. */
  readonly current?: string;
}

/** Returns conversations as lines for people: id, age, size, title. */
export function savedSessionsText(
  sessions: readonly SavedSession[],
  options: SavedSessionsTextOptions,
): string {
  const rows = sessions.slice(0, LISTED).map((session) => [
    session.id.slice(0, SHORT_ID),
    ageText(options.now - session.updatedAt),
    sizeText(session.size),
    (session.title ?? "(no title)") +
    (session.id === options.current ? " (this one)" : session.open ? " (open in another mm)" : ""),
  ]);
  const widths = [0, 1, 2].map((column) =>
    Math.max(...rows.map((row) => (row[column] ?? "").length))
  );
  const lines = rows.map((row) =>
    row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  ").trimEnd()
  );
  const more = sessions.length - rows.length;
  if (more > 0) lines.push(`… and ${more} older ones`);
  return [...lines, "/resume and the beginning of an id goes on with one."].join("\n");
}

/**
 * Opens the conversation of this directory that a beginning of its id means.
 *
 * @throws {UserError} when there is none that can be opened.
 */
export async function openSaved(
  keeping: Keeping | undefined,
  options: { readonly beginning: string; readonly cwd: string },
): Promise<OpenedSession> {
  if (keeping === undefined) throw new UserError(NOT_KEPT);
  const id = await keeping.store.find(options.beginning, options.cwd);
  if (id === keeping.log.id) throw new UserError(`"${options.beginning}" is this conversation`);
  return await keeping.store.open(id, { events: true });
}

/** Returns how long ago something was: `now`, `5 min ago`, `3 d ago`. */
function ageText(ms: number): string {
  for (const [unit, size] of UNITS) {
    if (ms >= size) return `${Math.floor(ms / size)} ${unit} ago`;
  }
  return "now";
}

function sizeText(bytes: number): string {
  if (bytes < 1_000_000) return `${Math.max(1, Math.round(bytes / 1000))} kB`;
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}
