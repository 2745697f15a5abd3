/**
 * Writing a conversation for another process to go on with.
 *
 * @module
 */
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { messageOf, UserError } from "../base/errors.ts";
import type { Message } from "../model/types.ts";
import type { LineWriter } from "./entry_line.ts";
import { isSessionId, projectDir, sessionFileName } from "./places.ts";
import { type Entry, FORMAT, type Header, MAJOR_VERSION, MINOR_VERSION } from "./record.ts";
import { SessionFile } from "./session_file.ts";

/** A conversation to write. */
export interface CopyOptions {
  /** Its id, of the form that `crypto.randomUUID()` makes; there is no conversation of this id yet. */
  readonly id: string;
  /** The working directory, absolute. */
  readonly cwd: string;
  /** The history; a system message is left out. The calls of the last answer may have no results. */
  readonly messages: readonly Message[];
}

/** Options of {@linkcode writeCopy}. */
export interface WriteCopyOptions extends CopyOptions {
  /** The directory of the state, absolute. */
  readonly stateDir: string;
  /** The version of mm. */
  readonly version: string;
  /** Writes a record as a line, with its newline. */
  readonly lineOf: LineWriter["line"];
}

/**
 * Writes the file, which only this user can read.
 *
 * @throws {UserError} when that fails; nothing is left of it then.
 */
export function writeCopy(options: WriteCopyOptions): void {
  const { id, cwd, messages, stateDir, version, lineOf } = options;
  if (!isSessionId(id)) throw new Error(`Cannot name a conversation "${id}"`);
  const dir = projectDir(stateDir, cwd);
  const path = join(dir, sessionFileName(id));
  const at = new Date().toISOString();
  const header: Header = {
    type: "header",
    format: FORMAT,
    version: `${MAJOR_VERSION}.${MINOR_VERSION}`,
    id,
    cwd,
    created: at,
    mm: version,
  };
  const entries = messages.flatMap((message): Entry[] =>
    message.role === "system" ? [] : [{ type: "message", message }]
  );
  let file: SessionFile | undefined;
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 });
    file = SessionFile.create(path);
    file.append(
      lineOf(header) + entries.map((entry, n) => lineOf({ n: n + 1, at, ...entry })).join(""),
    );
  } catch (error) {
    // A file of this name that was there before is not this one's to remove.
    if (file !== undefined) rmSync(path, { force: true });
    throw new UserError(`Cannot write the conversation "${path}": ${messageOf(error)}`, {
      cause: error,
    });
  } finally {
    void file?.close(0);
  }
}
