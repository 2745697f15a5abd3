import assert from "node:assert/strict";
import { appendFile, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { UserError } from "../base/errors.ts";
import { Conversation } from "../engine/conversation.ts";
import type { Message } from "../model/types.ts";
import { type StoreStage, withStore } from "./testing.ts";

/** A history in the middle of a turn, with everything that a message can have. */
const HISTORY: readonly Message[] = [
  {
    role: "user",
    text: "Look\u0000 \ud83d\ude00",
    images: [{ mimeType: "image/png", data: "AA==" }],
  },
  {
    role: "assistant",
    text: "",
    reasoning: "Hm.",
    toolCalls: [{ id: "1", name: "ls", arguments: "{ not json" }],
    callExtras: { "1": { signature: "x", nested: { b: 1, a: 2 } } },
  },
  { role: "tool", callId: "1", name: "ls", text: "" },
  { role: "assistant", text: " \n" },
  { role: "user", text: " " },
  {
    role: "assistant",
    text: "Two at once.",
    toolCalls: [
      { id: "2", name: "agent", arguments: '{"b":1,"a":2}' },
      { id: "2", name: "agent", arguments: "" },
    ],
  },
];

function copied({ store, cwd }: StoreStage, messages = HISTORY): string {
  const id = crypto.randomUUID();
  store.copy({ id, cwd, messages: [{ role: "system", text: "not saved" }, ...messages] });
  return id;
}

test("a copy is opened as it was written, byte for byte, its last calls open", () =>
  withStore(async (stage) => {
    const id = copied(stage);
    const before = await readFile(await stage.file(id), "utf8");
    assert.ok(!before.includes("not saved"));
    assert.equal((await stat(await stage.file(id))).mode & 0o777, 0o600);
    const opened = await stage.store.open(id, { events: true, asItIs: true });
    assert.equal(JSON.stringify(opened.messages), JSON.stringify(HISTORY));
    assert.equal(opened.next, HISTORY.length + 1);
    assert.equal(await readFile(await stage.file(id), "utf8"), before);
    await opened.file?.close(0);
    opened.lock?.release();
  }));

test("who goes on with a copy saves what comes then, and it is a conversation like any other", () =>
  withStore(async (stage) => {
    const id = copied(stage, [
      { role: "user", text: "Go" },
      { role: "assistant", text: "", toolCalls: [{ id: "1", name: "agent", arguments: "{}" }] },
    ]);
    const { log } = stage.begin();
    const opened = await stage.store.open(id, { events: false, asItIs: true });
    await log.adopt(opened);
    const conversation = new Conversation("system", { journal: log });
    conversation.restore(opened.messages);
    log.said("You are a fork");
    conversation.addToolResult({ callId: "1", name: "agent", text: "You are a fork" });
    conversation.addAssistant({ role: "assistant", text: "Done." });
    await log.close();
    const again = await stage.store.open(id, { events: true });
    assert.deepEqual(again.messages, conversation.messages.slice(1));
    assert.equal(again.title, "You are a fork");
    assert.equal(again.notice, undefined);
    await again.file?.close(0);
    again.lock?.release();
    assert.deepEqual((await stage.files()).filter((name) => name.includes(".bak")), []);
  }));

test("a copy that was damaged is refused as it is, and taken with its repair", () =>
  withStore(async (stage) => {
    const id = copied(stage);
    await appendFile(await stage.file(id), '{"type":"message"');
    await assert.rejects(
      stage.store.open(id, { events: false, asItIs: true }),
      (error) => error instanceof UserError && /it is damaged$/u.test(error.message),
    );
    const opened = await stage.store.open(id, { events: false });
    assert.equal(opened.messages.at(-1)?.role, "assistant");
    await opened.file?.close(0);
    opened.lock?.release();
  }));

test("a copy takes the place of no file and leaves nothing behind when it fails", () =>
  withStore(async (stage) => {
    const id = copied(stage);
    const before = await readFile(await stage.file(id), "utf8");
    const { store, cwd } = stage;
    assert.throws(() => store.copy({ id, cwd, messages: [] }), UserError);
    assert.equal(await readFile(await stage.file(id), "utf8"), before);
    assert.throws(() => store.copy({ id: "../../x", cwd, messages: [] }), /Cannot name/u);
    await writeFile(join(stage.dir, "no-directory"), "");
    const broken = stage.another({ stateDir: join(stage.dir, "no-directory") });
    assert.throws(
      () => broken.copy({ id: crypto.randomUUID(), cwd, messages: HISTORY }),
      (error) => error instanceof UserError && /Cannot write the conversation/u.test(error.message),
    );
    assert.equal((await stage.files()).length, 1);
  }));

test("secrets are hidden in a copy too", () =>
  withStore(async (stage) => {
    const store = stage.another({ secrets: ["sk-very-secret"] });
    const id = crypto.randomUUID();
    store.copy({ id, cwd: stage.cwd, messages: [{ role: "user", text: "key sk-very-secret" }] });
    assert.ok(!(await readFile(await stage.file(id), "utf8")).includes("very-secret"));
  }));

test("what lies beside a conversation follows it, and goes with it", () =>
  withStore(async (stage) => {
    const { log, turn } = stage.begin();
    assert.equal(log.sidecarPath("agents.jsonl"), undefined);
    turn("x", "y");
    const path = log.sidecarPath("agents.jsonl") ?? "";
    assert.equal(path, join(dirname(await stage.file(log.id)), `${log.id}.agents.jsonl`));
    await writeFile(path, "{}\n", { flag: "ax" });
    const { id } = log;
    await log.close();
    assert.equal(log.sidecarPath("agents.jsonl"), path);
    await log.renew(crypto.randomUUID());
    assert.equal(log.sidecarPath("agents.jsonl"), undefined);
    await log.adopt(await stage.store.open(id, { events: false }));
    assert.equal(log.sidecarPath("agents.jsonl"), path);
    await log.close();
    assert.deepEqual((await stage.store.list()).map((session) => session.id), [id]);
    await stage.store.delete(id);
    assert.deepEqual(await stage.files(), []);
    assert.deepEqual(await readdir(join(stage.dir, "projects")), []);
  }));
