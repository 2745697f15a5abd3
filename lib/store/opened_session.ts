/**
 * A saved conversation that a process goes on with.
 *
 * @module
 */
import type { SavedEvent, SavedMessage } from "./record.ts";
import type { SessionFile } from "./session_file.ts";
import type { SessionLock } from "./session_lock.ts";

/** A saved conversation that was opened again; it is this process's until it is closed. */
export interface OpenedSession {
  readonly id: string;
  readonly title: string | undefined;
  /** The model's history, every turn of it closed. */
  readonly messages: readonly SavedMessage[];
  /** What people saw; empty unless it was asked for. */
  readonly events: readonly SavedEvent[];
  /** The number of the next line. */
  readonly next: number;
  /** Absent where it cannot be written to; `trouble` then says why. */
  readonly file: SessionFile | undefined;
  readonly lock: SessionLock | undefined;
  readonly trouble: unknown;
  /** What the person should know of the repair, where one was needed. */
  readonly notice: string | undefined;
}
