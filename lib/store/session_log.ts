/**
 * Saving one conversation as it happens. A file that cannot be written is told once and disturbs
 * nothing else.
 *
 * @module
 */
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { oneLine } from "../base/cut.ts";
import { messageOf } from "../base/errors.ts";
import type { Journal } from "../engine/conversation.ts";
import type { EngineEvent } from "../engine/events.ts";
import type { Message } from "../model/types.ts";
import type { LineWriter } from "./entry_line.ts";
import { EventRecorder } from "./event_recorder.ts";
import { projectDir, sessionFileName } from "./places.ts";
import {
  type Entry,
  FORMAT,
  type Header,
  MAJOR_VERSION,
  MINOR_VERSION,
  type SavedMessage,
} from "./record.ts";
import { SessionFile } from "./session_file.ts";
import { lockSession, type SessionLock } from "./session_lock.ts";
import type { OpenedSession } from "./opened_session.ts";

/** UTF-16 units of a title. */
const TITLE_LENGTH = 80;

/** Milliseconds in which the disk has to take the last lines when a conversation is closed. */
const LAST_SYNC_MS = 1000;

/** Options of {@linkcode SessionLog}. */
export interface SessionLogOptions {
  readonly id: string;
  /** The working directory, absolute. */
  readonly cwd: string;
  readonly stateDir: string;
  /** The version of mm. */
  readonly version: string;
  readonly writer: LineWriter;
  /** The model's history as it is now, the system message included. */
  readonly history: () => readonly Message[];
  /** Takes a sentence that the person should see; it is not saved. */
  readonly onNotice: (severity: "info" | "warning", text: string) => void;
  /** Told of the title once there is one, and when it becomes that of another conversation. */
  readonly onTitle?: (title: string) => void;
  /** Told that a file was created in a directory. */
  readonly onCreated: (dir: string) => void;
}

/** Saves one conversation. Nothing is created before its first prompt. */
export class SessionLog implements Journal {
  readonly #options: SessionLogOptions;
  readonly #recorder = new EventRecorder((event) => this.#write({ type: "event", event }));
  #id: string;
  #title: string | undefined;
  /** The path of its file, from the time on when there is one. */
  #path: string | undefined;
  #file: SessionFile | undefined;
  #lock: SessionLock | undefined;
  #next = 1;
  /** Something was not saved, so that what follows would not fit to what is. */
  #gap = false;
  #told = false;

  /** Creates the log; nothing is written. */
  constructor(options: SessionLogOptions) {
    this.#options = options;
    this.#id = options.id;
  }

  /** The conversation's id. */
  get id(): string {
    return this.#id;
  }

  /** The beginning of its first prompt. */
  get title(): string | undefined {
    return this.#title;
  }

  /**
   * Returns the path of a file that lies beside the conversation's and goes with it when it is removed:
   * `<id>.<name>`. Its directory exists.
   *
   * @param name letters and dots.
   * @returns `undefined` while the conversation has no file.
   */
  sidecarPath(name: string): string | undefined {
    return this.#path === undefined ? undefined : join(dirname(this.#path), `${this.#id}.${name}`);
  }

  /** A person said something: the conversation is worth a file from now on. */
  said(text: string): void {
    this.#recorder.flush();
    const entries: Entry[] = [];
    if (this.#title === undefined) {
      this.#title = oneLine(this.#options.writer.hide(text), TITLE_LENGTH);
      entries.push({ type: "title", title: this.#title });
      this.#options.onTitle?.(this.#title);
    }
    const messageId = crypto.randomUUID();
    entries.push({ type: "event", event: { type: "user", messageId, text } });
    if (this.#file === undefined) this.#create(entries);
    else if (this.#gap) this.#goOn(entries);
    else this.#write(...entries);
  }

  /** Takes an event that the person saw. */
  event(event: EngineEvent): void {
    if (this.#file !== undefined) this.#recorder.take(event);
  }

  added(message: Message): void {
    if (this.#file === undefined || message.role === "system") return;
    this.#recorder.flush();
    this.#write({ type: "message", message });
  }

  /** The history was put in place of another one: a compression. What was said stays saved. */
  replaced(): void {
    this.#recorder.flush();
    this.#write({ type: "history", messages: this.#history() });
  }

  /** A prompt ended: the disk shall have it soon. Waits for nothing. */
  rest(): void {
    this.#recorder.flush();
    void this.#file?.sync();
  }

  /** Ends this conversation; what is said next begins another one. */
  async renew(id: string): Promise<void> {
    await this.close();
    this.#id = id;
    this.#path = undefined;
    this.#title = undefined;
    this.#next = 1;
    this.#gap = false;
    this.#told = false;
  }

  /** Ends this conversation and goes on with a saved one. */
  async adopt(opened: OpenedSession): Promise<void> {
    await this.renew(opened.id);
    this.#title = opened.title;
    this.#next = opened.next;
    this.#file = opened.file;
    this.#path = opened.file?.path;
    this.#lock = opened.lock;
    if (opened.title !== undefined) this.#options.onTitle?.(opened.title);
    if (opened.trouble !== undefined) this.#failed(opened.trouble);
  }

  /** Saves what was held back, waits for the disk for a second at most, and gives the file back. */
  async close(): Promise<void> {
    this.#recorder.flush();
    const [file, lock] = [this.#file, this.#lock];
    this.#file = undefined;
    this.#lock = undefined;
    await file?.close(LAST_SYNC_MS);
    lock?.release();
  }

  #create(entries: readonly Entry[]): void {
    const { cwd, stateDir, version, onCreated } = this.#options;
    const dir = projectDir(stateDir, cwd);
    const path = join(dir, sessionFileName(this.#id));
    const header: Header = {
      type: "header",
      format: FORMAT,
      version: `${MAJOR_VERSION}.${MINOR_VERSION}`,
      id: this.#id,
      cwd,
      created: new Date().toISOString(),
      mm: version,
    };
    // What was said while there was no file.
    const before = this.#history();
    const missed: Entry[] = before.length === 0 ? [] : [{ type: "history", messages: before }];
    try {
      mkdirSync(dir, { recursive: true, mode: 0o700 });
      const locked = lockSession(dir, this.#id, path);
      if ("holder" in locked) throw new Error(`it is open in process ${locked.holder.pid}`);
      this.#lock = locked.lock;
      this.#file = SessionFile.create(path);
      this.#append([...missed, ...entries], this.#options.writer.line(header));
    } catch (error) {
      this.#failed(error);
      void this.#file?.close(0);
      this.#file = undefined;
      this.#lock?.release();
      this.#lock = undefined;
      // The next prompt tries again, and has to say the title then.
      this.#title = undefined;
      return;
    }
    this.#path = path;
    this.#recovered();
    onCreated(dir);
  }

  /** Saves again after something was not: the history as it is now stands for what is missing. */
  #goOn(entries: readonly Entry[]): void {
    const text = "A part of this conversation was not saved";
    try {
      this.#append([
        { type: "history", messages: this.#history() },
        { type: "event", event: { type: "notice", severity: "warning", text } },
        ...entries,
      ]);
      this.#gap = false;
      this.#recovered();
    } catch (error) {
      this.#failed(error);
    }
  }

  #write(...entries: readonly Entry[]): void {
    if (this.#file === undefined || this.#gap) return;
    try {
      this.#append(entries);
    } catch (error) {
      this.#gap = true;
      this.#failed(error);
    }
  }

  #append(entries: readonly Entry[], first = ""): void {
    const at = new Date().toISOString();
    let next = this.#next;
    const lines = entries.map((entry) => this.#options.writer.line({ n: next++, at, ...entry }));
    this.#file?.append(first + lines.join(""));
    this.#next = next;
  }

  #history(): SavedMessage[] {
    return this.#options.history().filter((message) => message.role !== "system");
  }

  #failed(error: unknown): void {
    if (this.#told) return;
    this.#told = true;
    this.#options.onNotice(
      "warning",
      `This conversation is not saved from here on: ${messageOf(error)}`,
    );
  }

  #recovered(): void {
    if (!this.#told) return;
    this.#told = false;
    this.#options.onNotice("info", "This conversation is saved again");
  }
}
