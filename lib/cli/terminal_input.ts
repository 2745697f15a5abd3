/**
 * Lines typed at a terminal: editing, history, completion, pasted text in one piece.
 *
 * @module
 */
import type { Buffer } from "node:buffer";
import { createInterface, type Interface } from "node:readline";
import { PassThrough } from "node:stream";
import { StringDecoder } from "node:string_decoder";
import type { ReadStream, WriteStream } from "node:tty";
import { untilAborted } from "../base/until_aborted.ts";
import type { LineInput } from "./line_input.ts";
import { createPasteFolder, PASTE_OFF, PASTE_ON } from "./paste.ts";

/** Lines of history kept. */
const HISTORY = 500;

/** Milliseconds after which a lone escape is a key and not the beginning of a sequence. */
const ESCAPE_MS = 50;

/** Options of {@linkcode createTerminalInput}. */
export interface TerminalInputOptions {
  readonly stdin: ReadStream;
  readonly stdout: WriteStream;
  /** Returns the words that may stand where `line` ends, each as the whole line. */
  readonly complete: (line: string) => readonly string[];
  /** Told about Ctrl-C. */
  readonly onInterrupt: () => void;
}

/** The line editor, with what it lets others change. */
interface Editor extends Omit<Interface, "line" | "cursor"> {
  line: string;
  cursor: number;
  /** Rows that it goes up before it draws its line anew. */
  prevRows?: number;
  history?: string[];
}

/** Reads from a terminal in raw mode until it is closed. */
export function createTerminalInput(options: TerminalInputOptions): LineInput {
  const { stdin, stdout, complete, onInterrupt } = options;
  const folder = createPasteFolder();
  const decoder = new StringDecoder("utf8");
  // readline would take pasted line ends as Enter, so it reads what the folder leaves.
  const keys = Object.assign(new PassThrough(), {
    isTTY: true,
    setRawMode: (raw: boolean) => stdin.setRawMode(raw),
  });
  const onData = (chunk: Uint8Array) => {
    const text = folder.push(decoder.write(chunk as Buffer));
    if (text !== "") keys.write(text);
  };
  const onEnd = () => keys.end();
  stdin.on("data", onData);
  stdin.on("end", onEnd);
  stdin.on("error", onEnd);

  const typed: string[] = [];
  let take: ((line: string | null) => void) | undefined;
  let ended = false;
  let closed = false;
  const editor = createInterface({
    input: keys,
    output: stdout,
    terminal: true,
    prompt: "",
    historySize: HISTORY,
    removeHistoryDuplicates: true,
    escapeCodeTimeout: ESCAPE_MS,
    completer: (line: string): [string[], string] => [[...complete(line)], line],
  }) as Editor;
  stdin.setRawMode(true);
  stdout.write(PASTE_ON);

  editor.on("line", (line: string) => {
    editor.setPrompt("");
    const text = folder.unfold(line);
    // One call takes one line, however many come at once.
    const taker = take;
    take = undefined;
    if (taker === undefined) typed.push(text);
    else taker(text);
  });
  editor.on("SIGINT", () => {
    // What was typed so far is given up, as in a shell.
    editor.write(null, { ctrl: true, name: "e" });
    editor.write(null, { ctrl: true, name: "u" });
    onInterrupt();
  });
  editor.on("close", () => {
    ended = true;
    take?.(null);
  });

  /** Takes the prompt and what is typed behind it off the screen; it is still being typed. */
  const hide = () => {
    const { rows } = editor.getCursorPos();
    stdout.write(`${rows > 0 ? `\x1b[${rows}A` : ""}\r\x1b[J`);
    editor.prevRows = 0;
  };

  return {
    async next({ prompt, fresh, signal }) {
      signal.throwIfAborted();
      const early = fresh ? undefined : typed.shift();
      if (early !== undefined) {
        stdout.write(`${prompt}${early}\n`);
        return early;
      }
      if (ended) return null;
      const line = new Promise<string | null>((resolve) => take = resolve);
      // What was begun is no part of an answer, and goes on behind it.
      const { line: begun, cursor } = editor;
      if (fresh) Object.assign(editor, { line: "", cursor: 0 });
      editor.setPrompt(prompt);
      editor.prompt(true);
      try {
        const text = await untilAborted(line, signal);
        // Answers are not worth recalling.
        if (fresh && text !== null && editor.history?.[0] === text) editor.history.shift();
        return text;
      } catch (thrown) {
        if (!closed) hide();
        if (fresh) Object.assign(editor, { line: "", cursor: 0 });
        throw thrown;
      } finally {
        take = undefined;
        editor.setPrompt("");
        if (fresh && begun !== "") {
          const more = editor.line;
          const at = more === "" ? cursor : begun.length + editor.cursor;
          Object.assign(editor, { line: begun + more, cursor: at });
        }
      }
    },
    above(write) {
      const asking = take !== undefined && !closed;
      if (asking) hide();
      write();
      if (asking) editor.prompt(true);
    },
    close() {
      if (closed) return;
      closed = true;
      stdin.off("data", onData);
      stdin.off("end", onEnd);
      stdin.off("error", onEnd);
      editor.close();
      stdout.write(PASTE_OFF);
      stdin.setRawMode(false);
      stdin.pause();
    },
  };
}
