/** Agents of others are asked like any other: by a person, a model and a script. */
import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { askAgent, writeAgents } from "../support/agents.ts";
import { forModel, inOrder } from "../support/model_server.ts";
import { type TestProject, withProject } from "../support/project.ts";
import { missing, type Peer, PEERS } from "./peers.ts";
import { type PeerScript, startPeerModel } from "./peer_model.ts";

/** How long a foreign program may take to start and answer, in milliseconds. */
const SLOW_MS = 90_000;

/** Variables of a provider that belong to you. */
const YOUR_KEYS = { OPENAI_API_KEY: "your-key", OPENAI_BASE_URL: "http://127.0.0.1:9/v1" };

/** Answers questions by what is in them; everything beside the point gets `ok`. */
const scriptOf = (peer: Peer): PeerScript => ({ question, results, tools }) => {
  // Programs ask models for titles, summaries and suggestions as well.
  if (!tools.includes(peer.run("").name)) return { text: "ok" };
  const last = question.slice(question.lastIndexOf("MARK"));
  if (last.startsWith("MARK-HANG")) return { hang: true };
  if (!last.startsWith("MARK-RUN")) return { text: "the answer of a peer" };
  if (results.length > 0) return { text: `done: ${results.join(" ").includes("it-ran")}` };
  return { calls: [peer.run("echo it-ran; touch canary")] };
};

async function withPeer(
  peer: Peer,
  body: (p: TestProject, model: Awaited<ReturnType<typeof startPeerModel>>) => Promise<void>,
  you: Parameters<typeof writeAgents>[1]["you"] = {},
): Promise<void> {
  await using model = await startPeerModel(scriptOf(peer));
  await withProject(async (p) => {
    const server = await p.model({
      reply: forModel(
        "you",
        inOrder({ toolCalls: [askAgent(peer.name, "MARK-ANSWER please")] }, { text: "I see." }),
      ),
    });
    const home = join(p.home, peer.name);
    await mkdir(home, { recursive: true });
    const entry = await peer.entry({ url: model.url, home });
    await writeAgents(p, { server, you, entries: { [peer.name]: entry } });
    await body(p, model);
  });
}

for (const peer of PEERS) {
  const why = missing(peer);
  const options = why === undefined ? {} : { skip: why };
  const ask = (text: string) => `/ask-${peer.name} ${text}`;

  test(
    `${peer.name} answers a person, a model and a script`,
    options,
    () =>
      withPeer(peer, async (p, model) => {
        const editor = p.editor([], { env: YOUR_KEYS });
        const session = await editor.start();
        const typed = editor.request("session/prompt", {
          sessionId: session,
          prompt: [{ type: "text", text: ask("MARK-ANSWER please") }],
        }, { timeoutMs: SLOW_MS });
        assert.equal((await typed).stopReason, "end_turn");
        assert.match(editor.text(session), /the answer of a peer$/u);
        const turn = editor.request("session/prompt", {
          sessionId: session,
          prompt: [{ type: "text", text: "Ask it" }],
        }, { timeoutMs: SLOW_MS });
        assert.equal((await turn).stopReason, "end_turn");
        const [call] = editor.toolCalls(session);
        assert.match(JSON.stringify(call.content), /the answer of a peer/u);

        const script = await p.runMm(["--ask", peer.name, "MARK-ANSWER please"], {
          env: YOUR_KEYS,
          timeoutMs: SLOW_MS,
        });
        assert.equal(script.code, 0, script.stderr);
        assert.equal(script.stdout, "the answer of a peer\n");
        // What is yours did not reach it.
        for (const { authorization } of model.requests) {
          assert.ok(!authorization?.includes("your-key"), authorization);
        }
      }, { yolo: true }),
  );

  test(
    `${peer.name} asks you before it runs a command: no and yes`,
    options,
    () =>
      withPeer(peer, async (p) => {
        const editor = p.editor([], { env: YOUR_KEYS });
        const session = await editor.start();
        for (const [answer, ran] of [["reject_once", false], ["allow_once", true]] as const) {
          const before = editor.permissions.length;
          editor.onPermission = answer;
          const prompt = [{ type: "text", text: ask(`MARK-RUN ${answer}`) }];
          await editor.request("session/prompt", { sessionId: session, prompt }, {
            timeoutMs: SLOW_MS,
          });
          const questions = editor.permissions.slice(before);
          assert.ok(questions.length > 0, `${peer.name} asked nothing`);
          for (const { toolCall } of questions) {
            assert.equal(toolCall._meta.mm.agent, peer.name);
            assert.match(JSON.stringify(toolCall), peer.shows);
          }
          assert.equal(p.exists("canary"), ran, answer);
        }
        // A script has nobody to ask: nothing runs.
        const script = await p.runMm(["--ask", peer.name, "MARK-RUN it"], {
          env: YOUR_KEYS,
          cwd: p.home,
          timeoutMs: SLOW_MS,
        });
        assert.notEqual(script.code, null, script.stderr);
      }),
  );

  test(
    `${peer.name} can be cancelled, and is asked again afterwards`,
    options,
    () =>
      withPeer(peer, async (p, model) => {
        const editor = p.editor([], { env: YOUR_KEYS });
        const session = await editor.start();
        const hanging = editor.request("session/prompt", {
          sessionId: session,
          prompt: [{ type: "text", text: ask("MARK-HANG") }],
        }, { timeoutMs: SLOW_MS });
        while (!model.requests.some(({ question }) => question.includes("MARK-HANG"))) {
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
        const cancelled = performance.now();
        editor.cancel(session);
        assert.equal((await hanging).stopReason, "cancelled");
        assert.ok(performance.now() - cancelled < 8000);
        const again = editor.request("session/prompt", {
          sessionId: session,
          prompt: [{ type: "text", text: ask("MARK-ANSWER please") }],
        }, { timeoutMs: SLOW_MS });
        assert.equal((await again).stopReason, "end_turn");
        assert.match(editor.text(session), /the answer of a peer$/u);
      }),
  );
}
