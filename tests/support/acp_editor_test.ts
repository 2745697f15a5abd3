import { test } from "node:test";
import assert from "node:assert/strict";
import { AcpEditor, RpcError } from "./acp_editor.ts";
import { fakeAgent, type FakeAgentOptions } from "./fake_agent.ts";
import { type TestProject, withProject } from "./project.ts";

function editorOf(project: TestProject, options: FakeAgentOptions): AcpEditor {
  const program = fakeAgent(options);
  return new AcpEditor(project.mm([], { program }), { cwd: project.dir });
}

test("the editor opens a session, prompts and collects the answer", () =>
  withProject(async (project) => {
    const editor = editorOf(project, { behaviour: "answer", text: "line\u2028break 日本" });
    const session = await editor.start();
    assert.equal((await editor.prompt(session, "hi")).stopReason, "end_turn");
    assert.equal(editor.text(session), "line\u2028break 日本");
    editor.assertWire();
  }));

test("the editor answers permission questions by hand and by policy", () =>
  withProject(async (project) => {
    const editor = editorOf(project, { behaviour: "two_permissions" });
    const session = await editor.start();
    const first = editor.prompt(session, "go");
    const two = await editor.waitForPermission((p) => p.toolCall.toolCallId === "two");
    two.choose("reject_once");
    (await editor.waitForPermission()).choose("allow_once");
    await first;
    assert.equal(editor.text(session), "permissions: one=yes, two=no");
    assert.deepEqual(editor.toolCalls(session).map((c) => c.status), ["completed", "failed"]);
    editor.onPermission = "allow_always";
    await editor.prompt(session, "again");
    assert.match(editor.text(session), /one=always, two=always$/u);
  }));

test("the editor cancels", () =>
  withProject(async (project) => {
    const editor = editorOf(project, { behaviour: "wait_for_cancel", text: "begun" });
    const session = await editor.start();
    const answer = editor.prompt(session, "go");
    await editor.waitForText(session, "begun");
    editor.cancel(session);
    assert.equal((await answer).stopReason, "cancelled");
  }));

test("the editor reports errors, a program that dies, and one that cannot be started", () =>
  withProject(async (project) => {
    const failing = editorOf(project, { behaviour: "error", text: "no luck" });
    const session = await failing.start();
    await assert.rejects(
      failing.prompt(session, "x"),
      (e) => e instanceof RpcError && e.code === -32603 && e.message.includes("no luck"),
    );
    const dying = editorOf(project, { behaviour: "die", text: "half", stderr: "oh no" });
    const half = await dying.start();
    await assert.rejects(dying.prompt(half, "x"), /mm ended[\s\S]*status 7[\s\S]*oh no/u);
    assert.equal(dying.text(half), "half");
    const missing = new AcpEditor(project.mm([], { program: ["/nonexistent/mm"] }), {
      cwd: project.dir,
    });
    await assert.rejects(missing.initialize(), /could not be started/u);
  }));

test("the editor takes nothing but JSON-RPC lines from stdout", () =>
  withProject(async (project) => {
    const editor = editorOf(project, { behaviour: "noise" });
    await assert.rejects(editor.start(), /no JSON-RPC message: "Welcome to the fake agent!"/u);
    assert.throws(() => editor.assertWire(), /Faults on the wire/u);
  }));

test("the editor notices updates outside their session's time", () =>
  withProject(async (project) => {
    const early = editorOf(project, { behaviour: "early_update" });
    await early.start();
    assert.throws(() => early.assertWire(), /came before the answer to session\/new/u);
    const late = editorOf(project, { behaviour: "late_update", text: "in time" });
    const session = await late.start();
    await late.prompt(session, "hi");
    await late.waitForText(session, "too late");
    assert.throws(() => late.assertWire(), /came while no request of its session was open/u);
  }));
