/**
 * Saved conversations as an editor uses them: listed, loaded, resumed, deleted.
 *
 * @module
 */
import assert from "node:assert/strict";
import { readFile, utimes } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import type { AcpEditor, Json } from "./support/acp_editor.ts";
import { askAgent, bash, writeAgents } from "./support/agents.ts";
import { always, forModel, inOrder, onTool, onUser } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { type TestProject, withProject } from "./support/project.ts";
import { conversationFiles, savedFiles } from "./support/saved_files.ts";

/** Ends an editor's mm as an editor does, and waits for the end. */
async function leave(editor: AcpEditor): Promise<void> {
  editor.mm.endInput();
  await editor.mm.exit;
}

/** Starts another mm and says hello. */
async function another(p: TestProject): Promise<AcpEditor> {
  const editor = p.editor();
  await editor.initialize();
  return editor;
}

function load(editor: AcpEditor, p: TestProject, sessionId: string, method = "session/load") {
  return editor.request(method, { sessionId, cwd: p.dir, mcpServers: [] });
}

/** What was said and done, in order, free of ids: text of a message joined, calls with their end. */
function story(editor: AcpEditor, sessionId: string, from = 0): string[] {
  const lines: string[] = [];
  let last = "";
  for (const { sessionId: id, kind, update } of editor.updates.slice(from)) {
    if (id !== sessionId) continue;
    if (/_chunk$/.test(kind)) {
      const who = update._meta?.mm?.agent ?? "";
      const key = `${kind} ${update.messageId}`;
      if (key === last) lines[lines.length - 1] += update.content.text;
      else lines.push(`${kind.replace("_chunk", "")}${who && `(${who})`}: ${update.content.text}`);
      last = key;
    } else if (kind === "tool_call" || (kind === "tool_call_update" && isEnd(update))) {
      const text = (update.content ?? []).map((c: Json) => c.content?.text ?? "").join("");
      lines.push(`${kind} ${update.name ?? ""} ${update.title ?? ""} ${update.status} ${text}`);
      last = "";
    }
  }
  return lines;
}

function isEnd(update: Json): boolean {
  return update.status === "completed" || update.status === "failed";
}

test("a loaded conversation is sent again whole and in order, asks included, under new ids, before the reply", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel(
          "you",
          onUser("Check it", {
            reasoning: "Bob knows.",
            text: "I ask.",
            toolCalls: [askAgent("bob", "Is it good?"), bash("echo own")],
          }),
          onTool("", { text: "Bob says yes." }),
          onUser("Thanks", { text: "Gladly." }),
        ),
        forModel(
          "bob",
          onUser("Is it good?", { toolCalls: [bash("echo checked")] }),
          onTool("checked", { text: "It is good." }),
          onUser("Why?", { text: "Because 🙂." }),
        ),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const first = p.editor();
    const id = await first.start();
    await first.prompt(id, "/ask-bob Why?");
    await first.prompt(id, "Check it");
    const told = story(first, id);
    const ids = first.toolCalls(id).map((call) => call.toolCallId as string);
    assert.equal(ids.length, 3);
    await leave(first);

    const second = await another(p);
    const replied = await load(second, p, id);
    const before = second.updates.length;
    assert.deepEqual(replied.modes.currentModeId, "yolo");
    assert.deepEqual(story(second, id), [
      "user_message: /ask-bob Why?",
      ...told.slice(0, 1),
      "user_message: Check it",
      ...told.slice(1),
    ]);
    assert.match(told.join("\n"), /agent_message\(bob\): Because 🙂\./);
    assert.match(told.join("\n"), /tool_call bob\/bash/);
    const calls = second.toolCalls(id);
    assert.deepEqual(calls.map((call) => call.status), ["completed", "completed", "completed"]);
    assert.deepEqual(calls.map((call) => ids.includes(call.toolCallId)), [false, false, false]);
    const parent = calls.find((call) => call.name === "ask_agent");
    const child = calls.find((call) => call.name === "bob/bash");
    assert.equal(child?._meta.mm.parentCallId, parent?.toolCallId);
    assert.doesNotMatch(JSON.stringify(second.updates), new RegExp(ids.join("|")));

    await second.waitForUpdate((u) => u.kind === "available_commands_update");
    assert.equal((await second.prompt(id, "Thanks")).stopReason, "end_turn");
    assert.deepEqual(story(second, id, before), ["agent_message: Gladly."]);
    const request = server.requests.at(-1);
    assert.deepEqual(request?.messages.slice(1).map((m) => m.role), [
      ...["user", "assistant", "user", "assistant", "tool", "tool", "assistant", "user"],
    ]);
  }));

test("a resumed conversation is not sent again, and goes on with all of it", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, always({ text: "Yes." }));
    const first = p.editor();
    const id = await first.start();
    await first.prompt(id, "Remember me");
    await leave(first);
    const second = await another(p);
    await load(second, p, id, "session/resume");
    assert.deepEqual(story(second, id), []);
    await second.prompt(id, "Do you?");
    assert.deepEqual(story(second, id), ["agent_message: Yes."]);
    assert.deepEqual(server.requests[1]?.messages.slice(1).map((m) => m.content), [
      ...["Remember me", "Yes.", "Do you?"],
    ]);
    assert.equal((await conversationFiles(p)).length, 1);
  }));

test("the title is told once, when the first prompt begins, and again when a conversation is taken up", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ text: "Yes." }));
    const editor = p.editor();
    const id = await editor.start();
    const titles = () =>
      editor.updatesOf(id, "session_info_update").map((u) => u.title).filter(Boolean);
    await editor.prompt(id, "First\nquestion");
    await editor.prompt(id, "Second question");
    assert.deepEqual(titles(), ["First question"]);
    const kinds = editor.updates.filter((u) => u.sessionId === id).map((u) => u.kind);
    assert.ok(kinds.indexOf("session_info_update") < kinds.indexOf("agent_message_chunk"));
    const [info] = editor.updatesOf(id, "session_info_update").filter((u) => u.title);
    assert.equal(new Date(info.updatedAt).toISOString(), info.updatedAt);
    await editor.prompt(id, "/new");
    await editor.prompt(id, "Third question");
    assert.deepEqual(titles(), ["First question", "Third question"]);
    await editor.prompt(id, `/resume ${id}`);
    assert.deepEqual(titles(), ["First question", "Third question", "First question"]);
    assert.match(story(editor, id).join("\n"), /user_message: Second question\nagent_message: Yes/);
  }));

test("the list has pages, goes by directory, and refuses a cursor that is none", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ text: "Yes." }));
    const editor = p.editor();
    await editor.initialize();
    const ids: string[] = [];
    for (let at = 0; at < 52; at++) {
      const id = await editor.newSession();
      await editor.prompt(id, `Question ${at}`);
      await editor.request("session/close", { sessionId: id });
      ids.push(id);
    }
    const files = await conversationFiles(p);
    // Two of them were used at the same moment, on the border of the pages.
    for (const { path, name } of files) {
      const time = new Date(1_800_000_000_000 + Math.max(2, ids.indexOf(name.slice(0, 36))) * 1000);
      await utimes(path, time, time);
    }
    const first = await editor.request("session/list", { cwd: p.dir });
    assert.equal(first.sessions.length, 50);
    assert.deepEqual(first.sessions[0], {
      sessionId: ids[51],
      cwd: p.dir,
      title: "Question 51",
      updatedAt: new Date(1_800_000_051_000).toISOString(),
    });
    const second = await editor.request("session/list", { cursor: first.nextCursor });
    assert.equal(second.nextCursor, undefined);
    const all = [...first.sessions, ...second.sessions].map((s: Json) => s.sessionId);
    assert.deepEqual([...all].sort(), [...ids].sort());
    assert.deepEqual((await editor.request("session/list", { cwd: p.home })).sessions, []);
    for (const cursor of ["nonsense", "", first.nextCursor.slice(3), btoa("1 ../../etc")]) {
      await assert.rejects(editor.request("session/list", { cursor }), { code: -32602 });
    }
    await assert.rejects(editor.request("session/list", { cwd: "relative" }), { code: -32602 });
  }));

test("a deleted conversation is gone, one that is open here too; an unknown one is no error", () =>
  withProject(async (p) => {
    await oneAgent(p, onUser("Wait", { text: "Waiting", hang: true, holdAfter: 1 }));
    const editor = p.editor();
    const id = await editor.start();
    const running = editor.prompt(id, "Wait");
    await editor.waitForText(id, "Waiting");
    await editor.request("session/delete", { sessionId: id });
    assert.equal((await running).stopReason, "cancelled");
    assert.deepEqual(await savedFiles(p), []);
    for (const sessionId of [id, "no-such", "../../../../etc/passwd", ""]) {
      assert.deepEqual(await editor.request("session/delete", { sessionId }), {});
    }
    assert.deepEqual((await editor.request("session/list", {})).sessions, []);
    assert.match(await readFile(join(p.dir, "agent.yaml"), "utf8"), /llamacpp/);
  }));

test("what cannot be loaded is an error that says why, and opens nothing", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ text: "Yes." }));
    const other = p.editor();
    const id = await other.start();
    await other.prompt(id, "Hello");
    const editor = await another(p);
    for (const method of ["session/load", "session/resume"]) {
      for (const unknown of ["no-such", `../${id}`, crypto.randomUUID()]) {
        await assert.rejects(load(editor, p, unknown, method), { code: -32002 });
      }
      await assert.rejects(load(editor, p, id, method), (error: Json) => {
        assert.equal(error.code, -32603);
        assert.match(error.data.details, new RegExp(`open \\(process ${other.mm.pid}\\)`));
        return true;
      });
      const elsewhere = { sessionId: id, cwd: join(p.dir, "none"), mcpServers: [] };
      await assert.rejects(editor.request(method, elsewhere), { code: -32602 });
    }
    await assert.rejects(editor.prompt(id, "Hello"), { code: -32002 });
    await leave(other);
    await load(editor, p, id);
    // An editor that asks again gets it again: it has lost what it had.
    const before = editor.updates.length;
    await load(editor, p, id);
    assert.deepEqual(story(editor, id, before), ["user_message: Hello", "agent_message: Yes."]);
    assert.equal((await editor.prompt(id, "Still there?")).stopReason, "end_turn");
  }));

test("a call that was running when mm was killed is shown as failed when it is loaded", () =>
  withProject(async (p) => {
    await oneAgent(
      p,
      inOrder({ toolCalls: [bash("sleep 0.3; touch started; sleep 60")] }, { text: "Still here." }),
      { yolo: true },
    );
    const first = p.editor();
    const id = await first.start();
    first.prompt(id, "Wait").catch(() => {});
    while (!p.exists("started")) await new Promise((resolve) => setTimeout(resolve, 20));
    first.mm.signal("SIGKILL");
    await first.mm.exit;
    const second = await another(p);
    await load(second, p, id);
    const [call] = second.toolCalls(id);
    assert.equal(call?.status, "failed");
    assert.match(JSON.stringify(call?.content), /\[interrupted\]/);
    await second.prompt(id, "And now?");
    assert.match(second.text(id), /Still here\.$/);
  }));

test("an mm that saves nothing offers none of it", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ text: "Yes." }));
    const editor = p.editor([], { env: { AGENT_SESSIONS: "off" } });
    const { agentCapabilities } = await editor.initialize();
    assert.equal(agentCapabilities.loadSession, false);
    assert.deepEqual(agentCapabilities.sessionCapabilities, { close: {} });
    const id = await editor.newSession();
    await editor.prompt(id, "Hello");
    for (const method of ["session/load", "session/resume", "session/list", "session/delete"]) {
      await assert.rejects(load(editor, p, id, method), { code: -32601 });
    }
    assert.ok(editor.updatesOf(id, "session_info_update").every((u) => u.title === undefined));
    assert.deepEqual(await savedFiles(p), []);
    const saving = await another(p);
    assert.equal((await saving.initialize()).agentCapabilities.loadSession, true);
  }));
