/**
 * An agent whose model makes the calls that a test wants, step by step, and whose subagents answer as
 * the rules of the test say.
 *
 * @module
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { setTimeout as sleep } from "node:timers/promises";
import type { AcpEditor } from "./acp_editor.ts";
import type { Keys } from "./agents.ts";
import { assertNoProcessLeft } from "./leftovers.ts";
import type {
  ModelServer,
  ModelServerOptions,
  RecordedRequest,
  Reply,
  ReplyCall,
  Rule,
} from "./model_server.ts";
import { writeAgent } from "./one_agent.ts";
import { type TestProject, withProject } from "./project.ts";
import { savedFiles } from "./saved_files.ts";
import { textOfMessage } from "./wire.ts";

/** What stands before a message to a subagent. */
export const FROM = "[message from the agent that started you]\n";

/** The end of a run, as the model was told of it. */
export interface ToldEnd {
  readonly id: string;
  readonly round: number;
  readonly status: string;
  readonly result: string;
}

/** What is saved of a run. */
export interface RunRecord {
  readonly id: string;
  readonly state: string;
  readonly rounds: number;
}

/** Calls in one answer of the model; a function makes them of the request with the results before. */
export type Round = readonly ReplyCall[] | ((request: RecordedRequest) => readonly ReplyCall[]);

/** Whether a request is a subagent's. */
export function ofSubagent(request: RecordedRequest): boolean {
  return request.system.includes("You are a subagent") || ofFork(request);
}

/** Whether a request is a fork's. */
export function ofFork({ messages }: RecordedRequest): boolean {
  return messages.some((one) => textOfMessage(one).startsWith("You are a fork of this"));
}

/** The ids of runs in a text, in order. */
export function idsIn(text: string): string[] {
  return text.match(/task-[0-9a-f]{6}/gu) ?? [];
}

const END =
  /<task id="(task-[0-9a-f]{6})"(?: round="(\d+)")? agent="[^"]*" status="(\w+)"[^>]*>\n<description>[^]*?<\/description>\n<result>\n([^]*?)\n<\/result>/gu;

/** The ends in a text, in order. */
export function endsIn(text: string): ToldEnd[] {
  return [...text.matchAll(END)].map(([, id = "", round = "1", status = "", result = ""]) => ({
    id,
    round: Number(round),
    status,
    result,
  }));
}

/** The texts of the messages of a request. */
export function textsOf(request: RecordedRequest | undefined): string[] {
  return (request?.messages ?? []).map((message) => textOfMessage(message));
}

/** The results of the calls that a request's model made last. */
export function lastResults(request: RecordedRequest | undefined): string[] {
  const messages = request?.messages ?? [];
  const from = messages.findLastIndex(({ role }) => role === "assistant");
  return messages.slice(from + 1).filter(({ role }) => role === "tool").map(textOfMessage);
}

/** A call of one of the tools about runs, as a model makes it. */
export const runCalls = {
  list: (): ReplyCall => ({ name: "list_agents", arguments: {} }),
  send: (id: string, message: string): ReplyCall => ({
    name: "send_message",
    arguments: { task_id: id, message },
  }),
  wait: (...ids: string[]): ReplyCall => ({
    name: "wait_agent",
    arguments: ids.length === 0 ? {} : { task_ids: ids },
  }),
  stop: (id: string): ReplyCall => ({ name: "task_stop", arguments: { task_id: id } }),
};

/** An agent that is driven step by step. */
export class AgentStage {
  readonly p: TestProject;
  /** Answers the subagents. */
  readonly rules: Rule[];
  server!: ModelServer;
  /** The editor that is open now, and its session. */
  editor!: AcpEditor;
  session = "";
  readonly #keys: Keys;
  readonly #steps = new Map<string, readonly Round[]>();

  /** Use {@linkcode withStage}. */
  constructor(p: TestProject, rules: readonly Rule[], keys: Keys) {
    this.p = p;
    this.rules = [...rules];
    this.#keys = keys;
  }

  /** Starts a model server and writes the configuration that names it. */
  async serve(options: Pick<ModelServerOptions, "window"> = {}): Promise<void> {
    const reply = (request: RecordedRequest) => this.#reply(request);
    this.server = await this.p.model({ slots: 8, reply, ...options });
    await writeAgent(this.p, this.server, { yolo: true, ...this.#keys });
  }

  /** Starts mm with an editor and opens a session: a new one, or the one there was. */
  async open(args: readonly string[] = []): Promise<void> {
    this.editor = this.p.editor(args);
    await this.editor.initialize();
    if (this.session === "") {
      this.session = await this.editor.newSession();
    } else {
      const { session: sessionId, p: { dir: cwd } } = this;
      await this.editor.request("session/load", { sessionId, cwd, mcpServers: [] });
    }
  }

  /** Ends mm with `kill -9`, and waits until what it had started is gone too. */
  async kill(): Promise<void> {
    this.editor.mm.signal("SIGKILL");
    await this.editor.mm.exit;
    await assertNoProcessLeft(this.p.mark, { timeoutMs: 10_000 });
  }

  /** Lets the model make calls in one answer; returns their results. */
  async call(...calls: ReplyCall[]): Promise<string[]> {
    return await this.rounds(calls);
  }

  /** Lets the model make calls and wait then; returns the ends that it was told of meanwhile. */
  async finish(...calls: ReplyCall[]): Promise<ToldEnd[]> {
    const before = this.ends.length;
    await this.call(...calls, runCalls.wait());
    return this.ends.slice(before);
  }

  /** Lets the model make calls in several answers of one turn; returns the results of the last. */
  async rounds(...rounds: Round[]): Promise<string[]> {
    const step = this.plan(...rounds);
    await this.editor.prompt(this.session, step);
    return lastResults(this.answered(step));
  }

  /** Returns the prompt that makes the model make calls. */
  plan(...rounds: Round[]): string {
    const step = `step ${this.#steps.size + 1}.`;
    this.#steps.set(step, rounds);
    return step;
  }

  /** The request with the results of a step's calls. */
  answered(step: string): RecordedRequest | undefined {
    return this.own.findLast(({ last, lastUser }) =>
      last.role === "tool" && lastUser.endsWith(step)
    );
  }

  /** Starts a run in the background; returns its id. */
  async start(prompt: string, more: Keys = {}): Promise<string> {
    const [text = ""] = await this.call({
      name: "agent",
      arguments: { description: "A task", prompt, ...more },
    });
    const [id] = idsIn(text);
    assert.ok(text.startsWith("Started ") && id !== undefined, text);
    return id;
  }

  /** The requests of the agent itself. */
  get own(): RecordedRequest[] {
    return this.server.requests.filter((request) => !ofSubagent(request));
  }

  /** The requests of subagents. */
  get theirs(): RecordedRequest[] {
    return this.server.requests.filter(ofSubagent);
  }

  /** The ends of runs that the model was told of, in order; each prompt has told all there were. */
  get ends(): ToldEnd[] {
    return endsIn(textsOf(this.own.at(-1)).join("\n"));
  }

  /** Waits until a run's saved state is one. */
  async saved(id: string, state: string): Promise<void> {
    const deadline = performance.now() + 20_000;
    for (;;) {
      const now = (await this.records()).get(id);
      if (now?.state === state) return;
      assert.ok(performance.now() < deadline, `${id} is saved as ${now?.state}, not as ${state}`);
      await sleep(5);
    }
  }

  /** Waits until a file of the project exists. */
  async fileIs(path: string): Promise<void> {
    const deadline = performance.now() + 20_000;
    while (!this.p.exists(path)) {
      assert.ok(performance.now() < deadline, `There is no file "${path}" yet`);
      await sleep(5);
    }
  }

  /** Waits for a subagent's request that ends with a text. */
  asked(text: string): Promise<RecordedRequest> {
    return this.server.waitForRequest((r) => ofSubagent(r) && r.last.text.endsWith(text));
  }

  /** The path of the file with the runs of the conversation. */
  async recordFile(): Promise<string> {
    const files = await savedFiles(this.p);
    return files.find(({ name }) => name.endsWith(".agents.jsonl"))?.path ?? "";
  }

  /** Where each run stands, as it was saved last. */
  async records(): Promise<Map<string, RunRecord>> {
    const text = await readFile(await this.recordFile(), "utf8").catch(() => "");
    const records: RunRecord[] = text.split("\n").filter((line) => line.endsWith("}"))
      .map((line) => JSON.parse(line));
    return new Map(records.map((record) => [record.id, record]));
  }

  #reply(request: RecordedRequest): Reply | undefined {
    if (!ofSubagent(request)) return this.#ownReply(request);
    for (const rule of this.rules) {
      const reply = rule(request);
      if (reply !== undefined) return reply;
    }
    return undefined;
  }

  #ownReply(request: RecordedRequest): Reply {
    const { messages, lastUser } = request;
    const rounds = this.#steps.get(/step \d+\.$/u.exec(lastUser)?.[0] ?? "") ?? [];
    const from = messages.findLastIndex(({ role }) => role === "user");
    const round = rounds[messages.slice(from).filter(({ role }) => role === "assistant").length];
    const calls = typeof round === "function" ? round(request) : round ?? [];
    return calls.length === 0 ? { text: "Done." } : { toolCalls: calls };
  }
}

/**
 * Runs `body` with an agent in an editor, under yolo; `keys` change its configuration, `files` lie in its
 * project.
 */
export function withStage(
  rules: readonly Rule[],
  body: (stage: AgentStage) => Promise<void>,
  keys: Keys = {},
  files: Readonly<Record<string, string>> = {},
): Promise<void> {
  return withProject(async (p) => {
    const stage = new AgentStage(p, rules, keys);
    await stage.serve();
    await stage.open();
    await body(stage);
  }, { files });
}
