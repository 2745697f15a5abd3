/**
 * All saved conversations: found, listed, opened again, removed.
 *
 * @module
 */
import { readdir, rm, rmdir } from "node:fs/promises";
import { join } from "node:path";
import { messageOf, UserError } from "../base/errors.ts";
import { ownIdentity } from "../platform/process_identity.ts";
import { type LineWriter, lineWriter } from "./entry_line.ts";
import { sessionFileName } from "./places.ts";
import { isDamaged, readSession } from "./read_session.ts";
import { FORMAT, type Header, MAJOR_VERSION, MINOR_VERSION } from "./record.ts";
import type { OpenedSession } from "./opened_session.ts";
import { repairFile } from "./repair_file.ts";
import {
  describeSession,
  type SavedSession,
  type SessionPlace,
  sessionPlace,
  sessionPlaces,
} from "./saved_session.ts";
import { SessionFile } from "./session_file.ts";
import { holderOf, type LockHolder, lockSession, type SessionLock } from "./session_lock.ts";
import { type CopyOptions, writeCopy } from "./session_copy.ts";
import { UnknownSessionError } from "./unknown_session_error.ts";
import { SessionLog, type SessionLogOptions } from "./session_log.ts";

/** Options of {@linkcode SessionStore}. */
export interface SessionStoreOptions {
  /** mm's directory for state, absolute. */
  readonly stateDir: string;
  /** Conversations that are kept of each project; 0 for all. */
  readonly keep: number;
  /** Texts that are hidden in what is saved. */
  readonly secrets: readonly (string | undefined)[];
  /** The version of mm. */
  readonly version: string;
}

/** Options of {@linkcode SessionStore.list}. */
export interface ListOptions {
  /** Only conversations of this directory, absolute. */
  readonly cwd?: string;
  /** Continues behind this one. */
  readonly after?: { readonly updatedAt: number; readonly id: string };
  /** The most that are listed. @default {all} */
  readonly limit?: number;
}

/** Options of {@linkcode SessionStore.open}. */
export interface OpenOptions {
  /** Whether what people saw is wanted. */
  readonly events: boolean;
  /**
   * Whether the history is taken as it is, its last turn open where it is: for what
   * {@linkcode SessionStore.copy} wrote. A file that would need a repair is then refused.
   * @default {false}
   */
  readonly asItIs?: boolean;
}

/** The saved conversations of all projects. */
export class SessionStore {
  readonly #options: SessionStoreOptions;
  readonly #writer: LineWriter;
  #pruning: Promise<void> = Promise.resolve();

  /** Creates the store; nothing is read or written. */
  constructor(options: SessionStoreOptions) {
    this.#options = options;
    this.#writer = lineWriter(options.secrets);
  }

  /** Returns what saves a conversation that begins. */
  log(
    options: Pick<SessionLogOptions, "id" | "cwd" | "history" | "onNotice" | "onTitle">,
  ): SessionLog {
    const { stateDir, version } = this.#options;
    return new SessionLog({
      ...options,
      stateDir,
      version,
      writer: this.#writer,
      onCreated: () => {
        this.#pruning = this.#pruning.then(() => this.#prune(options.cwd)).catch(() => {});
      },
    });
  }

  /** Lists conversations, the one that was written to last first. */
  async list(options: ListOptions = {}): Promise<SavedSession[]> {
    const { cwd, after, limit = Infinity } = options;
    const sessions: SavedSession[] = [];
    for (const place of await sessionPlaces(this.#options.stateDir, cwd)) {
      if (sessions.length >= limit) break;
      if (after !== undefined && !isBehind(place, after)) continue;
      const session = await describeSession(place, cwd);
      if (session !== undefined) sessions.push(session);
    }
    return sessions;
  }

  /**
   * Returns the id of the project's conversation that a beginning of it means.
   *
   * @throws {UserError} when there is none, or more than one.
   */
  async find(beginning: string, cwd: string): Promise<string> {
    const places = await sessionPlaces(this.#options.stateDir, cwd);
    const wanted = beginning.toLowerCase();
    const found = places.filter(({ id }) => id.startsWith(wanted)).map(({ id }) => id);
    const [id] = found;
    if (id === undefined) {
      throw new UserError(
        `There is no conversation "${beginning}" of this directory; /sessions or -resume lists those there are`,
      );
    }
    if (found.length > 1) {
      throw new UserError(
        `"${beginning}" is the beginning of ${found.length} conversations: ${
          found.slice(0, 5).join(", ")
        }; write more of it`,
      );
    }
    return id;
  }

  /**
   * Writes a conversation that another process goes on with: see {@linkcode OpenOptions.asItIs}. What
   * was said in it so far was shown elsewhere and is not saved a second time.
   *
   * @throws {UserError} when it cannot be written; nothing is left of it then.
   */
  copy(options: CopyOptions): void {
    writeCopy({ ...this.#options, ...options, lineOf: this.#writer.line });
  }

  /**
   * Opens a conversation, of whatever project. What is wrong with its file is repaired; the file as it
   * was is kept where a line had to change.
   *
   * @throws {UserError} when there is none, when another process has it open, or when its file cannot
   * be used.
   */
  async open(id: string, options: OpenOptions): Promise<OpenedSession> {
    const place = await sessionPlace(this.#options.stateDir, id);
    if (place === undefined) throw new UnknownSessionError(id);
    const { dir, path } = place;
    const locked = tryLock(place);
    if ("holder" in locked) throw new UserError(openElsewhere(id, locked.holder));
    const { lock } = locked;
    try {
      const session = await readSession(path, {
        fallback: fallback(place, this.#options),
        ...options,
      });
      const { lost } = session.repair;
      if (options.asItIs === true && isDamaged(session.repair)) {
        throw new UserError(`Cannot use the conversation "${id}" in "${dir}": it is damaged`);
      }
      const usable = await this.#repair(place, session);
      return {
        id,
        title: session.title,
        messages: session.messages,
        events: session.events,
        next: session.next + session.repair.after.length,
        lock,
        file: usable.file,
        trouble: usable.trouble ?? locked.trouble,
        notice: lost === 0 ? undefined : lostText(lost, usable.kept),
      };
    } catch (error) {
      lock?.release();
      if (error instanceof UserError) throw error;
      throw new UserError(`Cannot read the conversation "${id}" in "${dir}": ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  /**
   * Removes a conversation. One that does not exist is removed already.
   *
   * @throws {UserError} when a process has it open.
   */
  async delete(id: string): Promise<void> {
    const place = await sessionPlace(this.#options.stateDir, id);
    if (place === undefined) return;
    const holder = holderOf(place.dir, id, { file: place.path });
    if (holder !== undefined) throw new UserError(openElsewhere(id, holder));
    await removeFiles(place);
  }

  /** Waits for the tidying up that goes on beside. */
  async settled(): Promise<void> {
    await this.#pruning;
  }

  async #repair(
    { path }: SessionPlace,
    session: Awaited<ReturnType<typeof readSession>>,
  ): Promise<{ file?: SessionFile; kept?: string | undefined; trouble?: unknown }> {
    try {
      const kept = await repairFile({ path, session, lineOf: this.#writer.line });
      return { file: SessionFile.open(path), kept };
    } catch (trouble) {
      return { trouble };
    }
  }

  async #prune(cwd: string): Promise<void> {
    const { keep, stateDir } = this.#options;
    if (keep === 0) return;
    for (const place of (await sessionPlaces(stateDir, cwd)).slice(keep)) {
      if (holderOf(place.dir, place.id, { file: place.path }) === undefined) {
        await removeFiles(place).catch(() => {});
      }
    }
  }
}

function tryLock(
  { dir, id, path }: SessionPlace,
): { lock: SessionLock | undefined; trouble?: unknown } | { holder: LockHolder } {
  const holder = holderOf(dir, id, { file: path });
  if (holder !== undefined) return { holder };
  try {
    return lockSession(dir, id, path);
  } catch (trouble) {
    // A directory that cannot be written to: the conversation can still be read.
    return { lock: undefined, trouble };
  }
}

function openElsewhere(id: string, { pid, host }: LockHolder): string {
  if (pid === ownIdentity().pid) return `The conversation "${id}" is open in this mm already`;
  const where = host === undefined ? `process ${pid}` : `process ${pid} on ${host}`;
  return `Cannot open the conversation "${id}": another mm has it open (${where}); leave it there first`;
}

function lostText(lost: number, kept: string | undefined): string {
  const lines = lost === 1 ? "One line" : `${lost} lines`;
  return `${lines} of this conversation's file could not be read` +
    (kept === undefined ? "" : `; the file as it was is "${kept}"`);
}

function fallback(place: SessionPlace, options: SessionStoreOptions): Header {
  return {
    type: "header",
    format: FORMAT,
    version: `${MAJOR_VERSION}.${MINOR_VERSION}`,
    id: place.id,
    cwd: "",
    created: new Date(place.updatedAt).toISOString(),
    mm: options.version,
  };
}

function isBehind(place: SessionPlace, after: NonNullable<ListOptions["after"]>): boolean {
  return place.updatedAt < after.updatedAt ||
    (place.updatedAt === after.updatedAt && place.id > after.id);
}

/** Removes a conversation's file and what lies beside it under its name. */
async function removeFiles({ dir, id }: SessionPlace): Promise<void> {
  // The conversation itself first: what is left of a removal that was cut off is no conversation.
  await rm(join(dir, sessionFileName(id)), { force: true });
  for (const name of await readdir(dir)) {
    if (name.startsWith(`${id}.`)) await rm(join(dir, name), { force: true });
  }
  await rmdir(dir).catch(() => {});
}
