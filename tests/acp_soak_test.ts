import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import type { Json } from "./support/acp_editor.ts";
import { askAgent, bash, writeAgents } from "./support/agents.ts";
import { always, forModel, onTool, onUser } from "./support/model_server.ts";
import { withProject } from "./support/project.ts";
import { Random } from "./support/random.ts";

const SESSIONS = 50;
const PROMPTS = 200;

/** Prompts that run at the same time. */
const LANES = 8;

/** Prompts after which memory is measured for the first time: each session had one. */
const WARM_UP = SESSIONS;

/** How much memory may grow after that. */
const MAX_GROWTH = 1.5;

const SEED = 20_261_130;

/** What the model does, by the first word of the prompt. */
const KINDS = ["answer", "long", "command", "ask", "hang"] as const;
type Kind = (typeof KINDS)[number];

/** Bytes of memory that a process has, as `/proc` tells it. */
async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, "utf8");
  return Number(/^VmRSS:\s+(\d+) kB$/mu.exec(status)?.[1]) * 1024;
}

/** When a prompt is cancelled. */
type Cancel = "no" | "at once" | "when the model is asked";

test("50 sessions, 200 prompts, random cancels: one reply each, and memory stays", {
  skip: existsSync("/proc/self/status") ? false : "this system has no /proc",
  timeout: 120_000,
}, () =>
  withProject(async (p) => {
    const server = await p.model({
      slots: LANES,
      // Nothing is compressed: a summary would be asked for in words of the prompts.
      window: 10_000_000,
      reply: [
        forModel("bob", always({ text: "I am bob." })),
        onUser("hang", { chunks: ["Begun", " and"], holdAfter: 1, hang: true }),
        onUser("long", { chunks: Array.from({ length: 40 }, () => "word ".repeat(500)) }),
        onUser("command", { toolCalls: [bash("head -c 20000 /dev/zero | tr '\\0' x")] }),
        onUser("ask", { toolCalls: [askAgent("bob", "Who are you?")] }),
        onTool("", { text: "Done." }),
        always({ text: "Hello." }),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const editor = p.editor();
    await editor.initialize();
    const sessions = await Promise.all(
      Array.from({ length: SESSIONS }, () => editor.newSession()),
    );
    const random = new Random(SEED);
    const plan = Array.from({ length: PROMPTS }, (_, at) => {
      const kind: Kind = random.one(KINDS);
      const chosen = random.one(["no", "no", "at once", "when the model is asked"] as const);
      const cancel: Cancel = kind === "hang" && chosen === "no"
        ? "when the model is asked"
        : chosen;
      return { text: `${kind} ${at}`, kind, cancel };
    });
    // A conversation may go on with a prompt whose own request was cancelled before it was sent.
    server.allowNewPrefix(PROMPTS * 3);

    type Planned = (typeof plan)[number];
    const say = async (session: string, { text, cancel }: Planned): Promise<string> => {
      const reply = editor.prompt(session, text);
      if (cancel === "when the model is asked") {
        await server.waitForRequest((request) => request.lastUser === text);
      }
      if (cancel !== "no") editor.cancel(session);
      return (await reply).stopReason;
    };
    const ends: string[] = [];
    /** Gives each session its share of the prompts, one after the other; several sessions at a time. */
    const run = async (prompts: readonly Planned[]) => {
      const rest = [...sessions.keys()];
      const lane = async () => {
        for (let next = rest.shift(); next !== undefined; next = rest.shift()) {
          for (let at = next; at < prompts.length; at += SESSIONS) {
            const prompt = prompts[at];
            assert.ok(prompt !== undefined);
            const { text, cancel, kind } = prompt;
            const stop = await say(sessions[next] ?? "", prompt);
            if (cancel === "no") assert.equal(stop, "end_turn", text);
            // What was over when the cancel came has its own end.
            else assert.match(stop, /^(?:cancelled|end_turn)$/u, text);
            if (kind === "hang") assert.equal(stop, "cancelled", text);
            ends.push(stop);
          }
        }
      };
      await Promise.all(Array.from({ length: LANES }, lane));
    };
    await run(plan.slice(0, WARM_UP));
    const warm = await residentBytes(editor.mm.pid);
    await run(plan.slice(WARM_UP));
    const grown = await residentBytes(editor.mm.pid) / warm;
    assert.ok(grown <= MAX_GROWTH, `memory grew to ${grown.toFixed(2)} times of ${warm} bytes`);

    assert.equal(ends.length, PROMPTS);
    assert.ok(ends.filter((end) => end === "cancelled").length > PROMPTS / 5);
    // Ids of replies on the wire: each request has exactly one.
    const replies = editor.mm.stdout.trimEnd().split("\n").map((line): Json => JSON.parse(line))
      .filter((message) => message.method === undefined);
    assert.equal(replies.length, new Set(replies.map((message) => message.id)).size);
    assert.equal(replies.length, 1 + SESSIONS + PROMPTS);
    // No call was left open, in any session.
    for (const session of sessions) {
      const states = editor.toolCalls(session).map((call) => call.status);
      assert.ok(states.every((state) => state === "completed" || state === "failed"), `${states}`);
    }
    await Promise.all(sessions.map((id) => editor.request("session/close", { sessionId: id })));
    editor.mm.endInput();
    assert.deepEqual(await editor.mm.exit, { code: 0, signal: null });
  }));
