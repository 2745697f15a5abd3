/**
 * What the tests of this folder share: a state directory, and conversations saved in it.
 *
 * @module
 */
import { mkdtemp, readdir, realpath, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Conversation } from "../engine/conversation.ts";
import type { SessionLog } from "./session_log.ts";
import { SessionStore, type SessionStoreOptions } from "./session_store.ts";

/** A state directory of a test. */
export interface StoreStage {
  readonly dir: string;
  /** A project's directory. */
  readonly cwd: string;
  readonly store: SessionStore;
  /** Begins a conversation; what `onNotice` is told is in `notices`. */
  begin(options?: { readonly store?: SessionStore; readonly cwd?: string }): SavedConversation;
  /** Another store on the same directory. */
  another(options: Partial<SessionStoreOptions>): SessionStore;
  /** The names of the project's files. */
  files(): Promise<string[]>;
  /** The path of a conversation's file. */
  file(id: string): Promise<string>;
}

/** A conversation with what saves it. */
export interface SavedConversation {
  readonly log: SessionLog;
  readonly conversation: Conversation;
  readonly notices: string[];
  /** A question and its answer. */
  turn(question: string, answer: string): void;
}

/** Runs `body` with a fresh state directory. */
export async function withStore(body: (stage: StoreStage) => Promise<void>): Promise<void> {
  const dir = await realpath(await mkdtemp(join(tmpdir(), "mm-store-")));
  const options = { stateDir: dir, keep: 0, secrets: [], version: "1.2.3" };
  const store = new SessionStore(options);
  const projects = join(dir, "projects");
  const files = async () => {
    const dirs = await readdir(projects).catch(() => []);
    const names = await Promise.all(
      dirs.map(async (name) =>
        (await readdir(join(projects, name))).map((file) => join(projects, name, file))
      ),
    );
    return names.flat().sort();
  };
  const stage: StoreStage = {
    dir,
    cwd: dir,
    store,
    another: (more) => new SessionStore({ ...options, ...more }),
    files: async () => (await files()).map((path) => path.slice(path.lastIndexOf("/") + 1)),
    file: async (id) => {
      const path = (await files()).find((one) => one.endsWith(`/${id}.jsonl`));
      if (path === undefined) throw new Error(`No file of ${id}`);
      return path;
    },
    begin: (more = {}) => {
      const notices: string[] = [];
      const log = (more.store ?? store).log({
        id: crypto.randomUUID(),
        cwd: more.cwd ?? dir,
        history: () => conversation.messages,
        onNotice: (severity, text) => notices.push(`${severity}: ${text}`),
      });
      const conversation = new Conversation("system", { journal: log });
      return {
        log,
        conversation,
        notices,
        turn(question, answer) {
          log.said(question);
          conversation.addUser(question);
          log.event({ type: "text", messageId: "m", text: answer });
          conversation.addAssistant({ role: "assistant", text: answer });
          log.rest();
        },
      };
    },
  };
  try {
    await body(stage);
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}
