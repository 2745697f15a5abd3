/**
 * From the words of the command line to what mm is to do.
 *
 * @module
 */
import { parseArgs } from "node:util";
import { UsageError } from "../base/errors.ts";
import { didYouMean } from "../base/nearest.ts";
import { dashed, type Flag, FLAGS, type Shell, SHELLS } from "./flags.ts";

/** What mm is to do. */
export type Mode =
  | { readonly kind: "window" }
  | { readonly kind: "line" }
  | { readonly kind: "prompt"; readonly prompt: string | { readonly stdin: true } }
  | {
    readonly kind: "ask";
    readonly agent: string;
    /** Absent: stdin is the question. */
    readonly question?: string;
    readonly withContext: boolean;
  }
  | { readonly kind: "acp" }
  | { readonly kind: "check" }
  | { readonly kind: "init" }
  | { readonly kind: "demo" }
  | { readonly kind: "version" }
  | { readonly kind: "help" }
  | { readonly kind: "completions"; readonly shell: Shell };

/** The saved conversation that is gone on with. */
export type SavedChoice =
  | { readonly kind: "list" }
  | { readonly kind: "last" }
  /** The beginning of an id, or all of it. */
  | { readonly kind: "named"; readonly beginning: string };

/** Flags that go with several modes. */
export interface ModeOptions {
  /** As it was typed; relative to the directory mm was started in. */
  readonly config?: string;
  /** Whether no configuration file is used. */
  readonly defaults: boolean;
  /** The name of the subagent that `-acp` serves. */
  readonly agent?: string;
  /** As it was typed; relative to the directory mm was started in. */
  readonly cwd?: string;
  readonly model?: string;
  /** As it was typed: where `-acp` listens. */
  readonly listen?: string;
  /** Of `-resume` and `-continue`. */
  readonly saved?: SavedChoice;
  readonly yolo: boolean;
  readonly json: boolean;
  readonly verbose: boolean;
}

/** A whole command line. */
export interface CommandLine {
  readonly mode: Mode;
  readonly options: ModeOptions;
}

/** Flags that mean nothing with a mode. */
const MEANINGLESS: Partial<Record<Mode["kind"], readonly string[]>> = {
  version: ["config", "defaults", "cwd", "model", "yolo", "verbose", "resume", "continue"],
  completions: ["config", "defaults", "cwd", "model", "yolo", "verbose", "resume", "continue"],
  init: ["config", "defaults", "model", "yolo", "resume", "continue"],
  demo: ["config", "defaults", "cwd", "model", "yolo", "resume", "continue"],
  check: ["resume", "continue"],
  // The asked agent's own configuration names its model.
  ask: ["model", "resume", "continue"],
  // An editor says itself which conversation it wants.
  acp: ["resume", "continue"],
};

/**
 * Reads a command line.
 *
 * @param args the words after the program's name.
 * @throws {UsageError} for an unknown flag, a missing or surplus word, or flags that exclude each
 * other.
 */
export function parseCommandLine(args: readonly string[]): CommandLine {
  const { flags, positionals } = readFlags(args);
  const options: ModeOptions = {
    ...(flags.has("config") ? { config: needValue(flags, "config") } : {}),
    defaults: flags.has("defaults"),
    ...(flags.has("agent") ? { agent: needValue(flags, "agent") } : {}),
    ...(flags.has("cwd") ? { cwd: needValue(flags, "cwd") } : {}),
    ...(flags.has("model") ? { model: needValue(flags, "model") } : {}),
    ...(flags.has("listen") ? { listen: needValue(flags, "listen") } : {}),
    ...savedOf(flags),
    yolo: flags.has("yolo"),
    json: flags.has("json"),
    verbose: flags.has("verbose"),
  };
  // Whoever asks for help gets it, whatever else was typed.
  if (flags.has("help")) return { mode: { kind: "help" }, options };

  const modes = FLAGS.filter((flag) => flag.mode && flags.has(flag.name));
  if (modes.length > 1) {
    throw new UsageError(
      `Cannot use ${modes.map(dashed).join(" and ")} together: each says what mm is to do`,
    );
  }
  const mode = modeOf(modes[0], flags, positionals);
  const surplus = FLAGS.find((flag) =>
    flags.has(flag.name) && MEANINGLESS[mode.kind]?.includes(flag.name)
  );
  if (surplus !== undefined) {
    const name = mode.kind === "ask" ? "--ask" : `-${mode.kind}`;
    const why = mode.kind === "ask" && surplus.name === "model"
      ? ": an asked agent has the model of its own configuration"
      : "";
    throw new UsageError(`${dashed(surplus)} has no meaning with ${name}${why}`);
  }
  if (mode.kind === "prompt" && options.saved?.kind === "list") {
    throw new UsageError("-resume needs an id with -p; -continue goes on with the last one");
  }
  if (options.listen !== undefined && mode.kind !== "acp") {
    throw new UsageError("-listen goes with -acp only");
  }
  if (options.agent !== undefined && mode.kind !== "acp") {
    throw new UsageError("-agent goes with -acp only");
  }
  if (options.agent !== undefined && options.listen !== undefined) {
    throw new UsageError("Cannot use -agent and -listen together");
  }
  if (options.defaults && options.config !== undefined) {
    throw new UsageError("Cannot use -config and -defaults together");
  }
  if (options.json && mode.kind !== "ask") {
    throw new UsageError("-json goes with --ask and --ask-with-context only");
  }
  return { mode, options };
}

type FlagValues = ReadonlyMap<string, string | true>;

function modeOf(flag: Flag | undefined, flags: FlagValues, positionals: string[]): Mode {
  const name = flag?.name;
  if (name === "ask" || name === "ask-with-context") {
    if (positionals.length > 1) {
      throw new UsageError(
        `Unexpected argument "${positionals[1]}" after the question; put the question in quotes`,
      );
    }
    const [question] = positionals;
    if (question !== undefined && question.trim() === "") {
      throw new UsageError(`The question for --${name} is empty`);
    }
    return {
      kind: "ask",
      agent: needValue(flags, name),
      ...(question === undefined || question === "-" ? {} : { question }),
      withContext: name === "ask-with-context",
    };
  }
  const [stray] = positionals;
  if (stray !== undefined) throw new UsageError(strayMessage(stray, name));
  switch (name) {
    case undefined:
      return { kind: "window" };
    case "p": {
      const prompt = needValue(flags, "p");
      return { kind: "prompt", prompt: prompt === "-" ? { stdin: true } : prompt };
    }
    case "completions": {
      const wanted = needValue(flags, "completions");
      const shell = SHELLS.find((known) => known === wanted);
      if (shell === undefined) {
        throw new UsageError(
          `Unknown shell "${wanted}" for -completions; the shells are ${SHELLS.join(", ")}`,
        );
      }
      return { kind: "completions", shell };
    }
    case "line":
    case "acp":
    case "check":
    case "init":
    case "demo":
    case "version":
      return { kind: name };
    default:
      throw new Error(`No mode for the flag "${name}"`);
  }
}

function savedOf(flags: FlagValues): { readonly saved?: SavedChoice } {
  const beginning = flags.get("resume");
  if (flags.has("continue")) {
    if (beginning !== undefined) throw new UsageError("Cannot use -resume and -continue together");
    return { saved: { kind: "last" } };
  }
  if (typeof beginning !== "string") return {};
  return { saved: beginning === "" ? { kind: "list" } : { kind: "named", beginning } };
}

function strayMessage(stray: string, mode: string | undefined): string {
  if (mode === "p") {
    return `Unexpected argument "${stray}" after -p; put the whole prompt in quotes`;
  }
  // As other programs have it: mm help, mm version.
  const meant = mode === undefined ? FLAGS.find((flag) => flag.name === stray) : undefined;
  if (meant !== undefined) {
    return `Unexpected argument "${stray}"; did you mean "${dashed(meant)}"?`;
  }
  const after = mode === undefined ? "" : ` for -${mode}`;
  return `Unexpected argument "${stray}"${after}; a prompt is given with -p, ` +
    "a question with --ask <agent>";
}

function needValue(flags: FlagValues, name: string): string {
  const value = flags.get(name);
  if (typeof value !== "string" || value.trim() === "") {
    const flag = FLAGS.find((known) => known.name === name);
    throw new UsageError(
      name === "p"
        ? "The prompt for -p is empty"
        : `The ${flag?.argument ?? "value"} of ${
          flag === undefined ? name : dashed(flag)
        } is empty`,
    );
  }
  return value;
}

/**
 * `parseArgs` knows neither single-dash long flags nor values that begin with a dash, so each flag
 * is rewritten to `--name` or `--name=value` first.
 */
function readFlags(args: readonly string[]): { flags: FlagValues; positionals: string[] } {
  const normal: string[] = [];
  const seen = new Set<string>();
  for (let i = 0; i < args.length; i++) {
    const arg = args[i] ?? "";
    if (arg === "--") {
      normal.push(...args.slice(i));
      break;
    }
    const typed = asFlag(arg);
    if (typed === undefined) {
      normal.push(arg);
      continue;
    }
    const { flag } = typed;
    if (seen.has(flag.name)) throw new UsageError(`${dashed(flag)} is given twice`);
    seen.add(flag.name);
    if (flag.argument === undefined) {
      if (typed.value !== undefined) {
        throw new UsageError(`${dashed(flag)} takes no value, but "${typed.value}" is given`);
      }
      normal.push(`--${flag.name}`);
      continue;
    }
    if (flag.optional === true) {
      const next = args[i + 1];
      const follows = typed.value === undefined && next !== undefined && !next.startsWith("-");
      normal.push(`--${flag.name}=${typed.value ?? (follows ? args[++i] : "")}`);
      continue;
    }
    const value = typed.value ?? args[++i];
    const isFlag = typed.value === undefined && value !== undefined && isKnownFlag(value);
    if (value === undefined || value === "--" || isFlag) {
      if (args.some(isHelp)) return { flags: new Map([["help", true]]), positionals: [] };
      throw new UsageError(`${dashed(flag)} needs a value: ${dashed(flag)} ${flag.argument}`);
    }
    normal.push(`--${flag.name}=${value}`);
  }
  const { values, positionals } = parseArgs({
    args: normal,
    allowPositionals: true,
    options: Object.fromEntries(
      FLAGS.map((flag) => [flag.name, {
        type: flag.argument === undefined ? "boolean" as const : "string" as const,
      }]),
    ),
  });
  const flags = new Map<string, string | true>();
  for (const [name, value] of Object.entries(values)) {
    if (typeof value === "string" || value === true) flags.set(name, value);
  }
  return { flags, positionals };
}

/**
 * Returns the flag that a word is, or `undefined` for a word that is none.
 *
 * @throws {UsageError} for a flag that mm does not know.
 */
function asFlag(arg: string): { flag: Flag; value?: string } | undefined {
  if (!arg.startsWith("-") || arg === "-") return undefined;
  const match = /^--?([^=]*)(?:=(.*))?$/su.exec(arg);
  const name = match?.[1] ?? "";
  const flag = FLAGS.find((known) => known.name === (name === "h" ? "help" : name));
  if (flag !== undefined) {
    return match?.[2] === undefined ? { flag } : { flag, value: match[2] };
  }
  if (/^v$/iu.test(name)) {
    throw new UsageError(`Unknown flag "${arg}"; mm has -version and -verbose`);
  }
  const hint = didYouMean(name, FLAGS.map((known) => known.name)).replace(
    /"(.+)"/u,
    (_, found: string) => `"${dashed(FLAGS.find((known) => known.name === found) ?? { name })}"`,
  );
  const rest = hint === "" ? "; mm -help lists the flags, and -- ends them" : hint;
  throw new UsageError(`Unknown flag "${arg}"${rest}`);
}

function isKnownFlag(arg: string): boolean {
  const match = /^--?([^=]+)/u.exec(arg);
  return match !== null && (isHelp(arg) || FLAGS.some((flag) => flag.name === match[1]));
}

function isHelp(arg: string): boolean {
  return arg === "-h" || arg === "-help" || arg === "--help";
}
