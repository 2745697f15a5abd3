/**
 * `kill -9` at 200 moments of conversations that write: each time the conversation is loaded again with
 * all that the model had been sent, and the next request is one that strict chat templates accept. The
 * model server checks that, and the stable prefix, for every request.
 *
 * A moment is a size of the conversation's file, so that the seed decides it and not the machine's speed.
 */
import assert from "node:assert/strict";
import { readdirSync, statSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import type { AcpEditor, Json } from "./support/acp_editor.ts";
import { bash } from "./support/agents.ts";
import type { ModelServer, RecordedRequest, Reply } from "./support/model_server.ts";
import type { MmProcess } from "./support/mm.ts";
import { writeAgent } from "./support/one_agent.ts";
import { type TestProject, withProject } from "./support/project.ts";
import { conversationFiles } from "./support/saved_files.ts";

const KILLS = 200;

/** Kills of one conversation before another begins. */
const KILLS_EACH = 5;

/** Conversations at the same time. */
const WORKERS = 3;

const SEED = 20261130;

/** Steps of the model in a turn, each a request. */
const STEPS = 4;

test(`${KILLS} times kill -9: all that the model was sent is there, and the next request is accepted`, () =>
  withProject(async (p) => {
    const server = await p.model({ reply: script });
    await writeAgent(p, server, { yolo: true });
    const editor = p.editor();
    await editor.initialize();
    const stage: Stage = { p, server, editor, growth: await growthOfTurn(p), ...counters() };
    await Promise.all(Array.from({ length: WORKERS }, () => worker(stage)));
    assert.equal(stage.done, KILLS);
    assert.ok(stage.killed > KILLS * 0.9, `only ${stage.killed} were killed before they were done`);
    assert.ok(
      stage.inTurn > KILLS * 0.5,
      `only ${stage.inTurn} were killed in the middle of a turn`,
    );
  }));

interface Stage {
  readonly p: TestProject;
  readonly server: ModelServer;
  /** Loads the conversations again, in one process for all. */
  readonly editor: AcpEditor;
  /** Bytes that a whole turn adds to a file. */
  readonly growth: number;
  readonly random: () => number;
  begun: number;
  done: number;
  killed: number;
  inTurn: number;
}

function counters(): Pick<Stage, "random" | "begun" | "done" | "killed" | "inTurn"> {
  let state = SEED;
  // mulberry32: small, and good enough to choose moments.
  const random = () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
  };
  return { random, begun: 0, done: 0, killed: 0, inTurn: 0 };
}

/** Thoughts, text and calls of different sizes; after a few steps an answer. */
function script(request: RecordedRequest): Reply {
  const question = /^(?:Go|Next) (\S+)/.exec(request.lastUser)?.[0] ?? "";
  if (question.startsWith("Next")) return { text: `Answer to ${question}.` };
  const turn = request.messages.findLastIndex((m) => m.role === "user");
  const step = request.messages.slice(turn).filter((m) => m.role === "assistant").length;
  const paced = { chunkDelayMs: 1, reasoning: `Step ${step} of ${question}: é€🙂` };
  if (step === STEPS) return { ...paced, text: `Done with ${question}. `.repeat(10) };
  const calls = [bash(`echo ${question} ${step}`), bash(`seq 1 ${200 * step}`)];
  return { ...paced, text: "I look.", toolCalls: calls.slice(0, 1 + step % 2) };
}

async function growthOfTurn(p: TestProject): Promise<number> {
  await p.runMm(["-p", "Go measure"]);
  const [file] = await conversationFiles(p);
  return statSync(file?.path ?? "").size;
}

async function worker(stage: Stage): Promise<void> {
  while (stage.begun < KILLS) {
    let id: string | undefined;
    for (let kill = 0; kill < KILLS_EACH && stage.begun < KILLS; kill++) {
      const name = `${stage.begun++}`;
      id = await killOnce(stage, name, id);
      stage.done++;
    }
  }
}

/** Runs a turn in a fresh conversation or in one there is, kills it, loads it; returns its id. */
async function killOnce(stage: Stage, name: string, id: string | undefined) {
  const { p, server, editor, growth, random } = stage;
  const part = random() * 0.97;
  const wait = Math.floor(random() * 4);
  const resume = id === undefined ? [] : ["-resume", id];
  const dir = join((await conversationFiles(p))[0]?.path ?? "", "..");
  const mm = p.mm(["-p", `Go ${name}`, ...resume]);
  const known = id ?? await idOf(mm, dir);
  const path = join(dir, `${known}.jsonl`);
  const target = (id === undefined ? 0 : statSync(path).size) + Math.max(1, part * growth);
  while (mm.ended === undefined && (sizeOf(path) < target)) await sleep(1);
  await sleep(wait);
  mm.signal("SIGKILL");
  if ((await mm.exit).signal === "SIGKILL") stage.killed++;

  const bytes = await readFile(path);
  const whole = bytes.subarray(0, bytes.lastIndexOf(10) + 1);
  const sent = server.requests.findLast((r) => r.lastUser === `Go ${name}`)?.messages ?? [];
  if (isTurnOpen(whole.toString("utf8"))) stage.inTurn++;

  const from = editor.updates.length;
  await editor.request("session/load", { sessionId: known, cwd: p.dir, mcpServers: [] });
  const repaired = await readFile(path);
  assert.ok(repaired.subarray(0, whole.length).equals(whole), `${name}: a whole line was changed`);
  assertShown(editor, { id: known, from, name });

  const { stopReason } = await editor.prompt(known, `Next ${name}`);
  assert.equal(stopReason, "end_turn", name);
  const next = server.requests.findLast((r) => r.lastUser === `Next ${name}`)?.messages ?? [];
  assert.deepEqual(next.slice(0, sent.length), sent, `${name}: what was sent is not all there`);
  await editor.request("session/close", { sessionId: known });
  return known;
}

/** Whether a conversation's lines end in the middle of a turn. */
function isTurnOpen(lines: string): boolean {
  const last = lines.trimEnd().split("\n").findLast((line) => line.includes('"type":"message"'));
  const message = last === undefined ? undefined : JSON.parse(last).message;
  return message?.role !== "assistant" || message.toolCalls !== undefined;
}

/** What people see again: the question, and every call ended. */
function assertShown(editor: AcpEditor, { id, from, name }: Json): void {
  const updates = editor.updates.slice(from).filter((u) => u.sessionId === id);
  const asked = updates.some((u) =>
    u.kind === "user_message_chunk" && u.update.content.text === `Go ${name}`
  );
  assert.ok(asked, `${name}: the question is not shown`);
  const open = new Set<string>();
  for (const { kind, update } of updates) {
    if (kind === "tool_call") open.add(update.toolCallId);
    if (kind === "tool_call_update" && /completed|failed/.test(update.status)) {
      open.delete(update.toolCallId);
    }
  }
  assert.deepEqual([...open], [], `${name}: a call is still open`);
}

/** The conversation of a process, by its lock. */
async function idOf(mm: MmProcess, dir: string): Promise<string> {
  for (;;) {
    const lock = readdirSync(dir).find((file) => file.includes(`.${mm.pid}_`));
    const id = lock?.slice(0, 36);
    if (id !== undefined && sizeOf(join(dir, `${id}.jsonl`)) > 0) return id;
    if (mm.ended !== undefined) throw new Error(`It ended without a conversation. ${mm.report()}`);
    await sleep(1);
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}
