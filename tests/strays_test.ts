/** A descendant that left its process group ends with what started it all the same, on Linux. */
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { bash, writeAgents } from "./support/agents.ts";
import { processesOf } from "./support/leftovers.ts";
import { forModel, type ModelServer, onTool, onUser } from "./support/model_server.ts";
import { type TestProject, withProject } from "./support/project.ts";

const skip = process.platform === "linux" ? {} : { skip: "needs /proc" };

/** A process in a session of its own, whose parent is gone. */
const ESCAPE = "setsid sh -c 'trap \"\" HUP; sleep 320 & sleep 321; true' >/dev/null 2>&1 &";

/** You and bob, whose commands let a process escape. */
async function escaping(p: TestProject): Promise<ModelServer> {
  const server = await p.model({
    reply: [
      onUser("leave", { toolCalls: [bash(`${ESCAPE} sleep 0.2`)] }),
      onUser("stay", { toolCalls: [bash(`${ESCAPE} sleep 322`)] }),
      onUser("hurry", { toolCalls: [bash(`${ESCAPE} sleep 322`, { timeout: 1 })] }),
      onTool(/(?:)/u, { text: "Done." }),
    ].map((rule) => (request) => forModel("you", rule)(request) ?? forModel("bob", rule)(request)),
  });
  await writeAgents(p, { server, you: { yolo: true } });
  return server;
}

const escaped = async (p: TestProject) =>
  (await processesOf(p.mark)).filter(({ command }) => /sleep 32\d/u.test(command)).length;

async function until(holds: () => Promise<boolean>, ms: number): Promise<void> {
  for (const end = performance.now() + ms; !await holds(); await sleep(25)) {
    assert.ok(performance.now() < end, `not within ${ms} ms`);
  }
}

test(
  "a process that a command let escape ends with the session, with its timeout and with a cancel",
  skip,
  () =>
    withProject(async (p) => {
      await escaping(p);
      const editor = p.editor();
      const session = await editor.start();
      await editor.prompt(session, "leave");
      assert.ok(await escaped(p) > 0, "it goes on while the session does");
      await editor.request("session/close", { sessionId: session });
      assert.equal(await escaped(p), 0);

      const other = await editor.newSession();
      await editor.prompt(other, "hurry");
      assert.equal(await escaped(p), 0);

      const cancelled = editor.prompt(other, "stay");
      await until(async () => await escaped(p) >= 3, 10_000);
      editor.cancel(other);
      await cancelled;
      assert.equal(await escaped(p), 0);
    }),
);

test(
  "a process that bob's command let escape ends with the ask",
  skip,
  () =>
    withProject(async (p) => {
      await escaping(p);
      const editor = p.editor();
      const session = await editor.start();
      await editor.prompt(session, "/ask-bob leave");
      await until(async () => await escaped(p) === 0, 3000);
    }),
);

for (const signal of ["SIGKILL", "SIGTERM"] as const) {
  test(
    `a process that a command let escape ends with mm that is ended by ${signal}`,
    skip,
    () =>
      withProject(async (p) => {
        await escaping(p);
        const editor = p.editor();
        const session = await editor.start();
        void editor.prompt(session, "stay").catch(() => {});
        const other = await editor.newSession();
        void editor.prompt(other, "/ask-bob stay").catch(() => {});
        await until(async () => await escaped(p) >= 6, 15_000);
        editor.mm.signal(signal);
        await until(async () => await escaped(p) === 0, 4000);
      }),
  );
}
