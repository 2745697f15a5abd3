import assert from "node:assert/strict";
import { test } from "node:test";
import type { PermissionAnswer, PermissionQuestion } from "../gate/question.ts";
import type { CreateSessionOptions } from "../session/types.ts";
import { serveAcp } from "./agent.ts";
import { fieldsOf } from "./fields.ts";
import { pipes, RawPeer, ScriptedHost } from "./testing.ts";

const METHOD = "session/request_permission";

/** A session whose prompts do nothing until they are told, and a run in the background that asks. */
async function stage() {
  const { near, far } = pipes();
  let session: CreateSessionOptions | undefined;
  const turns: PromiseWithResolvers<void>[] = [];
  const host = new ScriptedHost({
    onCreate: (options) => session = options,
    turn: async ({ signal }) => {
      const turn = Promise.withResolvers<void>();
      turns.push(turn);
      signal.addEventListener("abort", () => turn.resolve(), { once: true });
      await turn.promise;
    },
  });
  const done = serveAcp({ host, streams: far, version: "1", signal: new AbortController().signal });
  const peer = new RawPeer(near);
  const id = await peer.hello();
  const ask = (
    title: string,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<PermissionAnswer> => {
    const { signal = new AbortController().signal } = options;
    const question: PermissionQuestion = {
      call: { id: title, name: "explore/bash", title, kind: "execute", input: { command: title } },
      agent: "explore",
      cwd: "/",
      taskId: "task-1f09ab",
    };
    assert.ok(session !== undefined);
    return session.askPermission(question, { signal });
  };
  const questions = () => peer.seen.filter((message) => message["method"] === METHOD);
  const asked = async (title: string) =>
    await peer.find((message) =>
      message["method"] === METHOD &&
      fieldsOf(fieldsOf(message["params"])["toolCall"])["toolCallId"] === title
    );
  const answer = async (question: object, optionId: string) =>
    await peer.send({
      id: fieldsOf(question)["id"],
      result: { outcome: { outcome: "selected", optionId } },
    });
  /** Sends a prompt and waits until it is under way; returns what ends it. */
  const prompt = async () => {
    const before = turns.length;
    const reply = peer.prompt(id, "Go on");
    // Questions and updates go out in order, so that a reply tells what came before it.
    while (turns.length === before) await new Promise((resolve) => setTimeout(resolve, 1));
    return {
      end: async () => {
        turns.at(-1)?.resolve();
        return await reply;
      },
    };
  };
  /** Waits for an answer of the agent to a request: what was sent before has come by then. */
  const settled = async () =>
    void await peer.request("session/set_mode", { sessionId: id, modeId: "ask" });
  return {
    peer,
    id,
    host,
    ask,
    asked,
    answer,
    questions,
    prompt,
    settled,
    end: () => peer.end(),
    done,
  };
}

test("a question of a run in the background waits for the next prompt, which begins with it", async () => {
  const { ask, asked, answer, questions, prompt, settled, end, done } = await stage();
  const answers = [ask("one"), ask("two")];
  await settled();
  assert.deepEqual(questions(), []);
  const turn = await prompt();
  await answer(await asked("one"), "allow_once");
  await answer(await asked("two"), "reject_session");
  assert.deepEqual(await Promise.all(answers), [{ kind: "allow_once" }, {
    kind: "reject_session",
  }]);
  assert.equal(fieldsOf((await turn.end())["result"])["stopReason"], "end_turn");
  await end();
  await done;
});

test("a question that comes during a prompt is asked at once, and stays open when the prompt ends", async () => {
  const { ask, asked, answer, prompt, settled, questions, end, done } = await stage();
  const turn = await prompt();
  const open = ask("one");
  const question = await asked("one");
  await turn.end();
  const late = ask("two");
  await settled();
  assert.equal(questions().length, 1);
  await answer(question, "allow_session");
  assert.deepEqual(await open, { kind: "allow_session" });
  const next = await prompt();
  await answer(await asked("two"), "reject_once");
  assert.deepEqual(await late, { kind: "reject_once" });
  await next.end();
  await end();
  await done;
});

test("a question of a run that is stopped is withdrawn: no prompt asks it", async () => {
  const { ask, questions, prompt, end, done } = await stage();
  const stopped = new AbortController();
  const open = ask("one", { signal: stopped.signal });
  stopped.abort();
  assert.deepEqual(await open, { kind: "cancelled" });
  await (await prompt()).end();
  assert.deepEqual(questions(), []);
  await end();
  await done;
});

test("a run that is stopped withdraws the question that was asked, and a late yes changes nothing", async () => {
  const { peer, ask, asked, answer, prompt, settled, end, done } = await stage();
  const turn = await prompt();
  const stopped = new AbortController();
  const open = ask("one", { signal: stopped.signal });
  const question = await asked("one");
  stopped.abort();
  assert.deepEqual(await open, { kind: "cancelled" });
  await peer.find((message) => message["method"] === "$/cancel_request");
  await answer(question, "allow_session");
  await settled();
  assert.equal(fieldsOf((await turn.end())["result"])["stopReason"], "end_turn");
  await end();
  await done;
});

test("a cancel of the prompt leaves the question of a run in the background as it is", async () => {
  const { peer, id, ask, asked, answer, prompt, end, done } = await stage();
  const turn = await prompt();
  const open = ask("one");
  const question = await asked("one");
  await peer.send({ method: "session/cancel", params: { sessionId: id } });
  assert.equal(fieldsOf((await turn.end())["result"])["stopReason"], "cancelled");
  await answer(question, "allow_once");
  assert.deepEqual(await open, { kind: "allow_once" });
  await end();
  await done;
});

test("the end of the session refuses what waits", async () => {
  const { peer, id, ask, questions, end, done } = await stage();
  const open = ask("one");
  await peer.result("session/close", { sessionId: id });
  assert.deepEqual(await open, {
    kind: "unavailable",
    reason: "the session ended before anybody was asked",
  });
  assert.deepEqual(questions(), []);
  await end();
  await done;
});
