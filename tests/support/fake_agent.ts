/**
 * An agent of another make: a small ACP agent program without the SDK, that does what it is told to,
 * right or wrong. Run as `deno run -A tests/support/fake_agent.ts '{"behaviour":"…"}'`; see
 * {@linkcode fakeAgent} for the command.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

/** What the fake agent does. */
export type Behaviour =
  /** Answers each prompt with `text`. */
  | "answer"
  /** Reads and never says anything, the first hello included. */
  | "silent"
  /** Says hello, opens sessions, and is silent from the prompt on. */
  | "silent_prompt"
  /** Writes lines that are no JSON on stdout before and between its messages. */
  | "noise"
  /** Ends at once with `exitCode`, after `stderr`. */
  | "exit"
  /** Ends in the middle of an answer with `exitCode`, or by `signal`. */
  | "die"
  /** Speaks protocol version 99. */
  | "wrong_version"
  /** A program that talks, but no ACP: echoes lines in capitals. */
  | "no_acp"
  /** Asks for `fs/read_text_file`, then tells what it was answered. */
  | "read_file"
  /** Sends updates of unknown kinds, unknown notifications and fields, then answers. */
  | "unknown_updates"
  /** Begins to answer and never ends, whatever is cancelled. */
  | "ignore_cancel"
  /** Begins to answer and ends when it is cancelled. */
  | "wait_for_cancel"
  /** Asks two permissions at the same time, then tells both outcomes. */
  | "two_permissions"
  /** Answers each prompt with a JSON-RPC error that says `text`. */
  | "error"
  /** Ends each prompt with the stop reason `text`. */
  | "stop_reason"
  /** Sends answer text before `session/new` is answered. */
  | "early_update"
  /** Sends answer text after the answer to the prompt. */
  | "late_update"
  /** Refuses `session/new`. */
  | "no_session"
  /** Answers each prompt with the mode it is in. */
  | "tell_mode"
  /** Answers each prompt of a session with its number and its text. */
  | "count"
  /** Answers each prompt with the variables of its environment that `text` names, with blanks between. */
  | "tell_environment"
  /** Makes a call whose arguments come late and that ends twice, and one that it leaves open. */
  | "calls"
  /** Answers, then asks a permission; the next answer tells the outcome. */
  | "late_permission"
  /** Writes the file `text` in the directory of its session, and says so. */
  | "write_file"
  /** Starts a process that ignores TERM, says its id, and waits for a cancel. */
  | "grandchild";

/** The fake agent's orders. */
export interface FakeAgentOptions {
  readonly behaviour: Behaviour;
  readonly text?: string;
  readonly exitCode?: number;
  readonly signal?: NodeJS.Signals;
  readonly stderr?: string;
  /** Its modes, the first of which it begins in. */
  readonly modes?: readonly string[];
  /** Tells its modes as an option only, as newer agents do. */
  readonly modesAsOption?: boolean;
  /** Refuses every change of its mode. */
  readonly modeIsFixed?: boolean;
  /** Never answers this method. */
  readonly hangAt?: string;
  /** Ends with `exitCode` when it is asked this method. */
  readonly exitAt?: string;
  /** A file that is written once something was said, in the directory where it was started. */
  readonly file?: string;
  /** Asks its two permissions under one id. */
  readonly oneCallId?: boolean;
}

/** Returns the command line of a fake agent, for `mmConfigs: {x: {command: […]}}`. */
export function fakeAgent(options: FakeAgentOptions): [string, ...string[]] {
  const file = fileURLToPath(import.meta.url);
  return [process.execPath, "run", "-A", "--no-check", file, JSON.stringify(options)];
}

// deno-lint-ignore no-explicit-any
type Json = any;

class FakeAgent {
  readonly #options: FakeAgentOptions;
  readonly #text: string;
  /** Answers to this agent's own requests, by id. */
  readonly #answers = new Map<string, (message: Json) => void>();
  /** What a cancel ends, by session. */
  readonly #cancels = new Map<string, () => void>();
  /** Prompts so far, by session. */
  readonly #prompts = new Map<string, number>();
  #ids = 0;
  #sessions = 0;
  #mode = "none";
  #late = "nothing";
  #cwd = "";

  constructor(options: FakeAgentOptions) {
    this.#options = options;
    this.#text = options.text ?? "fake answer";
  }

  async run(): Promise<void> {
    const { behaviour, stderr, exitCode } = this.#options;
    if (stderr !== undefined) process.stderr.write(`${stderr}\n`);
    if (behaviour === "exit") process.exit(exitCode ?? 1);
    if (behaviour === "noise") process.stdout.write("Welcome to the fake agent!\n");
    let rest = "";
    const decoder = new TextDecoder();
    for await (const bytes of process.stdin) {
      rest += decoder.decode(bytes as Uint8Array, { stream: true });
      const lines = rest.split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) this.#line(line);
    }
    process.exit(0);
  }

  #line(line: string): void {
    const { behaviour } = this.#options;
    if (behaviour === "silent" || line.trim() === "") return;
    if (behaviour === "no_acp") {
      process.stdout.write(`${line.toUpperCase()}\n`);
      return;
    }
    const message: Json = JSON.parse(line);
    if (message.method === undefined) {
      this.#answers.get(String(message.id))?.(message);
      this.#answers.delete(String(message.id));
    } else if (message.method === "session/cancel") {
      this.#cancels.get(message.params.sessionId)?.();
    } else if (message.id !== undefined) {
      void this.#asked(message);
    }
  }

  async #asked({ id, method, params }: Json): Promise<void> {
    const result = (value: Json) => this.#send({ id, result: value });
    const error = (message: string, code = -32603) => this.#send({ id, error: { code, message } });
    const { behaviour, hangAt, exitAt, exitCode } = this.#options;
    if (method === exitAt) process.exit(exitCode ?? 1);
    if (method === hangAt) return;
    switch (method) {
      case "initialize":
        result({
          protocolVersion: behaviour === "wrong_version" ? 99 : 1,
          agentCapabilities: { sessionCapabilities: { close: {} } },
          agentInfo: { name: "fake", title: "Fake agent", version: "1" },
          authMethods: [],
        });
        break;
      case "session/new":
        this.#cwd = params.cwd;
        this.#newSession(result, error);
        break;
      case "session/close":
        result({});
        break;
      case "session/set_mode":
      case "session/set_config_option":
        if (this.#options.modeIsFixed === true) return error("No");
        this.#mode = params.modeId ?? params.value;
        result({});
        break;
      case "session/prompt":
        if (behaviour === "error") error(this.#text);
        else result({ stopReason: await this.#prompt(params.sessionId, params.prompt[0].text) });
        if (behaviour === "late_update") this.#say(params.sessionId, "too late");
        if (behaviour === "late_permission") {
          this.#late = await this.#permission(params.sessionId, "late");
        }
        break;
      default:
        error(`Method not found: ${method}`, -32601);
    }
  }

  #newSession(result: (value: Json) => void, error: (message: string, code: number) => void) {
    const sessionId = `fake-${++this.#sessions}`;
    if (this.#options.behaviour === "no_session") return error("No session today", -32000);
    if (this.#options.behaviour === "early_update") this.#say(sessionId, "too early");
    const [currentModeId, ...others] = this.#options.modes ?? [];
    if (currentModeId === undefined) return result({ sessionId });
    this.#mode = currentModeId;
    const all = [currentModeId, ...others];
    if (this.#options.modesAsOption === true) {
      const options = all.map((value) => ({ value, name: value }));
      const option = { id: "m", name: "Mode", category: "mode", type: "select", options };
      return result({ sessionId, configOptions: [{ ...option, currentValue: currentModeId }] });
    }
    const availableModes = all.map((id) => ({ id, name: id }));
    result({ sessionId, modes: { currentModeId, availableModes } });
  }

  #say(sessionId: string, text: string): void {
    this.#update(sessionId, {
      sessionUpdate: "agent_message_chunk",
      content: { type: "text", text },
    });
    const { file } = this.#options;
    if (file !== undefined) process.stdout.write("", () => writeFileSync(file, ""));
  }

  /** Answers one prompt; returns the stop reason. */
  async #prompt(sessionId: string, prompt: string): Promise<string> {
    const say = (text: string) => this.#say(sessionId, text);
    const nth = (this.#prompts.get(sessionId) ?? 0) + 1;
    this.#prompts.set(sessionId, nth);
    switch (this.#options.behaviour) {
      case "silent_prompt":
        return await new Promise<never>(() => {});
      case "noise":
        process.stdout.write("debug: thinking\n\n");
        say(this.#text);
        return "end_turn";
      case "die":
        say(this.#text);
        // The text has to be out of the pipe before the process is gone.
        await new Promise<void>((done) => process.stdout.write("", () => done()));
        if (this.#options.signal !== undefined) process.kill(process.pid, this.#options.signal);
        else process.exit(this.#options.exitCode ?? 7);
        return await new Promise<never>(() => {});
      case "read_file": {
        const answer = await this.#request("fs/read_text_file", { sessionId, path: "/etc/passwd" });
        say(`fs answered: ${JSON.stringify(answer.error ?? answer.result)}`);
        return "end_turn";
      }
      case "unknown_updates":
        this.#update(sessionId, { sessionUpdate: "mood_update", mood: { name: "cheerful" } });
        this.#update(sessionId, {
          sessionUpdate: "agent_message_chunk",
          content: { type: "smell" },
        });
        this.#send({ method: "_fake/ping", params: { n: 1 } });
        say(this.#text);
        return "end_turn";
      case "ignore_cancel":
        say(this.#text);
        return await new Promise<never>(() => {});
      case "wait_for_cancel":
        say(this.#text);
        await new Promise<void>((done) => this.#cancels.set(sessionId, done));
        return "cancelled";
      case "two_permissions": {
        const both = await Promise.all([
          this.#permission(sessionId, "one"),
          this.#permission(sessionId, "two"),
        ]);
        say(`permissions: ${both.join(", ")}`);
        return "end_turn";
      }
      case "tell_mode":
        say(`mode ${this.#mode}`);
        return "end_turn";
      case "count":
        say(`${nth}: ${prompt}`);
        return "end_turn";
      case "tell_environment":
        say(this.#text.split(" ").map((name) => `${name}=${process.env[name]}`).join("\n"));
        return "end_turn";
      case "calls":
        this.#calls(sessionId);
        say(this.#text);
        return "end_turn";
      case "write_file":
        writeFileSync(join(this.#cwd, this.#text), "");
        say(`I wrote "${join(this.#cwd, this.#text)}"`);
        return "end_turn";
      case "late_permission":
        say(this.#late);
        return "end_turn";
      case "grandchild": {
        const stubborn = spawn("sh", ["-c", "trap '' TERM HUP INT; while :; do sleep 1; done"], {
          stdio: "ignore",
        });
        say(`pid ${stubborn.pid}`);
        await new Promise<void>((done) => this.#cancels.set(sessionId, done));
        return "cancelled";
      }
      case "stop_reason":
        say("partial");
        return this.#text;
      default:
        say(this.#text);
        return "end_turn";
    }
  }

  /** Two calls: one that says more than it has to, and one that has no end. */
  #calls(sessionId: string): void {
    const update = (id: string, fields: Json) =>
      this.#update(sessionId, { sessionUpdate: "tool_call_update", toolCallId: id, ...fields });
    for (const id of ["said", "open"]) {
      const call = { toolCallId: id, title: id, kind: "execute", status: "pending" };
      this.#update(sessionId, { sessionUpdate: "tool_call", ...call });
      update(id, { status: "in_progress", rawInput: { command: `echo ${id}` } });
    }
    const content = (text: string) => [{ type: "content", content: { type: "text", text } }];
    update("said", { status: "completed", content: content("once") });
    update("said", { status: "completed", content: content("twice") });
  }

  /** Asks for permission; returns the chosen option, or the outcome where none was chosen. */
  async #permission(sessionId: string, name: string): Promise<string> {
    const toolCallId = this.#options.oneCallId === true ? "call" : name;
    const call = {
      toolCallId,
      title: `Run ${name}`,
      kind: "execute",
      status: "pending",
      rawInput: { command: `echo ${name}` },
    };
    this.#update(sessionId, { sessionUpdate: "tool_call", ...call });
    const answer = await this.#request("session/request_permission", {
      sessionId,
      toolCall: call,
      options: [
        { optionId: "yes", name: "Allow once", kind: "allow_once" },
        { optionId: "always", name: "Always allow", kind: "allow_always" },
        { optionId: "no", name: "Reject", kind: "reject_once" },
      ],
    });
    const outcome = answer.result?.outcome;
    const chosen = outcome?.optionId ?? outcome?.outcome ?? "error";
    const status = chosen === "yes" || chosen === "always" ? "completed" : "failed";
    this.#update(sessionId, { sessionUpdate: "tool_call_update", toolCallId, status });
    return `${name}=${chosen}`;
  }

  #update(sessionId: string, update: Json): void {
    this.#send({ method: "session/update", params: { sessionId, update } });
  }

  #request(method: string, params: Json): Promise<Json> {
    const id = `fake-${++this.#ids}`;
    const answer = new Promise<Json>((resolve) => this.#answers.set(id, resolve));
    this.#send({ id, method, params });
    return answer;
  }

  #send(message: Json): void {
    process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  }
}

if (import.meta.main) {
  await new FakeAgent(JSON.parse(process.argv[2] ?? '{"behaviour":"answer"}')).run();
}
