/**
 * Random conversations: prompts, asks typed and by the model, failures, cancels at any moment,
 * compressions, resumed and fresh conversations, prompts that queue, hooks that change asks, a changing
 * AGENTS.md, subagents in the foreground and in the background, told, stopped and continued, whose ends
 * come as notifications. The model server refuses with 400 whatever a strict chat template would, and every request
 * has to begin with the one before it, byte for byte, but after a compression and after a conversation
 * was taken up again under other instructions.
 *
 * `MM_TEST_SEED=17` runs one seed and shows it, `MM_TEST_SEEDS=100` runs so many.
 *
 * @module
 */
import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { RUN_TOOLS } from "../lib/config/tool_names.ts";
import type { EngineEvent } from "../lib/engine/events.ts";
import type { PromptResult, Session, SessionHost } from "../lib/session/types.ts";
import type { PermissionAnswer } from "../lib/gate/question.ts";
import type { Keys } from "./support/agents.ts";
import { inProcessHost } from "./support/in_process.ts";
import {
  type ModelServer,
  type RecordedRequest,
  type Reply,
  startModelServer,
} from "./support/model_server.ts";
import { Random } from "./support/random.ts";
import { asksForSummary, randomReply } from "./support/random_model.ts";
import { rawElements, rawMembers } from "./support/raw_json.ts";
import { roleFaults } from "./support/role_check.ts";

const ONE = process.env.MM_TEST_SEED;
const SEEDS = Number(process.env.MM_TEST_SEEDS ?? 1000);

/** Conversations at the same time: while one waits for its server, another one works. */
const AT_ONCE = 32;

const MAX_ROUNDS = 5;

/** What was sent in one conversation. */
interface Sent {
  head: string;
  messages: readonly string[];
}

class Conversation {
  readonly #random: Random;
  readonly #dir: string;
  readonly #log: string[] = [];
  readonly #faults: string[] = [];
  /** What each saved conversation sent last, and under which instructions, by its id. */
  readonly #saved = new Map<string, { readonly sent: Sent | undefined; readonly begun: number }>();
  readonly counts = { requests: 0, compressions: 0, resumes: 0, asks: 0, notifications: 0 };
  #server!: ModelServer;
  #host!: SessionHost;
  #session!: Session;
  /** What was sent last; absent where the next request may begin with something new. */
  #last: Sent | undefined;
  /** The next request of the conversation may begin with something new. */
  #allowed = false;
  #running: AbortController[] = [];
  /** Things that may still happen before what runs is cancelled. */
  #cancelIn = Infinity;
  #instructions = 0;

  constructor(seed: number, dir: string) {
    this.#random = new Random(seed);
    this.#dir = dir;
  }

  get log(): string {
    return this.#log.join("\n");
  }

  async run(): Promise<void> {
    const random = this.#random;
    await mkdir(join(this.#dir, "project"), { recursive: true });
    await mkdir(join(this.#dir, "scratch"));
    await writeFile(join(this.#dir, "project", "big.txt"), "line of text\n".repeat(100));
    if (random.chance(0.5)) await this.#changeInstructions();
    this.#server = await startModelServer({ reply: (request) => this.#reply(request) });
    try {
      this.#host = await this.#openHost();
      this.#session = await this.#host.createSession(this.#sessionOptions());
      this.#begun = this.#instructions;
      for (let actions = random.whole(4, 12); actions > 0; actions--) {
        await this.#act();
        assert.deepEqual(this.#faults, []);
      }
      await this.#host.close();
    } finally {
      await this.#server.close();
    }
  }

  #openHost(): Promise<SessionHost> {
    const random = this.#random;
    return inProcessHost({
      url: this.#server.url,
      stateDir: join(this.#dir, "state"),
      scratchDir: join(this.#dir, "scratch"),
      random,
      keys: {
        provider: "llamacpp",
        model: "m",
        ...(random.chance(0.8) ? { system: "Be brief." } : {}),
        contextWindow: random.one([3500, 5000, 9000]),
        maxTurns: 8,
        tools: ["read", "ls", "write", "ask_agent", "agent", ...RUN_TOOLS],
        agents: { maxParallel: random.whole(1, 3) },
        compaction: random.one<Keys>([{}, { threshold: 0.5, keep: 0.1 }, { enabled: false }]),
        mmConfigs: { bob: { command: ["bob"], description: "knows" } },
        hooks: random.chance(0.3) ? { preAsk: [{ run: "a" }], postAsk: [{ run: "b" }] } : {},
      },
    });
  }

  #sessionOptions() {
    return {
      cwd: join(this.#dir, "project"),
      emit: (event: EngineEvent) => this.#event(event),
      askPermission: () =>
        Promise.resolve(
          this.#random.one<PermissionAnswer>([{ kind: "allow_once" }, { kind: "allow_session" }, {
            kind: "reject_once",
          }]),
        ),
      replay: { how: "full", show: () => {} } as const,
    };
  }

  async #act(): Promise<void> {
    const random = this.#random;
    await random.weighted<() => unknown>([
      [10, () => this.#prompt(random.text(1, 200).trim() || "Go on")],
      [3, () => this.#prompt(`/ask-bob ${random.text(1, 50).trim() || "Why?"}`)],
      [1, () => this.#prompt("/ask-with-context-bob Why?")],
      [2, () => this.#prompt(random.one(["/compact", "/compact the names"]))],
      [2, () =>
        Promise.all([
          this.#prompt("First of several"),
          this.#prompt(random.one(["/ask-bob Second", "Second", "/compact"])),
          this.#prompt("Third"),
        ])],
      [2, () => this.#reopen()],
      [1, () => this.#resume()],
      [1, () => this.#begin()],
      [1, () => this.#changeInstructions()],
      [1, () => this.#prompt(random.one(["/status", "/tools", "/agents", "/tasks", "/nonsense"]))],
      [2, () => this.#prompt("/fork Look at the rest")],
      [4, () => this.#deliver()],
    ])();
  }

  async #prompt(text: string): Promise<PromptResult> {
    const result = await this.#cancellable((signal) => this.#session.prompt({ text }, { signal }));
    await this.#note(text, result);
    return result;
  }

  /** What ended in the background is told in a turn of its own, as line mode does it. */
  async #deliver(): Promise<void> {
    const result = await this.#cancellable((signal) => this.#session.deliver({ signal }));
    if (result !== undefined) await this.#note("(delivers)", result);
  }

  async #cancellable<T>(run: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const controller = new AbortController();
    this.#running.push(controller);
    this.#cancelIn = this.#random.chance(0.25) ? this.#random.whole(1, 30) : Infinity;
    try {
      return await run(controller.signal);
    } finally {
      this.#running = this.#running.filter((one) => one !== controller);
    }
  }

  async #note(text: string, { end }: PromptResult): Promise<void> {
    this.#log.push(
      `  ${JSON.stringify(text.slice(0, 40))} -> ${end.kind}` +
        (end.kind === "failed" ? ` (${end.reason.slice(0, 200)})` : ""),
    );
    // A mistake in mm is no failure of the model.
    if (end.kind === "failed" && /^Cannot add|undefined|is not a function/u.test(end.reason)) {
      this.#faults.push(end.reason);
    }
    if (text.startsWith("/ask")) this.counts.asks++;
    await this.#remember();
  }

  /** Ends the session and takes its conversation up again, as another mm would. */
  async #reopen(): Promise<void> {
    const id = await this.#remember();
    if (id === undefined) return;
    this.#log.push("  (the session ends and is resumed)");
    await this.#session.close();
    this.#session = await this.#host.saved!.resume({ ...this.#sessionOptions(), id });
    this.#resumed(id);
  }

  /** `/resume` of an earlier conversation. */
  async #resume(): Promise<void> {
    const current = await this.#remember();
    const others = [...this.#saved.keys()].filter((id) => id !== current);
    const id = others[this.#random.whole(0, others.length - 1)];
    if (id === undefined) return;
    const { end } = await this.#prompt(`/resume ${id}`);
    if (end.kind === "answered") this.#resumed(id);
  }

  #resumed(id: string): void {
    this.counts.resumes++;
    const before = this.#saved.get(id);
    this.#last = before?.sent;
    this.#current = id;
    this.#begun = this.#instructions;
    if (before?.begun !== this.#begun) this.#allowNewPrefix();
  }

  async #begin(): Promise<void> {
    const { end } = await this.#prompt("/new");
    // What works in the background belongs to the conversation that there is.
    if (end.kind !== "answered") return;
    this.#last = undefined;
    this.#current = undefined;
    this.#begun = this.#instructions;
  }

  #current: string | undefined;
  /** The instructions that the conversation was begun with. */
  #begun = 0;

  /** Notes what the current conversation sent, under its id. */
  async #remember(): Promise<string | undefined> {
    if (this.#current === undefined) {
      const all = await this.#host.saved!.list();
      this.#current = all.map(({ id }) => id).find((id) => !this.#saved.has(id));
    }
    if (this.#current !== undefined) {
      this.#saved.set(this.#current, { sent: this.#last, begun: this.#begun });
    }
    return this.#current;
  }

  /** Another AGENTS.md counts for the next conversation, and for none that goes on. */
  async #changeInstructions(): Promise<void> {
    this.#log.push("  (AGENTS.md changes)");
    this.#instructions++;
    const text = `Rule ${this.#instructions}.\n`;
    await writeFile(join(this.#dir, "project", "AGENTS.md"), text);
  }

  #allowNewPrefix(): void {
    this.#last = undefined;
    this.#allowed = true;
    this.#server.allowNewPrefix();
  }

  #event(event: EngineEvent): void {
    this.#happened();
    if (event.type !== "compaction_end" || event.status !== "completed") return;
    this.counts.compressions++;
    this.#log.push("  (compressed)");
    this.#allowNewPrefix();
  }

  #happened(): void {
    if (--this.#cancelIn === 0) this.#cancel();
  }

  #cancel(): void {
    for (const controller of this.#running) controller.abort();
  }

  #reply(request: RecordedRequest): Reply {
    this.counts.requests++;
    if (request.last.text.startsWith("<task-notification>")) this.counts.notifications++;
    this.#happened();
    const faults = [...roleFaults(request.messages), ...this.#prefixFaults(request)];
    this.#log.push(`    request of ${request.messages.length} messages`);
    if (faults.length > 0) {
      this.#faults.push(...faults);
      return { status: 400, body: { error: { message: `Strict template: ${faults[0]}` } } };
    }
    return randomReply(request, {
      random: this.#random,
      maxRounds: MAX_ROUNDS,
      onHang: () => setTimeout(() => this.#cancel(), 1),
    });
  }

  #prefixFaults(request: RecordedRequest): string[] {
    if (asksForSummary(request)) {
      // What the next request may do was meant for one of the conversation.
      if (this.#allowed) this.#server.allowNewPrefix();
      return request.toolNames.length === 0 ? [] : ["the request for a summary has tools"];
    }
    this.#allowed = false;
    const members = rawMembers(request.raw);
    const sent = {
      head: members.get("tools") ?? "",
      messages: rawElements(members.get("messages") ?? "[]"),
    };
    const last = this.#last;
    this.#last = sent;
    if (last === undefined) return [];
    if (last.head !== sent.head) return ["the tools changed"];
    const at = last.messages.findIndex((message, index) => message !== sent.messages[index]);
    if (at < 0) return [];
    return [`messages[${at}] was ${last.messages[at]} and became ${sent.messages[at]}`];
  }
}

const WHICH = ONE === undefined ? `${SEEDS} random conversations` : `random conversation ${ONE}`;

test(`${WHICH}: no refusal, no broken prefix`, async () => {
  const root = await realpath(await mkdtemp(join(tmpdir(), "mm-property-")));
  const seeds = ONE === undefined
    ? Array.from({ length: SEEDS }, (_, at) => at + 1)
    : [Number(ONE)];
  const total = { requests: 0, compressions: 0, resumes: 0, asks: 0, notifications: 0 };
  const failed: string[] = [];
  const work = async () => {
    for (let seed = seeds.shift(); seed !== undefined && failed.length < 5; seed = seeds.shift()) {
      const conversation = new Conversation(seed, join(root, String(seed)));
      try {
        await conversation.run();
      } catch (error) {
        failed.push(`MM_TEST_SEED=${seed}: ${(error as Error).message}\n${conversation.log}`);
      }
      if (ONE !== undefined) process.stdout.write(`${conversation.log}\n`);
      for (const key of Object.keys(total) as (keyof typeof total)[]) {
        total[key] += conversation.counts[key];
      }
    }
  };
  try {
    await Promise.all(Array.from({ length: ONE === undefined ? AT_ONCE : 1 }, work));
  } finally {
    await rm(root, { recursive: true, force: true });
  }
  assert.equal(failed.length, 0, failed.join("\n\n"));
  // The conversations have to hold what they are about.
  if (ONE === undefined && SEEDS >= 100) {
    for (const [key, count] of Object.entries(total)) {
      assert.ok(count >= SEEDS / 4, `${key}: ${count}`);
    }
  }
});
