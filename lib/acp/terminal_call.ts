/**
 * A running command as a terminal of the editor. mm runs the command itself; the editor draws it. This
 * is no part of the protocol but a convention in `_meta` that Zed and the adapters for other agents
 * share: `terminal_info` with the call, `terminal_output` and `terminal_exit` with its updates. It is
 * used for a client that says so; everyone else gets text.
 *
 * @module
 */
import type { ToolCallContent } from "@agentclientprotocol/sdk";
import { tailOf } from "../base/cut.ts";
import type { ProcessEnd } from "../platform/process.ts";
import { OUTPUT_TAIL } from "./call_output.ts";

/** Key of the client's `_meta` and of the pieces of output. */
export const TERMINAL_OUTPUT = "terminal_output";

/** Keys for a `_meta` object. */
export type TerminalMeta = Readonly<Record<string, unknown>>;

/** One command's terminal. Its id is that of the call. */
export class TerminalCall {
  readonly #id: string;
  readonly #cwd: string;
  /** Output that was not sent yet, its end where there is much of it. */
  #waiting = "";
  #leftOut = 0;
  /** The end of what was sent; empty when nothing was. */
  #last = "";

  /** Opens a terminal for a call that runs in `cwd`. */
  constructor(callId: string, cwd: string) {
    this.#id = callId;
    this.#cwd = cwd;
  }

  /** The terminal as content of the call. */
  content(): ToolCallContent[] {
    return [{ type: "terminal", terminalId: this.#id }];
  }

  /** What announces the terminal, with the call. */
  info(): TerminalMeta {
    return { terminal_info: { terminal_id: this.#id, cwd: this.#cwd } };
  }

  /** Appends a piece of output. */
  append(piece: string): void {
    this.#waiting += piece;
    // Cut seldom, so that many small pieces cost little.
    if (this.#waiting.length > OUTPUT_TAIL * 2) this.#cut();
  }

  /** Takes the output that was not sent yet; `undefined` when there is none. */
  output(): TerminalMeta | undefined {
    this.#cut();
    if (this.#waiting === "") return undefined;
    const note = this.#leftOut === 0
      ? ""
      : `\n[... ${this.#leftOut} characters before this left out ...]\n`;
    const data = note + this.#waiting;
    this.#waiting = "";
    this.#leftOut = 0;
    this.#last = data.slice(-1);
    return { [TERMINAL_OUTPUT]: { terminal_id: this.#id, data } };
  }

  /**
   * What ends the terminal: all output that is left, and how the command ended. Of its result `text` a
   * person needs what the output does not show; all of it where no output came, as for a call of a
   * saved conversation.
   */
  exit(text: string, end: ProcessEnd | undefined): TerminalMeta {
    const last = this.#waiting.slice(-1) || this.#last;
    const words = last === "" ? text : newsOf(text);
    if (words !== "") this.append(last === "" || last === "\n" ? words : `\n${words}`);
    return {
      ...this.output(),
      terminal_exit: {
        terminal_id: this.#id,
        exit_code: end?.code ?? null,
        signal: end?.signal ?? null,
      },
    };
  }

  #cut(): void {
    const kept = tailOf(this.#waiting, OUTPUT_TAIL);
    this.#leftOut += this.#waiting.length - kept.length;
    this.#waiting = kept;
  }
}

/** What a result says besides the output and the exit status, which the terminal shows by itself. */
function newsOf(text: string): string {
  const facts = /(?:^|\n)(\[[^\n]*\])$/u.exec(text)?.[1];
  if (facts === undefined) return text;
  return /^\[exit status \d+\]$/u.test(facts) ? "" : facts;
}
