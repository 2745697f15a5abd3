/**
 * `deno task man [--check]`: writes the manual page `packaging/mm.1` from the table of flags that
 * `-help` is made from; with `--check`, says whether the file is current.
 *
 * @module
 */
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { EXIT } from "../lib/base/ends.ts";
import { VERSION } from "../lib/base/version.ts";
import { type Flag, FLAGS } from "../lib/cli/flags.ts";
import { usageOf } from "../lib/cli/help.ts";
import { ROOT } from "./checks/repository.ts";

/** Where the page is kept. */
export const MAN_PAGE: string = join(ROOT, "packaging", "mm.1");

/** Exit statuses of `-p` and `--ask`, in the order of the page. */
const EXITS: readonly (readonly [number, string])[] = [
  [EXIT.answered, "An answer was obtained."],
  [EXIT.failed, "It failed."],
  [EXIT.usage, "The command line or the configuration is wrong."],
  [EXIT.refused, "It was refused by a permission, a hook or the depth of the chain of asks."],
  [EXIT.incomplete, "The answer is incomplete; what there is was printed."],
  [EXIT.timedOut, "There was no sign of life for too long."],
  [EXIT.cancelled, "It was cancelled."],
];

/** Variables that people set. */
const VARIABLES: readonly (readonly [string, string])[] = [
  [
    "AGENT_*",
    "Override the key of that name in the configuration, for example AGENT_MODEL; they never reach " +
    "an asked agent.",
  ],
  ["MM_CONFIG_DIR, MM_STATE_DIR", "Where the user's configuration and mm's state live."],
  ["MM_LISTEN_TOKEN", "What a client of -acp -listen has to know."],
  ["MM_LOG", "With debug, mm shows where an unexpected error comes from."],
  ["NO_COLOR, FORCE_COLOR", "Without colours, and with colours also where there is no terminal."],
];

/** Returns the page in the man macros of roff, with its final newline. */
export function manPage(): string {
  return `${
    [
      '.\\" Made by the task man from the table of flags; do not edit.',
      `.TH MM 1 "" "mm ${VERSION}" "User Commands"`,
      ".SH NAME",
      "mm \\- a coding agent that can ask other agents",
      ".SH SYNOPSIS",
      ".B mm",
      "[\\fIflags\\fR]",
      ".SH DESCRIPTION",
      text("mm works in a project with a model server of your choice: it reads, changes and runs."),
      text(
        "Agents named in its configuration are other processes that it can ask, each with its own",
      ),
      text("model, tools and permissions; what they want to do, you permit."),
      ".PP",
      text("Every flag works with one dash or two; -- ends the flags."),
      ".SS What to do",
      text("At most one of these."),
      ...FLAGS.filter((flag) => flag.mode).flatMap(entry),
      ".SH OPTIONS",
      ...FLAGS.filter((flag) => !flag.mode).flatMap(entry),
      ".SH EXIT STATUS",
      text("Of -p, --ask and --ask-with-context:"),
      ...EXITS.flatMap(([status, words]) => [".TP", `.B ${status}`, text(words)]),
      ".SH ENVIRONMENT",
      ...VARIABLES.flatMap(([name, words]) => [".TP", `.B ${text(name)}`, text(words)]),
      ".SH FILES",
      ...[
        ["./agent.yaml, ./.mm/agent.yaml", "The configuration of a project."],
        [
          "agent.yaml",
          "In the directory for mm of the user's configuration: where a project has none.",
        ],
      ].flatMap(([name = "", words = ""]) => [".TP", `.I ${text(name)}`, text(words)]),
      ".SH EXAMPLES",
      ".TP",
      `.B ${text("mm -demo")}`,
      text("Shows agents that ask each other, without a model."),
      ".TP",
      `.B ${text('mm --ask bob "Which of these tests are slow?"')}`,
      text("Prints the answer of bob, an agent of mmConfigs, and nothing else."),
    ].join("\n")
  }\n`;
}

function entry(flag: Flag): string[] {
  return [".TP", `.B ${text(usageOf(flag)).replaceAll('"', "\\(dq")}`, text(`${flag.text}.`)];
}

/** Escapes what roff would take for its own: backslashes, dashes, a leading dot or quote. */
function text(words: string): string {
  const escaped = words.replaceAll("\\", "\\e").replaceAll("-", "\\-");
  return /^[.']/u.test(escaped) ? `\\&${escaped}` : escaped;
}

if (import.meta.main) {
  const current = await readFile(MAN_PAGE, "utf8").catch(() => "");
  if (!process.argv.includes("--check")) {
    await writeFile(MAN_PAGE, manPage());
    process.stdout.write(`${MAN_PAGE}\n`);
  } else if (current !== manPage()) {
    process.stderr.write('"packaging/mm.1" is not current; run the task man\n');
    process.exitCode = 1;
  }
}
