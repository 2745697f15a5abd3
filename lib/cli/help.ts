/**
 * The text of `mm -help`.
 *
 * @module
 */
import { EXIT } from "../base/ends.ts";
import { dashed, type Flag, FLAGS } from "./flags.ts";

const HEAD = `mm: a coding agent that works in your project and can ask other agents

Usage:
  mm -line                       talk to it in this terminal
  mm -p "<prompt>"               one turn
  mm --ask <agent> "<question>"  ask one of the agents of mmConfigs
  mm -demo                       see it work without a model
`;

/** Widest left column; a flag with a longer name has its text on the next line. */
const MAX_COLUMN = 34;

/** Returns the whole help, with its final newline. */
export function helpText(): string {
  const exits = [
    `${EXIT.answered} an answer was obtained`,
    `${EXIT.failed} it failed`,
    `${EXIT.usage} usage or configuration`,
    `${EXIT.refused} refused`,
    `${EXIT.incomplete} incomplete`,
    `${EXIT.timedOut} timed out`,
    `${EXIT.cancelled} cancelled`,
  ];
  return [
    HEAD,
    "What to do:",
    ...FLAGS.filter((flag) => flag.mode).map(line),
    "",
    "Options:",
    ...FLAGS.filter((flag) => !flag.mode).map(line),
    "",
    "Every flag works with one dash or two; -- ends the flags.",
    "",
    "Exit status of -p and --ask:",
    ...exits.map((exit) => `  ${exit}`),
    "",
    "Configuration: -config, else ./agent.yaml, ./.mm/agent.yaml, agent.yaml in the user's",
    "configuration directory for mm, else the first model server that runs on this machine.",
    "",
  ].join("\n");
}

/** Returns a flag with what follows it: `--ask <agent> [question]`. */
export function usageOf(flag: Flag): string {
  return [dashed(flag), flag.argument, flag.rest].filter((part) => part !== undefined).join(" ");
}

function line(flag: Flag): string {
  const usage = `  ${usageOf(flag)}`;
  return usage.length < MAX_COLUMN
    ? usage.padEnd(MAX_COLUMN) + flag.text
    : `${usage}\n${" ".repeat(MAX_COLUMN)}${flag.text}`;
}
