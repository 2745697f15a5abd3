/** Agents of others are asked in a mode in which they ask; never in one that bypasses permissions. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { writeAgents } from "./support/agents.ts";
import { fakeAgent } from "./support/fake_agent.ts";
import { withProject } from "./support/project.ts";

test("an agent that begins in a mode without questions is put into the one in which it asks", () =>
  withProject(async (p) => {
    const server = await p.model({});
    const telling = (more: { readonly modes: string[]; readonly modesAsOption?: boolean }) => ({
      command: fakeAgent({ behaviour: "tell_mode", ...more }),
    });
    await writeAgents(p, {
      server,
      // Also where you let everything run: then its questions are answered by your yolo.
      you: { yolo: true },
      entries: {
        auto: telling({ modes: ["auto", "default", "yolo"] }),
        option: telling({ modes: ["yolo", "plan", "default"], modesAsOption: true }),
        fine: telling({ modes: ["default", "yolo"] }),
        own: telling({ modes: ["build", "plan"] }),
      },
    });
    const editor = p.editor();
    const session = await editor.start();
    for (const name of ["auto", "option", "fine", "own"]) {
      await editor.prompt(session, `/ask-${name} Well?`);
    }
    assert.equal(editor.text(session), "mode defaultmode defaultmode defaultmode build");
  }));

test("an agent that cannot be made to ask is asked nothing, and the reason is told", () =>
  withProject(async (p) => {
    const server = await p.model({});
    await writeAgents(p, {
      server,
      entries: {
        only: { command: fakeAgent({ behaviour: "tell_mode", modes: ["yolo", "autoEdit"] }) },
        fixed: {
          command: fakeAgent({
            behaviour: "tell_mode",
            modes: ["yolo", "default"],
            modeIsFixed: true,
          }),
        },
      },
    });
    const only = await p.runMm(["--ask", "only", "Well?"]);
    assert.equal(only.code, 1);
    assert.equal(only.stdout, "");
    assert.match(
      only.stderr,
      /only failed: it is in its mode "yolo", in which it runs calls without/u,
    );
    const fixed = await p.runMm(["--ask", "fixed", "Well?"]);
    assert.equal(fixed.code, 1);
    assert.equal(fixed.stdout, "");
    assert.match(fixed.stderr, /fixed failed: it did not take its own mode "default"/u);
  }));
