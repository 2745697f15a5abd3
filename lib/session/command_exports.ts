/**
 * What the commands of a session get in their environment, and the private file with the transcript.
 *
 * @module
 */
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { OVERRIDE_VARIABLE, OWN_VARIABLES } from "../base/fenced_variables.ts";
import { transcriptOf } from "../agents/transcript.ts";
import type { Message } from "../model/types.ts";
import type { Scratch } from "../platform/scratch.ts";

/** Options of {@linkcode CommandExports}. */
export interface CommandExportsOptions {
  readonly sessionId: string;
  readonly scratch: Scratch;
  /** This process's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** The configuration file, absolute; absent for the built-in defaults. */
  readonly configFile: string | undefined;
  /** How deep this process is in a chain of asks. */
  readonly depth: number;
}

/** The exports of one session. */
export class CommandExports {
  readonly #options: CommandExportsOptions;
  #path: string | undefined;
  #written: string | undefined;

  /** Creates the exports; nothing is written yet. */
  constructor(options: CommandExportsOptions) {
    this.#options = options;
  }

  /**
   * Returns the environment of a command, after the transcript was brought up to date: this process's
   * environment without the overrides that were meant for it alone, and what a command needs to call
   * this mm again.
   */
  async environment(messages: readonly Message[]): Promise<Record<string, string>> {
    const { env, scratch, sessionId, configFile, depth } = this.#options;
    const { bin, directory } = await scratch.contents();
    this.#path = join(directory, `transcript-${sessionId}.txt`);
    const transcript = transcriptOf(messages);
    if (transcript !== this.#written) {
      await writeFile(this.#path, transcript, { mode: 0o600 });
      this.#written = transcript;
    }
    const inherited: Record<string, string> = {};
    for (const [name, value] of Object.entries(env)) {
      if (value === undefined || OVERRIDE_VARIABLE.test(name) || OWN_VARIABLES.has(name)) continue;
      inherited[name] = value;
    }
    return {
      ...inherited,
      MM_BIN: bin,
      ...(configFile === undefined ? {} : { MM_CONFIG: configFile }),
      MM_TRANSCRIPT: this.#path,
      MM_ASK_DEPTH: String(depth),
    };
  }

  /** Removes the transcript. */
  async close(): Promise<void> {
    if (this.#path !== undefined) await rm(this.#path, { force: true });
  }
}
