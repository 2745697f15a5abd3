import assert from "node:assert/strict";
import { test } from "node:test";
import type { AcpEditor, Json } from "./support/acp_editor.ts";
import { askAgent, bash, writeAgents } from "./support/agents.ts";
import { always, forModel, inOrder, onTool, onUser } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { withProject } from "./support/project.ts";

/** Says hello as an editor that draws terminals, and opens a session. */
async function start(editor: AcpEditor): Promise<string> {
  await editor.initialize({ clientCapabilities: { _meta: { terminal_output: true } } });
  return await editor.newSession();
}

/** Every update about a call, in order. */
function updatesAbout(editor: AcpEditor, id: string): Json[] {
  return editor.updates.filter((u) => u.update.toolCallId === id).map((u) => u.update);
}

/** What the terminal of a call shows. */
function screen(editor: AcpEditor, id: string): string {
  return updatesAbout(editor, id).map((u) => u._meta?.terminal_output?.data ?? "").join("");
}

test("a command is a live terminal: announced, fed while it runs, ended with its status", () =>
  withProject(async (p) => {
    await oneAgent(
      p,
      inOrder(
        { toolCalls: [bash("echo one; until test -e go; do sleep 0.02; done; echo two; exit 3")] },
        { text: "ok" },
      ),
      { yolo: true },
    );
    const editor = p.editor();
    const session = await start(editor);
    const prompt = editor.prompt(session, "Go");
    await editor.waitForUpdate((u) => /one/.test(u.update._meta?.terminal_output?.data ?? ""));
    await p.write("go", "");
    await prompt;
    const [call] = editor.toolCalls(session);
    const id = call.toolCallId;
    const [announced, ...rest] = updatesAbout(editor, id);
    assert.deepEqual(announced._meta.terminal_info, { terminal_id: id, cwd: p.dir });
    assert.deepEqual(announced.content, [{ type: "terminal", terminalId: id }]);
    assert.equal(screen(editor, id), "one\ntwo\n");
    const ends = rest.filter((u) => u._meta?.terminal_exit !== undefined);
    assert.deepEqual(ends.map((u) => [u.status, u._meta.terminal_exit]), [
      ["failed", { terminal_id: id, exit_code: 3, signal: null }],
    ]);
    assert.equal(rest.at(-1), ends[0]);
    assert.deepEqual(ends[0].content, [{ type: "terminal", terminalId: id }]);
    // No text beside the terminal shows the same a second time.
    assert.ok(!rest.some((u) => u.content?.some((c: Json) => c.type !== "terminal")));
  }));

test("an editor without terminals gets the same command as text", () =>
  withProject(async (p) => {
    await oneAgent(p, inOrder({ toolCalls: [bash("echo one")] }, { text: "ok" }), { yolo: true });
    const editor = p.editor();
    const session = await editor.start();
    await editor.prompt(session, "Go");
    const [call] = editor.toolCalls(session);
    assert.match(call.content[0].content.text, /^```\none\n/);
    assert.doesNotMatch(JSON.stringify(editor.updates), /terminal/);
  }));

test("what the output does not show stands in the terminal: a timeout, a cancel, no output", () =>
  withProject(async (p) => {
    await oneAgent(p, [
      onUser("Slow", { toolCalls: [bash("printf begun; sleep 60", { timeout: 0.3 })] }),
      onUser("Stop", { toolCalls: [bash("echo begun; sleep 60")] }),
      onUser("Quiet", { toolCalls: [bash("true")] }),
      onTool("", { text: "ok" }),
    ], { yolo: true });
    const editor = p.editor();
    const session = await start(editor);
    await editor.prompt(session, "Slow");
    const prompt = editor.prompt(session, "Stop");
    await editor.waitForUpdate((u) => u.update._meta?.terminal_output?.data === "begun\n");
    editor.cancel(session);
    await prompt;
    await editor.prompt(session, "Quiet");
    const [slow, stop, quiet] = editor.toolCalls(session).map((call) => call.toolCallId);
    assert.match(screen(editor, slow), /^begun\n\[timed out after 0\.3 s/);
    assert.equal(screen(editor, stop), "begun\nCancelled");
    assert.equal(screen(editor, quiet), "[no output] [exit status 0]");
    const exits = [slow, stop, quiet].map((id) =>
      updatesAbout(editor, id).at(-1)._meta.terminal_exit.exit_code
    );
    assert.deepEqual(exits, [null, null, 0]);
  }));

test("a flood of output reaches the terminal in bounded pieces that say what is left out", () =>
  withProject(async (p) => {
    await oneAgent(
      p,
      inOrder(
        { toolCalls: [bash("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end")] },
        { text: "ok" },
      ),
      { yolo: true },
    );
    const editor = p.editor();
    const session = await start(editor);
    await editor.prompt(session, "Go");
    const [{ toolCallId }] = editor.toolCalls(session);
    const pieces = updatesAbout(editor, toolCallId)
      .flatMap((u) => u._meta?.terminal_output?.data ?? []);
    assert.ok(pieces.every((piece: string) => piece.length < 66_000));
    const shown = pieces.join("");
    const leftOut = [
      ...shown.matchAll(/\n\[\.\.\. (\d+) characters before this left out \.\.\.\]\n/g),
    ];
    const rest = leftOut.reduce((text, [note]) => text.replace(note, ""), shown);
    const missing = leftOut.reduce((sum, [, count]) => sum + Number(count), 0);
    assert.equal(rest.length + missing, 3_000_000 + "\nend\n".length);
    assert.ok(shown.endsWith("x\nend\n"));
  }));

test("a refused command says why in place of its terminal, after the whole command was asked about", () =>
  withProject(async (p) => {
    const long = `echo ${"word ".repeat(400)}`;
    await oneAgent(p, [
      onUser("No", { toolCalls: [bash(long)] }),
      onUser("Yes", { toolCalls: [bash(long)] }),
      onTool("", { text: "ok" }),
    ]);
    const editor = p.editor();
    const session = await start(editor);
    editor.onPermission = "reject_once";
    await editor.prompt(session, "No");
    editor.onPermission = "allow_once";
    await editor.prompt(session, "Yes");
    for (const { toolCall } of editor.permissions) {
      assert.ok(JSON.stringify([toolCall.title, toolCall.content]).includes(long.trim()));
    }
    const [refused, ran] = editor.toolCalls(session);
    assert.match(refused.content[0].content.text, /Not run: the user rejected/i);
    assert.deepEqual(ran.content, [{ type: "terminal", terminalId: ran.toolCallId }]);
    assert.match(screen(editor, ran.toolCallId), /^word word/);
  }));

test("bob's commands have their output as text: nothing of them is a terminal", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "Work")] }, { text: "ok" })),
        forModel("bob", inOrder({ toolCalls: [bash("echo his")] }, { text: "Done." })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const editor = p.editor();
    const session = await start(editor);
    await editor.prompt(session, "Go");
    const his = editor.toolCalls(session).find((call) => call.name === "bob/bash");
    assert.match(JSON.stringify(his.content), /his/);
    assert.doesNotMatch(JSON.stringify(updatesAbout(editor, his.toolCallId)), /terminal/);
  }));

test("a loaded conversation has the terminals of its commands, with their results", () =>
  withProject(async (p) => {
    await oneAgent(
      p,
      [
        onUser("Go", { toolCalls: [bash("echo one; exit 4"), bash("echo two")] }),
        always({ text: "ok" }),
      ],
      { sessions: { enabled: true } },
    );
    const first = p.editor();
    const session = await start(first);
    first.onPermission = (question) =>
      question.choose(/one/.test(question.toolCall.title) ? "allow_once" : "reject_once");
    await first.prompt(session, "Go");
    first.mm.endInput();
    await first.mm.exit;
    const second = p.editor();
    await second.initialize({ clientCapabilities: { _meta: { terminal_output: true } } });
    await second.request("session/load", { sessionId: session, cwd: p.dir, mcpServers: [] });
    const [ran, refused] = second.toolCalls(session);
    assert.equal(screen(second, ran.toolCallId), "one\n[exit status 4]");
    assert.equal(ran._meta.terminal_exit.exit_code, 4);
    assert.match(refused.content[0].content.text, /Not run/);
  }));
