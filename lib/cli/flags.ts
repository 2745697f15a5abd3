/**
 * The one table of mm's flags. The parser, `-help`, the completions and a test of the reference
 * documentation all read it.
 *
 * @module
 */

/** What a shell offers after a flag. */
export type FlagCompletion = "files" | "directories" | readonly string[];

/** One flag of the command line. */
export interface Flag {
  /** Without dashes. */
  readonly name: string;
  /** What stands after it, as the help shows it: `<file>`. Absent for a flag without a value. */
  readonly argument?: string;
  /** Whether the value may be left out. */
  readonly optional?: boolean;
  /** Further words that may follow, for the help only: `[question]`. */
  readonly rest?: string;
  /** What the flag does, in one line. */
  readonly text: string;
  /** Whether it says what mm does; at most one such flag is given. */
  readonly mode: boolean;
  /** What a shell offers for its value. */
  readonly completes?: FlagCompletion;
  /** Written with two dashes in the help, as people know it from scripts. */
  readonly twoDashes?: boolean;
}

/** Shells that `-completions` writes for. */
export const SHELLS = ["bash", "zsh", "fish"] as const;

/** A shell that `-completions` writes for. */
export type Shell = (typeof SHELLS)[number];

/** All flags, in the order of the help. */
export const FLAGS: readonly Flag[] = [
  { name: "line", text: "Talk to the agent line by line in this terminal", mode: true },
  {
    name: "p",
    argument: "<prompt>",
    text: "Run one turn: the answer on stdout, all else on stderr; - reads the prompt from stdin",
    mode: true,
  },
  {
    name: "ask",
    argument: "<agent>",
    rest: "[question]",
    text: "Ask an agent of mmConfigs; without a question, stdin is the question",
    mode: true,
    twoDashes: true,
  },
  {
    name: "ask-with-context",
    argument: "<agent>",
    rest: "[question]",
    text: "The same, with the transcript of the conversation that calls it",
    mode: true,
    twoDashes: true,
  },
  { name: "acp", text: "Serve an editor over ACP on stdin and stdout", mode: true },
  {
    name: "check",
    text:
      "Try the configuration, the model server, every agent and MCP server, and print what works",
    mode: true,
  },
  {
    name: "init",
    text: "Write agent.yaml for the model server found; an existing file is kept",
    mode: true,
  },
  { name: "demo", text: "Show agents asking each other, without a model or a network", mode: true },
  { name: "version", text: "Print the version", mode: true },
  { name: "help", text: "Print this help", mode: true },
  {
    name: "completions",
    argument: "<shell>",
    text: "Print the completions for bash, zsh or fish",
    mode: true,
    completes: SHELLS,
  },
  {
    name: "config",
    argument: "<file>",
    text: "Use this configuration instead of the first one found",
    mode: false,
    completes: "files",
  },
  {
    name: "defaults",
    text: "Use no configuration file, only the built-in defaults",
    mode: false,
  },
  {
    name: "agent",
    argument: "<name>",
    text: "With -acp: serve the subagent of this name, on top of the configuration",
    mode: false,
  },
  {
    name: "cwd",
    argument: "<dir>",
    text: "Work in this directory instead of the current one",
    mode: false,
    completes: "directories",
  },
  {
    name: "model",
    argument: "<model>",
    text: "Use this model instead of the configured one",
    mode: false,
  },
  {
    name: "resume",
    argument: "[id]",
    optional: true,
    text: "With -line or -p: go on with a saved conversation; without an id, list them",
    mode: false,
  },
  {
    name: "continue",
    text: "With -line or -p: go on with the conversation that was used last here",
    mode: false,
  },
  {
    name: "listen",
    argument: "<address>",
    text: "With -acp: serve clients over WebSocket at host:port instead (experimental)",
    mode: false,
  },
  { name: "yolo", text: "Run every call that no rule denies or asks about", mode: false },
  { name: "json", text: "With --ask: print one JSON object instead of text", mode: false },
  { name: "verbose", text: "Show the output of commands while they run", mode: false },
];

/** Returns a flag as the help and the messages write it: `-line`, `--ask`. */
export function dashed(flag: Pick<Flag, "name" | "twoDashes">): string {
  return (flag.twoDashes === true ? "--" : "-") + flag.name;
}
