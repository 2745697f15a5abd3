/**
 * Reading a saved conversation, and finding out what is wrong with its file. The file is not changed
 * here; `repair_file.ts` does that.
 *
 * @module
 */
import { UserError } from "../base/errors.ts";
import { lineBlocks, type TextLine, textLines } from "./line_blocks.ts";
import { parseEntry, parseHeader } from "./parse_record.ts";
import {
  type Entry,
  type EntryLine,
  type Header,
  MAJOR_VERSION,
  type SavedEvent,
  type SavedMessage,
} from "./record.ts";
import { HistoryMender, INTERRUPTED, mendMessages } from "./repair_history.ts";

/** What has to be done to a file so that it holds what was read from it. */
export interface Repair {
  /** The first line is no header. */
  readonly headerLost: boolean;
  /** Numbers of lines, from 0, that have to go. */
  readonly drop: ReadonlySet<number>;
  /** What has to stand before a line. */
  readonly before: ReadonlyMap<number, readonly Entry[]>;
  /** Lines that hold bytes which are no UTF-8, with what was read of them. */
  readonly rewritten: ReadonlyMap<number, string>;
  /** The last line has no newline, but is whole. */
  readonly open: boolean;
  /** What has to be added at the end. */
  readonly after: readonly Entry[];
  /** Lines that could not be read, or only in part: what people should be told. */
  readonly lost: number;
}

/** A conversation as it was read. */
export interface ReadSession {
  readonly header: Header;
  readonly title: string | undefined;
  /** The model's history, as strict chat templates accept it; every turn is closed. */
  readonly messages: readonly SavedMessage[];
  /** What people saw, in order; empty unless it was asked for. */
  readonly events: readonly SavedEvent[];
  /** The number of the next line that is written. */
  readonly next: number;
  readonly repair: Repair;
}

/** Options of {@linkcode readSession}. */
export interface ReadSessionOptions {
  /** The header of a file whose first line cannot be read. */
  readonly fallback: Header;
  /** Whether what people saw is wanted. */
  readonly events: boolean;
  /** Whether nothing is added to the history that its lines do not hold. @default {false} */
  readonly asItIs?: boolean;
}

/** Whether a file does not hold what was written to it. */
export function isDamaged(repair: Repair): boolean {
  return repair.headerLost || repair.lost > 0 || repair.drop.size > 0 || repair.open;
}

/**
 * Reads a conversation.
 *
 * @throws {UserError} for a file of another major version, and for one without anything readable.
 * @throws {Error} of the file system.
 */
export async function readSession(
  path: string,
  options: ReadSessionOptions,
): Promise<ReadSession> {
  const reader = new Reader(path, options);
  for await (const block of lineBlocks(path)) {
    for (const line of textLines(block)) reader.take(line);
  }
  return reader.end();
}

class Reader {
  readonly #path: string;
  readonly #options: ReadSessionOptions;
  #header: Header | undefined;
  #title: string | undefined;
  #messages: SavedMessage[] = [];
  readonly #events: SavedEvent[] = [];
  #mender = new HistoryMender();
  #lines = 0;
  #lastNumber = 0;
  #entries = 0;
  /** What the model had said when it was cut off: text that no message repeats. */
  #partial = "";
  #lost = 0;
  #open = false;
  readonly #drop = new Set<number>();
  readonly #before = new Map<number, readonly Entry[]>();
  readonly #rewritten = new Map<number, string>();

  constructor(path: string, options: ReadSessionOptions) {
    this.#path = path;
    this.#options = options;
  }

  take(line: TextLine): void {
    const number = this.#lines++;
    if (line.text.length < 2 && line.text.trim() === "") return void this.#drop.add(number);
    const value = parseJson(line.text);
    const known = value !== undefined &&
      (number === 0 ? this.#takeHeader(value) : this.#takeEntry(value, number));
    if (!known) {
      this.#lost++;
      this.#drop.add(number);
    } else if (!line.utf8) {
      this.#lost++;
      this.#rewritten.set(number, JSON.stringify(value));
    } else if (!line.ended) {
      this.#open = true;
    }
  }

  end(): ReadSession {
    const { fallback, events, asItIs = false } = this.#options;
    if (this.#header === undefined && this.#entries === 0) {
      throw new UserError(
        `Cannot read the conversation "${this.#path}": nothing in it is readable`,
      );
    }
    const mark = this.#partial.trim() === "" ? INTERRUPTED : `${this.#partial}\n${INTERRUPTED}`;
    const closing = asItIs ? [] : this.#mender.close(mark);
    return {
      header: this.#header ?? fallback,
      title: this.#title,
      messages: [...this.#messages, ...closing],
      events: events ? this.#events : [],
      next: this.#lastNumber + 1,
      repair: {
        headerLost: this.#header === undefined,
        drop: this.#drop,
        before: this.#before,
        rewritten: this.#rewritten,
        open: this.#open,
        after: closing.map((message) => ({ type: "message", message })),
        lost: this.#lost,
      },
    };
  }

  #takeHeader(value: unknown): boolean {
    const header = parseHeader(value);
    // A file whose first line was lost may begin with anything.
    if (header === undefined) return this.#takeEntry(value, 0);
    const [major] = header.version.split(".");
    if (Number(major) !== MAJOR_VERSION) {
      throw new UserError(
        `Cannot read the conversation "${this.#path}": it has the format ${header.version}, ` +
          `and this mm knows ${MAJOR_VERSION}; use the version of mm that wrote it (${header.mm})`,
      );
    }
    this.#header = header;
    return true;
  }

  #takeEntry(value: unknown, number: number): boolean {
    const entry = parseEntry(value);
    if (entry === undefined) return false;
    if (entry === "unknown") {
      // A second header is a line that was written twice; other records are of a later version.
      if (parseHeader(value) !== undefined) this.#drop.add(number);
      return true;
    }
    this.#entries++;
    if (entry.n !== undefined) {
      if (entry.n <= this.#lastNumber) {
        this.#drop.add(number);
        return true;
      }
      this.#lastNumber = entry.n;
    }
    this.#takeKnown(entry, number);
    return true;
  }

  #takeKnown(entry: EntryLine, number: number): void {
    switch (entry.type) {
      case "title":
        this.#title = entry.title.toWellFormed();
        return;
      case "message":
        this.#partial = "";
        return this.#takeMessage(entry.message, number);
      case "history":
        this.#partial = "";
        // Its last turn may go on: a compression happens between two requests.
        this.#mender = new HistoryMender();
        this.#messages = this.#options.asItIs === true
          ? [...entry.messages]
          : mendMessages(this.#mender, entry.messages);
        return;
      case "event": {
        const { event } = entry;
        if (event.type === "text" && event.agent === undefined) this.#partial += event.text;
        if (this.#options.events) this.#events.push(event);
      }
    }
  }

  #takeMessage(message: SavedMessage, number: number): void {
    if (this.#options.asItIs === true) return void this.#messages.push(message);
    const { before, drop } = this.#mender.take(message);
    if (before.length > 0) {
      this.#before.set(number, before.map((one) => ({ type: "message", message: one })));
      this.#messages.push(...before);
    }
    if (drop) this.#drop.add(number);
    else this.#messages.push(message);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
