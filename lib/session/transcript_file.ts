/**
 * The transcript as a private file, for `mm --ask-with-context` in the session's commands.
 *
 * @module
 */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { transcriptOf } from "../agents/transcript.ts";
import type { Message } from "../model/types.ts";

/** One session's transcript file. */
export class TranscriptFile {
  /** Absolute. */
  readonly path: string;
  #written: string | undefined;

  /** Names the file; nothing is written. */
  constructor(options: { readonly directory: string; readonly sessionId: string }) {
    this.path = join(options.directory, `transcript-${options.sessionId}.txt`);
  }

  /** Brings the file up to date. */
  async write(messages: readonly Message[]): Promise<void> {
    const text = transcriptOf(messages);
    if (text === this.#written) return;
    await writeFile(this.path, text, { mode: 0o600 });
    this.#written = text;
  }

  /** Removes the file. */
  async remove(): Promise<void> {
    await rm(this.path, { force: true });
  }
}
