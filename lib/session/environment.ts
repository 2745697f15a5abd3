/**
 * The environment of a session's commands.
 *
 * @module
 */

/** Options of {@linkcode commandEnvironment}. */
export interface CommandEnvironmentOptions {
  /** This process's environment. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** A path that starts this mm. */
  readonly bin: string;
  /** The configuration file, absolute; absent for the built-in defaults. */
  readonly configFile: string | undefined;
  readonly transcriptFile: string;
  /** How deep this process is in a chain of asks. */
  readonly depth: number;
}

/**
 * Returns the environment: this process's, without the overrides that were meant for it alone, and
 * with what a command needs to call this mm again.
 */
export function commandEnvironment(options: CommandEnvironmentOptions): Record<string, string> {
  const { env, bin, configFile, transcriptFile, depth } = options;
  const commands: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value !== undefined && !name.startsWith("AGENT_") && name !== "MM_CONFIG") {
      commands[name] = value;
    }
  }
  return {
    ...commands,
    MM_BIN: bin,
    ...(configFile === undefined ? {} : { MM_CONFIG: configFile }),
    MM_TRANSCRIPT: transcriptFile,
    MM_ASK_DEPTH: String(depth),
  };
}
