/**
 * What the terminal can do.
 *
 * @module
 */
import process from "node:process";

/** Facts about the standard streams. */
export interface TerminalInfo {
  readonly stdinIsTerminal: boolean;
  readonly stdoutIsTerminal: boolean;
  readonly stderrIsTerminal: boolean;
  /** Width in columns; 80 where nobody knows. */
  readonly columns: number;
  /** Whether colours may be written there. */
  readonly stdoutColor: boolean;
  readonly stderrColor: boolean;
}

const DEFAULT_COLUMNS = 80;

/** Reads the facts now; the width changes when the window does. */
export function terminalInfo(
  options: { readonly env: Readonly<Record<string, string | undefined>> },
): TerminalInfo {
  const { env } = options;
  const { stdin, stdout, stderr } = process;
  const wanted = Number(env["COLUMNS"]);
  return {
    stdinIsTerminal: stdin.isTTY === true,
    stdoutIsTerminal: stdout.isTTY === true,
    stderrIsTerminal: stderr.isTTY === true,
    columns: firstWidth(stdout.columns, stderr.columns, wanted),
    stdoutColor: colorAllowed(env, stdout.isTTY === true),
    stderrColor: colorAllowed(env, stderr.isTTY === true),
  };
}

/**
 * Returns whether colours may be written. `FORCE_COLOR` decides over everything, as in Node;
 * a `NO_COLOR` that is not empty forbids them (no-color.org), and so does a dumb terminal.
 */
export function colorAllowed(
  env: Readonly<Record<string, string | undefined>>,
  isTerminal: boolean,
): boolean {
  const force = env["FORCE_COLOR"];
  if (force !== undefined) return force !== "0" && force !== "false";
  const no = env["NO_COLOR"];
  if (no !== undefined && no !== "") return false;
  return isTerminal && env["TERM"] !== "dumb";
}

function firstWidth(...widths: (number | undefined)[]): number {
  return widths.find((n) => n !== undefined && Number.isInteger(n) && n > 0) ?? DEFAULT_COLUMNS;
}
