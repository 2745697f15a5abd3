import { strict as assert } from "node:assert";
import { PassThrough } from "node:stream";
import { test } from "node:test";
import { setImmediate } from "node:timers";
import type { PermissionQuestion } from "../gate/question.ts";
import { createPipeInput } from "./line_input.ts";
import { createPaint } from "./paint.ts";
import { createPermissionAsker } from "./permission_asker.ts";
import { createRenderer } from "./render.ts";
import { createScreen } from "./screen.ts";

function asker() {
  let shown = "";
  const write = (text: string) => void (shown += text);
  const input = new PassThrough();
  const paint = createPaint(false);
  const renderer = createRenderer({
    screen: createScreen({ side: write }),
    paint,
    verbose: false,
    cwd: "/work",
  });
  const ask = createPermissionAsker({
    input: createPipeInput({ input, show: write, echo: (line) => write(`${line}\n`) }),
    renderer,
    paint,
  });
  return { ask, input, shown: () => shown };
}

function question(title: string, name = "bash"): PermissionQuestion {
  const call = { id: title, name, title, kind: "execute", input: { command: title } } as const;
  return { call, agent: "", cwd: "/work" };
}

const forever = { signal: new AbortController().signal };

test("createPermissionAsker() shows questions that arrive together one after the other", async () => {
  const { ask, input, shown } = asker();
  const answers = Promise.all([
    ask(question("one"), forever),
    ask(question("two", "bob/bash"), forever),
    ask(question("three"), forever),
  ]);
  input.write("y\nn\nnever\n");
  assert.deepEqual((await answers).map((answer) => answer.kind), [
    "allow_once",
    "reject_once",
    "reject_session",
  ]);
  const order = [...shown().matchAll(/🔐 (\S+): (\S+) .*\n.*> (\S+)/gu)].map((m) => m.slice(1));
  assert.deepEqual(order, [["bash", "one", "y"], ["bob/bash", "two", "n"], [
    "bash",
    "three",
    "never",
  ]]);
});

test("createPermissionAsker() says what an answer is after a line that is none", async () => {
  const { ask, input, shown } = asker();
  const answer = ask(question("one"), forever);
  input.write("\nsure\n/quit\ns\n");
  assert.deepEqual(await answer, { kind: "allow_session" });
  assert.equal(shown().match(/\nAnswer y, s, n or never\n/gu)?.length, 3);
});

test("createPermissionAsker() refuses with the true reason at the end of the input", async () => {
  const { ask, input } = asker();
  const answers = Promise.all([ask(question("one"), forever), ask(question("two"), forever)]);
  input.end();
  for (const answer of await answers) {
    assert(answer.kind === "unavailable");
    assert.match(answer.reason, /the input ended/u);
  }
});

test("createPermissionAsker() withdraws a question and goes on with the next", async () => {
  const { ask, input } = asker();
  const turn = new AbortController();
  const first = ask(question("one"), { signal: turn.signal });
  const second = ask(question("two"), forever);
  setImmediate(() => turn.abort());
  assert.deepEqual(await first, { kind: "cancelled" });
  input.write("y\n");
  assert.deepEqual(await second, { kind: "allow_once" });
});

test("createPermissionAsker() does not show a question that was withdrawn before", async () => {
  const { ask, shown } = asker();
  assert.deepEqual(await ask(question("one"), { signal: AbortSignal.abort() }), {
    kind: "cancelled",
  });
  assert.equal(shown(), "");
});

test("createPermissionAsker() says that the question of a run that ended needs no answer any more", async () => {
  const { ask, shown } = asker();
  const run = new AbortController();
  const asked = { ...question("one", "explore/bash"), agent: "explore", taskId: "task-1f09ab" };
  const answer = ask(asked, { signal: run.signal });
  setImmediate(() => run.abort());
  assert.deepEqual(await answer, { kind: "cancelled" });
  assert.match(
    shown(),
    /> \n {2}\(no answer is needed any more: explore, task-1f09ab, has ended\)\n$/u,
  );
});
