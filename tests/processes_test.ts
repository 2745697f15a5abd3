/** However one process of a chain of asks ends, nothing of what it started goes on. */
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import {
  type AskingTree,
  dig,
  DUG,
  FLOOD,
  grown,
  growTree,
  PONG,
  privateDirectories,
  RELEASE,
  RELEASED,
  type RikersCommand,
  STUBBORN,
  type TopMode,
  TWO_SLEEPS,
  writeDiggers,
} from "./support/asking_tree.ts";
import { AcpEditor } from "./support/acp_editor.ts";
import { bash, writeAgents } from "./support/agents.ts";
import { processesOf } from "./support/leftovers.ts";
import type { Exit } from "./support/mm.ts";
import { forModel, type ModelServer, onTool, onUser } from "./support/model_server.ts";
import { treeOf, type TreeProcess, waitForTree, waitGone } from "./support/process_tree.ts";
import { type TestProject, withProject } from "./support/project.ts";

/** How long anything of a chain may run after its top was told to end. */
const GONE_MS = 2000;

/** The same where a command ignores TERM, which gives it the grace before KILL. */
const STUBBORN_GONE_MS = 3000;

interface Way {
  readonly name: string;
  /** Ends the top. */
  readonly end: (tree: AskingTree, p: TestProject) => unknown;
  /** The modes in which this ends it at once, and how. */
  readonly exits: Partial<Record<TopMode, Exit>>;
  /** Whether mm has the time to clean up behind itself. */
  readonly orderly: boolean;
  /** @default {TWO_SLEEPS} */
  readonly command?: RikersCommand;
  /** Whether it is also tried on a command that ignores TERM. */
  readonly stubborn?: true;
}

const status = (code: number): Exit => ({ code, signal: null });
const everywhere = (exit: Exit) => ({ "-acp": exit, "-line": exit, "-p": exit, "--ask": exit });
const KILLED: Exit = { code: null, signal: "SIGKILL" };

const WAYS: readonly Way[] = [
  {
    name: "the end of its input",
    end: ({ mm }) => mm.endInput(),
    // In line mode the turn is finished first; -p and --ask do not read it.
    exits: { "-acp": status(0) },
    orderly: true,
    stubborn: true,
  },
  {
    name: "SIGTERM",
    end: ({ mm }) => mm.signal("SIGTERM"),
    exits: everywhere(status(143)),
    orderly: true,
    stubborn: true,
  },
  {
    name: "SIGHUP",
    end: ({ mm }) => mm.signal("SIGHUP"),
    exits: everywhere(status(129)),
    orderly: true,
  },
  {
    name: "SIGINT twice",
    end: async ({ mm }) => {
      mm.signal("SIGINT");
      await sleep(100);
      mm.signal("SIGINT");
    },
    exits: { ...everywhere(status(130)), "-line": status(0) },
    orderly: true,
    stubborn: true,
  },
  {
    name: "kill -9",
    end: ({ mm }) => mm.signal("SIGKILL"),
    exits: everywhere(KILLED),
    orderly: false,
    stubborn: true,
  },
  {
    name: "kill -9 of its whole group",
    end: ({ mm }) => mm.signalGroup("SIGKILL"),
    exits: everywhere(KILLED),
    orderly: false,
  },
  {
    name: "a reader that closed its stdout",
    end: async ({ mm }, p) => {
      mm.closeStdout();
      // It is noticed with the next word for that reader.
      await p.write(RELEASE, "");
    },
    // For a protocol it is the end of the connection.
    exits: { ...everywhere(status(141)), "-acp": status(0) },
    orderly: true,
    command: RELEASED,
  },
];

for (const way of WAYS) {
  for (const [mode, exit] of Object.entries(way.exits) as [TopMode, Exit][]) {
    test(`mm ${mode} ended by ${way.name}: its agents and their commands end with it`, () =>
      withProject((p) => endAndLook(p, { way, mode, exit, command: way.command ?? TWO_SLEEPS })));
  }
}

for (const way of WAYS.filter(({ stubborn }) => stubborn)) {
  test(`mm -acp ended by ${way.name}: a command that ignores TERM ends, too`, () =>
    withProject((p) => {
      const mode = "-acp";
      const exit = way.exits[mode] ?? KILLED;
      return endAndLook(p, { way, mode, exit, command: STUBBORN });
    }));
}

async function endAndLook(
  p: TestProject,
  { way, mode, exit, command }: {
    readonly way: Way;
    readonly mode: TopMode;
    readonly exit: Exit;
    readonly command: RikersCommand;
  },
): Promise<void> {
  const tree = await growTree(p, mode, command);
  const ending = way.end(tree, p);
  await waitGone(tree.members, command === STUBBORN ? STUBBORN_GONE_MS : GONE_MS);
  await ending;
  assert.deepEqual(await tree.mm.waitForExit({ timeoutMs: 1000 }), exit);
  // What was started after the look at the chain carries the mark.
  assert.deepEqual(await processesOf(p.mark), []);
  if (way.orderly) assert.deepEqual(await privateDirectories(p), []);
}

test("mm -acp: a second SIGINT that comes later ends it without waiting; nothing is left all the same", () =>
  withProject(async (p) => {
    const tree = await growTree(p, "-acp", STUBBORN);
    tree.mm.signal("SIGINT");
    await sleep(350);
    tree.mm.signal("SIGINT");
    await waitGone(tree.members, STUBBORN_GONE_MS);
    assert.deepEqual(await tree.mm.exit, status(130));
  }));

test("mm -acp whose reader reads no more still hears SIGTERM", () =>
  withProject(async (p) => {
    const server = await writeDiggers(p, FLOOD);
    // Not the project's own editor: the last line will have no end, for nobody takes it.
    const editor = new AcpEditor(p.mm(["-acp"]), { cwd: p.dir });
    void dig(editor, await editor.start());
    const tree = await grown(p, editor.mm, server, FLOOD);
    tree.mm.readStdout(false);
    // Time for the pipe to become full; mm cannot say that it has.
    await sleep(1500);
    tree.mm.signal("SIGTERM");
    await waitGone(tree.members, STUBBORN_GONE_MS);
    tree.mm.readStdout(true);
    assert.deepEqual(await tree.mm.exit, status(143));
  }));

test("mm -line whose input ends finishes the turn first, then nothing is left", () =>
  withProject(async (p) => {
    const tree = await growTree(p, "-line", RELEASED);
    tree.mm.endInput();
    await sleep(300);
    assert.equal(tree.mm.ended, undefined);
    await p.write(RELEASE, "");
    await tree.mm.waitForOutput(DUG);
    await waitGone(tree.members, GONE_MS);
    assert.deepEqual(await tree.mm.exit, status(0));
    assert.deepEqual(await privateDirectories(p), []);
  }));

test("mm --ask that still waits for its question on stdin is ended by SIGINT", () =>
  withProject(async (p) => {
    const server = await p.model({});
    await writeAgents(p, { server });
    const mm = p.mm(["--ask", "bob"]);
    mm.write("half a question");
    // Nothing tells that it reads: it does when it has started.
    await sleep(1000);
    mm.signal("SIGINT");
    assert.deepEqual(await mm.waitForExit({ timeoutMs: GONE_MS }), status(130));
    assert.equal(mm.stdout, "");
  }));

for (const command of [TWO_SLEEPS, STUBBORN]) {
  const which = command === STUBBORN ? " that ignores TERM" : "";

  test(`kill -9 of bob: riker and his command${which} end, you hear of it, the next ask works`, () =>
    withDiggers(command, async ({ p, editor, session, server }) => {
      const asked = dig(editor, session);
      const tree = await grown(p, editor.mm, server, command);
      process.kill(tree.member("bob.yaml").pid, "SIGKILL");
      assert.match(String(await asked), /bob was killed by SIGKILL/);
      await waitGone(belowTop(tree), command === STUBBORN ? STUBBORN_GONE_MS : GONE_MS);
      await assertAnswers(editor, session);
    }));

  test(`kill -9 of riker: his command${which} ends, bob hears of it, the next ask works`, () =>
    withDiggers(command, async ({ p, editor, session, server }) => {
      const asked = dig(editor, session);
      const tree = await grown(p, editor.mm, server, command);
      const riker = tree.member("riker.yaml");
      process.kill(riker.pid, "SIGKILL");
      await asked;
      assert.match(lastToolResult(server, "bob"), /riker was killed by SIGKILL/);
      assert.equal(editor.text(session), DUG);
      await waitGone(
        tree.members.filter((one) => one.pid === riker.pid || one.parent === riker.pid),
        command === STUBBORN ? STUBBORN_GONE_MS : GONE_MS,
      );
      await assertAnswers(editor, session);
      assert.equal(
        (await tree.look()).find((one) => one.command.includes("bob.yaml"))?.pid,
        tree.member("bob.yaml").pid,
        "bob is still the same process",
      );
    }));
}

test("a process that a command left in the background ends with the session, not before", () =>
  withProject(async (p) => {
    const { editor, session, background } = await withBackground(p, "you", "start it");
    await editor.prompt(session, "and now?");
    await editor.request("session/close", { sessionId: session });
    await waitGone([background], GONE_MS);
    const again = await editor.newSession();
    await editor.prompt(again, "and now?");
  }));

test("a process that a command left in the background ends with mm", () =>
  withProject(async (p) => {
    const { editor, background } = await withBackground(p, "you", "start it");
    editor.mm.endInput();
    await waitGone([background], GONE_MS);
    assert.deepEqual(await editor.mm.exit, status(0));
    assert.deepEqual(await privateDirectories(p), []);
  }));

test("a process that a command left in the background ends with mm that is killed", () =>
  withProject(async (p) => {
    const { editor, background } = await withBackground(p, "you", "start it");
    editor.mm.signal("SIGKILL");
    await waitGone([background], GONE_MS);
  }));

test("a process that bob's command left in the background ends with the ask", () =>
  withProject(async (p) => {
    const { editor, session, background } = await withBackground(p, "bob", "/ask-bob start it");
    await waitGone([background], GONE_MS);
    await editor.prompt(session, "/ask-bob and now?");
  }));

/** Has an agent's command start a process in the background and waits for the end of that turn. */
async function withBackground(p: TestProject, model: string, prompt: string) {
  // The turn ends only when the process was seen: it can be gone with it at once.
  const seen = Promise.withResolvers<void>();
  const server = await p.model({
    reply: forModel(
      model,
      onUser("start it", { toolCalls: [bash("sleep 305 & echo started")] }),
      onTool("started", { text: "it runs", holdUntil: seen.promise }),
      onUser("and now?", { text: "now" }),
    ),
  });
  await writeAgents(p, { server, you: { yolo: true } });
  const editor = p.editor();
  const session = await editor.start();
  const asked = editor.prompt(session, prompt);
  const tree = await waitForTree(
    () => treeOf(editor.mm.pid, p.mark),
    (all) => all.some((one) => one.command === "sleep 305"),
  );
  const background = tree.find((one) => one.command === "sleep 305");
  assert.ok(background !== undefined);
  seen.resolve();
  await asked;
  return { editor, session, background };
}

interface Diggers {
  readonly p: TestProject;
  readonly server: ModelServer;
  readonly editor: AcpEditor;
  readonly session: string;
}

async function withDiggers(command: RikersCommand, body: (parts: Diggers) => Promise<void>) {
  await withProject(async (p) => {
    const server = await writeDiggers(p, command);
    const editor = p.editor();
    await body({ p, server, editor, session: await editor.start() });
  });
}

function belowTop(tree: AskingTree): TreeProcess[] {
  const helper = (one: TreeProcess) =>
    one.parent === tree.mm.pid && one.command.includes("mm-reaper");
  return tree.members.filter((one) => one.pid !== tree.mm.pid && !helper(one));
}

async function assertAnswers(editor: AcpEditor, session: string): Promise<void> {
  const before = editor.text(session).length;
  const { stopReason } = await editor.prompt(session, "/ask-bob ping");
  assert.equal(stopReason, "end_turn");
  assert.equal(editor.text(session).slice(before), PONG);
}

function lastToolResult(server: ModelServer, model: string): string {
  return server.requests.findLast((r) => r.model === model && r.last.role === "tool")?.last.text ??
    "";
}
