/** Who can be asked, with what permissions: `/agents` and `mm -check`. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { writeAgents } from "./support/agents.ts";
import { fakeAgent } from "./support/fake_agent.ts";
import { always, forModel } from "./support/model_server.ts";
import { withProject } from "./support/project.ts";

const RULES = {
  allow: ["bob/bash(git log *)", "bash", "ask_agent"],
  ask: ["*/bash(git push *)"],
  deny: ["bob/riker/bash", "eve/edit"],
};

test("/agents shows state, model, role, permissions in force and the last failure", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: forModel("bob", always({ text: "Hi." })) });
    await writeAgents(p, {
      server,
      you: { permissions: RULES },
      entries: {
        eve: { path: "bob.yaml", description: "reviews", yolo: true },
        mute: { command: fakeAgent({ behaviour: "exit", exitCode: 3, stderr: "no licence" }) },
      },
    });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "/ask-bob Hello");
    await assert.rejects(editor.prompt(session, "/ask-mute Hello"));
    const before = editor.text(session).length;
    await editor.prompt(session, "/agents");
    assert.deepEqual(editor.text(session).slice(before).trimEnd().split("\n").slice(0, 6), [
      "bob - running, llamacpp/bob, knows all about bob",
      "  gated calls ask; deny bob/riker/bash; ask */bash(git push *); allow bob/bash(git log *)",
      "eve - not started, reviews",
      "  gated calls run (yolo); deny eve/edit; ask */bash(git push *)",
      "mute - not started",
      "  gated calls ask; ask */bash(git push *)",
    ]);
    assert.match(
      editor.text(session).slice(before),
      /\n {2}last failure: mute failed: it could not start: .*status 3; its last words: no licence/u,
    );
    // What is in force changes with the session's own yolo.
    await editor.prompt(session, "/yolo on");
    const again = editor.text(session).length;
    await editor.prompt(session, "/agents");
    assert.match(editor.text(session).slice(again), /^bob .*\n {2}gated calls run \(yolo\);/u);
  }));

test("an agent that was itself asked shows that its calls ask whoever asked it", () =>
  withProject(async (p) => {
    const server = await p.model({});
    await writeAgents(p, { server, bob: { yolo: true, permissions: { allow: ["riker/bash"] } } });
    const editor = p.editor(["-config", "bob.yaml"], { env: { MM_ASK_DEPTH: "1" } });
    const session = await editor.start();
    await editor.prompt(session, "/agents");
    assert.match(editor.text(session), /\n {2}gated calls ask whoever asked this agent$/mu);
  }));

test("-check shows the same of each agent, and why one does not start", () =>
  withProject(async (p) => {
    const server = await p.model({ reply: always({ text: "ready" }) });
    await writeAgents(p, {
      server,
      you: { permissions: RULES, yolo: true },
      entries: {
        eve: { path: "bob.yaml", description: "reviews", yolo: false },
        mute: { command: fakeAgent({ behaviour: "exit", exitCode: 3, stderr: "no licence" }) },
      },
    });
    const { code, stdout } = await p.runMm(["-check"]);
    assert.equal(code, 1);
    assert.match(
      stdout,
      /^OK +agent bob +mm, llamacpp\/bob, ready in .*\n +knows all about bob\n +gated calls run \(yolo\); deny bob\/riker\/bash;/mu,
    );
    assert.match(stdout, /^OK +agent eve .*\n +reviews\n +gated calls ask; deny eve\/edit;/mu);
    assert.match(stdout, /^FAIL +agent mute +.*status 3; its last words: no licence/mu);
  }));
