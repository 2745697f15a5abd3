/**
 * A fork as its own process has it: what it sends to the model, what it may run, what it saves. The
 * conversation that is forked is one that mm had before; here the test hands it over.
 *
 * @module
 */
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { ForkOpening } from "../lib/agents/child_connection.ts";
import type { Message, ToolDeclaration } from "../lib/model/types.ts";
import { SessionStore } from "../lib/store/session_store.ts";
import type { AcpEditor } from "./support/acp_editor.ts";
import { bash, type Keys } from "./support/agents.ts";
import {
  always,
  inOrder,
  type ModelServer,
  onUser,
  type RecordedRequest,
  type Reply,
  type Rule,
} from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { type ProjectStartOptions, type TestProject, withProject } from "./support/project.ts";
import { conversationFiles } from "./support/saved_files.ts";
import { textOfMessage } from "./support/wire.ts";

const TASK = "You are a fork of this conversation. Look after the colours.";
const ELSEWHERE =
  "[this call is carried out by the agent that you were forked from; you do not see its result]";

/** The calls of the answer at which the conversation is forked. */
const CALLS = [
  { id: "one", name: "read", arguments: { path: "colours.txt" } },
  { id: "two", ...bash('echo zwölf \\"x\\" 🎨') },
  { id: "three", name: "read", arguments: "{broken" },
];

/** A conversation that was had, and what is needed to fork it. */
interface Stage {
  readonly p: TestProject;
  readonly server: ModelServer;
  /** The request that was answered with the calls, and the one with their results. */
  readonly asked: RecordedRequest;
  readonly answered: RecordedRequest;
  readonly opening: ForkOpening;
  readonly messages: readonly Message[];
  /** Where subagents save. */
  readonly state: string;
  readonly store: SessionStore;
  /** Saves the conversation for the fork; returns its id. */
  copy(messages?: readonly Message[]): string;
  /** Starts the process of forks. */
  child(options?: ProjectStartOptions): Promise<AcpEditor>;
}

/** Has the conversation, then runs `body`; the fork's requests are answered by `reply`. */
function withConversation(
  reply: readonly Rule[],
  body: (stage: Stage) => Promise<void>,
  options: { readonly keys?: Keys; readonly hello?: Reply } = {},
): Promise<void> {
  const { keys = {}, hello = { reasoning: "A greeting.", text: "Hello! 👋" } } = options;
  return withProject(async (p) => {
    await p.write("colours.txt", "red\n");
    await p.write("AGENTS.md", "Be kind.");
    const server = await oneAgent(p, [
      onUser("Hello", hello),
      (request) =>
        request.lastUser === "Colours" && request.last.role === "user"
          ? { ...usageOf(hello), reasoning: "Which?", text: "I look.", toolCalls: CALLS }
          : undefined,
      (request) =>
        request.last.role === "tool" && request.last.text.startsWith("Wrong arguments")
          ? { ...usageOf(hello), text: "Red." }
          : undefined,
      ...reply,
    ], { yolo: true, temperature: 0.5, maxTokens: 1000, sendReasoning: true, ...keys });
    const parent = p.editor();
    const id = await parent.start();
    await parent.prompt(id, "Hello");
    await parent.prompt(id, "Colours");
    assert.equal(await endOf(parent), 0);
    const [, asked, answered] = server.requests;
    assert.ok(asked !== undefined && answered !== undefined);
    const options = { keep: 0, secrets: [], version: "1" };
    const saved = await new SessionStore({ ...options, stateDir: p.stateDir })
      .open(id, { events: false });
    await saved.file?.close(0);
    saved.lock?.release();
    const messages = saved.messages.slice(0, saved.messages.findIndex((m) => m.role === "tool"));
    const state = join(p.stateDir, "subagents");
    const store = new SessionStore({ ...options, stateDir: state });
    await body({
      p,
      server,
      asked,
      answered,
      opening: { system: asked.system, tools: declarations(asked), callId: "two" },
      messages,
      state,
      store,
      copy: (copied = messages) => {
        const fork = crypto.randomUUID();
        store.copy({ id: fork, cwd: p.dir, messages: copied });
        return fork;
      },
      child: async ({ env, ...more } = {}) => {
        const child = p.editor(["-agent", "fork", "-config", p.path("agent.yaml")], {
          ...more,
          env: {
            MM_ASK_DEPTH: "1",
            AGENT_SESSIONS: "off",
            AGENT_YOLO: "false",
            MM_SUBAGENT_STATE: state,
            ...env,
          },
        });
        const { agentCapabilities } = await child.initialize();
        assert.equal(agentCapabilities.loadSession, env?.["MM_SUBAGENT_STATE"] !== "");
        return child;
      },
    });
  });
}

function usageOf({ usage }: Reply): Pick<Reply, "usage"> {
  return usage === undefined ? {} : { usage };
}

/** The text of a conversation's file that a fork saves. */
async function fileOf(p: TestProject, state: string, id: string): Promise<string> {
  const file = (await conversationFiles(p, state)).find(({ name }) => name === `${id}.jsonl`);
  return await readFile(file?.path ?? "", "utf8");
}

async function endOf({ mm }: AcpEditor): Promise<number | null> {
  mm.endInput();
  return (await mm.waitForExit()).code;
}

function declarations({ body }: RecordedRequest): ToolDeclaration[] {
  return (body.tools ?? []).map((tool) => tool.function as ToolDeclaration);
}

function load(
  child: AcpEditor,
  { p }: Stage,
  options: { readonly id: string; readonly fork?: ForkOpening; readonly save?: boolean },
) {
  const { id, ...mm } = options;
  return child.request("session/load", {
    sessionId: id,
    cwd: p.dir,
    mcpServers: [],
    _meta: { mm },
  });
}

/** The body up to the end of its last message. */
const open = ({ raw }: RecordedRequest) => raw.slice(0, raw.lastIndexOf("]}"));

const lastTexts = (request: RecordedRequest | undefined, count: number) =>
  request?.messages.slice(-count).map((m) => `${m.role}: ${textOfMessage(m)}`);

test("a fork's first request begins with the bytes of the conversation's, calls included", () =>
  withConversation([always({ text: "Forked." })], async (stage) => {
    const { p, server, asked, answered, opening, copy, child: start } = stage;
    const id = copy();
    // What is read anew would be another beginning.
    await p.write("AGENTS.md", "Be rude.");
    const child = await start();
    await load(child, stage, { id, fork: opening });
    assert.equal((await child.prompt(id, TASK)).stopReason, "end_turn");
    assert.equal(child.text(id), "Forked.");
    const forked = server.requests.at(-1);
    assert.ok(forked !== undefined && forked !== answered);
    assert.ok(forked.raw.startsWith(open(asked)), "the conversation up to the question");
    const results = answered.raw.indexOf('{"role":"tool"');
    assert.ok(results > open(asked).length);
    assert.equal(forked.raw.slice(0, results), answered.raw.slice(0, results));
    assert.deepEqual(lastTexts(forked, 3), [
      `tool: ${ELSEWHERE}`,
      `tool: ${TASK}`,
      `tool: ${ELSEWHERE}`,
    ]);
    assert.deepEqual(
      forked.messages.slice(-3).map((m) => m.tool_call_id),
      answered.messages.slice(-3).map((m) => m.tool_call_id),
    );
    // What follows is an ordinary prompt of the same conversation.
    await child.prompt(id, "/quit the colours");
    const next = server.requests.at(-1);
    assert.ok(next?.raw.startsWith(open(forked)));
    assert.deepEqual(lastTexts(next, 2), ["assistant: Forked.", "user: /quit the colours"]);
    assert.equal(await endOf(child), 0);
  }));

test("a fork of a closed history begins with an ordinary prompt", () =>
  withConversation([always({ text: "Forked." })], async (stage) => {
    const { server, asked, opening, messages, copy, child: start } = stage;
    const id = copy(messages.slice(0, 2));
    const child = await start();
    const { callId: _, ...fork } = opening;
    await load(child, stage, { id, fork });
    await child.prompt(id, TASK);
    const forked = server.requests.at(-1);
    assert.deepEqual(lastTexts(forked, 2), ["assistant: Hello! 👋", `user: ${TASK}`]);
    const question = asked.raw.lastIndexOf('{"role":"user"');
    assert.equal(forked?.raw.slice(0, question), asked.raw.slice(0, question));
  }));

test("what a fork may not run is refused before anybody is asked, and it goes on", () =>
  withConversation([
    inOrder(
      { toolCalls: [bash("echo no"), { name: "Agent", arguments: {} }] },
      // More than ten that could not run at all would end the turn.
      { toolCalls: Array.from({ length: 11 }, (_, n) => bash(`echo ${n}`)) },
      { toolCalls: [{ name: "read", arguments: { path: "colours.txt" } }] },
      { toolCalls: [{ name: "nonsense", arguments: {} }, { name: "mcp__x__y", arguments: {} }] },
      { text: "Done." },
    ),
  ], async (stage) => {
    const { server, opening, copy, child: start } = stage;
    const id = copy();
    const child = await start();
    const extra = ["agent", "mcp__x__y"].filter((name) =>
      !opening.tools.some((tool) => tool.name === name)
    ).map((name) => ({ name, description: "", parameters: { type: "object" } }));
    const tools = [...opening.tools, ...extra];
    await load(child, stage, {
      id,
      fork: { ...opening, tools, allow: ["read", "agent", "mcp__*"] },
    });
    server.allowNewPrefix();
    assert.equal((await child.prompt(id, TASK)).stopReason, "end_turn");
    assert.equal(child.text(id), "Done.");
    assert.equal(child.permissions.length, 0);
    const results = (server.requests.at(-1)?.messages ?? []).filter((m) => m.role === "tool")
      .slice(3).map(textOfMessage);
    assert.ok(results.splice(2, 11).every((text) => text.startsWith("Not run: this fork may")));
    assert.match(results[0] ?? "", /^Not run: this fork may run only read, agent, mcp__\*/u);
    assert.match(results[1] ?? "", /^Not run: a fork starts and leads no agents/u);
    assert.equal(results[2], "1\tred");
    assert.match(results[3] ?? "", /^There is no tool "nonsense", only /u);
    assert.match(
      results[4] ?? "",
      /"mcp__x__y" is declared, but whatever provides it is not there/u,
    );
    const shown = child.toolCalls(id).map((call) => [call.title, call.status]);
    shown.splice(2, 11);
    assert.deepEqual(shown, [
      ["bash may not run here", "failed"],
      ["agent may not run here", "failed"],
      ["colours.txt", "completed"],
      ['unknown tool "nonsense"', "failed"],
      ["mcp__x__y is not there", "failed"],
    ]);
  }));

test("a history that does not end at the call that made the fork is refused", () =>
  withConversation([], async (stage) => {
    const { opening, messages, copy, child: start } = stage;
    const child = await start();
    const words = /does not end at the call "two"/u;
    const closed = copy(messages.slice(0, 2));
    await assert.rejects(load(child, stage, { id: closed, fork: opening }), words);
    await assert.rejects(
      child.request("session/new", {
        cwd: stage.p.dir,
        mcpServers: [],
        _meta: { mm: { fork: opening } },
      }),
      words,
    );
    await assert.rejects(
      load(child, stage, { id: copy(), fork: { ...opening, tools: [{}] } as never }),
      /"_meta.mm.fork.tools" must be a list of tools/u,
    );
    // Nothing of a refused one stays locked.
    const { callId: _, ...fork } = opening;
    await load(child, stage, { id: closed, fork });
  }));

test("a fork saves what comes then, unless it is told not to", () =>
  withConversation([always({ text: "Forked." })], async (stage) => {
    const { p, opening, state, store, copy, child: start } = stage;
    const child = await start();
    const [kept, unkept] = [copy(), copy()];
    for (const id of [kept, unkept]) {
      await load(child, stage, { id, fork: opening, ...(id === unkept ? { save: false } : {}) });
    }
    const before = await fileOf(p, state, unkept);
    await child.prompt(unkept, TASK);
    await child.prompt(kept, TASK);
    assert.equal(await fileOf(p, state, unkept), before);
    assert.equal(await endOf(child), 0);
    const saved = await store.open(kept, { events: false });
    assert.deepEqual(saved.messages.slice(-4).map((m) => m.text), [
      ELSEWHERE,
      TASK,
      ELSEWHERE,
      "Forked.",
    ]);
    await saved.file?.close(0);
    saved.lock?.release();
    // Another process goes on with it.
    const later = await start();
    const { callId: _, ...fork } = opening;
    await load(later, stage, { id: kept, fork });
    await later.prompt(kept, "More");
    assert.deepEqual(lastTexts(stage.server.requests.at(-1), 2), [
      "assistant: Forked.",
      "user: More",
    ]);
    // One that is being closed is gone on with once it is.
    const closing = later.request("session/close", { sessionId: kept });
    await load(later, stage, { id: kept, fork });
    await closing;
    await later.prompt(kept, "Even more");
  }));

test("where subagents save is told to the subagent alone, and without it nothing is saved", () =>
  withConversation([
    inOrder({ toolCalls: [bash("echo [${MM_SUBAGENT_STATE-none}]")] }, { text: "Done." }),
  ], async (stage) => {
    const { server, opening, copy, child: start } = stage;
    const child = await start();
    child.onPermission = "allow_once";
    const id = copy();
    await load(child, stage, { id, fork: opening });
    await child.prompt(id, TASK);
    assert.match(server.requests.at(-1)?.last.text ?? "", /^\[none\]/u);
    await start({ env: { MM_SUBAGENT_STATE: "", AGENT_SESSIONS: "on" } });
  }));

test("the model of a session is named as its server names it, and the reply tells what is in use", () =>
  withConversation([always({ text: "Forked." })], async (stage) => {
    const { server, opening, copy, child: start } = stage;
    const child = await start();
    const id = copy();
    const { _meta } = await load(child, stage, { id, fork: opening });
    assert.deepEqual(_meta.mm.settings, { model: "m" });
    const choose = (value: string) =>
      child.request("session/set_config_option", {
        sessionId: id,
        configId: "model",
        value,
        _meta: { mm: { bare: true } },
      });
    await assert.rejects(choose("llamacpp/test-model"), /has no model "llamacpp\/test-model"/u);
    server.allowNewPrefix();
    await choose("test-model");
    await child.prompt(id, TASK);
    assert.equal(server.requests.at(-1)?.model, "test-model");
  }));

test("a history that fitted is not compressed because an estimate says that it does not", () =>
  withConversation([always({ text: "Forked." })], async (stage) => {
    const { server, asked, opening, copy, child: start } = stage;
    const child = await start();
    const id = copy();
    await load(child, stage, { id, fork: opening });
    const before = server.requests.length;
    await child.prompt(id, TASK);
    assert.equal(server.requests.length, before + 1);
    assert.ok(server.requests.at(-1)?.raw.startsWith(open(asked)));
  }, {
    keys: { contextWindow: 8000 },
    // The server counts half of what an estimate gives: more than the threshold, and less than it.
    hello: {
      text: "Well. ".repeat(4000),
      usage: { prompt_tokens: 3500, completion_tokens: 100 },
    },
  }));
