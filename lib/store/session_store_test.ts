import assert from "node:assert/strict";
import { mkdir, readFile, rm, stat, symlink, utimes, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { isSessionId, projectDir } from "./places.ts";
import { SessionFile } from "./session_file.ts";
import { type StoreStage, withStore } from "./testing.ts";

async function closed(stage: StoreStage, question: string, cwd = stage.cwd) {
  const { log, turn } = stage.begin({ cwd });
  turn(question, "Yes.");
  await log.close();
  return log.id;
}

test("nothing is created before the first prompt", () =>
  withStore(async (stage) => {
    const { log } = stage.begin();
    log.event({ type: "notice", severity: "info", text: "hello" });
    log.added({ role: "user", text: "not said" });
    log.rest();
    await log.close();
    assert.deepEqual(await stage.files(), []);
  }));

test("files are for their owner alone, and so are the directories", () =>
  withStore(async (stage) => {
    const store = stage.another({ stateDir: join(stage.dir, "a", "b") });
    const { log, turn } = stage.begin({ store });
    turn("x", "y");
    const dir = projectDir(join(stage.dir, "a", "b"), stage.cwd);
    assert.equal((await stat(join(dir, `${log.id}.jsonl`))).mode & 0o777, 0o600);
    for (const path of [dir, dirname(dir), join(stage.dir, "a", "b"), join(stage.dir, "a")]) {
      assert.equal((await stat(path)).mode & 0o777, 0o700, path);
    }
    await log.close();
  }));

test("the system prompt is not saved, and neither are secrets, wherever they stand", () =>
  withStore(async (stage) => {
    const secret = 'nsk"\\very secret';
    const store = stage.another({ secrets: [secret, undefined, "short"] });
    const { log, conversation } = stage.begin({ store });
    log.said(`My key is ${secret}, short`);
    conversation.addUser(`\\${secret}${secret}`);
    log.event({
      type: "tool_call",
      call: { id: "1", name: "x", title: "x", kind: "other", input: { deep: [{ key: secret }] } },
    });
    await log.close();
    const text = await readFile(await stage.file(log.id), "utf8");
    assert.ok(!text.includes("very secret") && text.includes("short"));
    assert.equal(text.match(/\[secret\]/g)?.length, 5);
    assert.ok(!text.includes('"system"'));
    for (const line of text.trimEnd().split("\n")) JSON.parse(line);
  }));

test("the list has title, directory, size and time, the newest first, of one project or of all", () =>
  withStore(async (stage) => {
    const other = join(stage.dir, "other");
    await mkdir(other);
    const first = await closed(stage, "First\n  question");
    const second = await closed(stage, "x".repeat(500));
    const third = await closed(stage, "Elsewhere", other);
    for (const [at, id] of [first, second, third].entries()) {
      const time = new Date(1_800_000_000_000 + at * 1000);
      await utimes(await stage.file(id), time, time);
    }
    const { store, cwd } = stage;
    const all = await store.list();
    assert.deepEqual(all.map((one) => one.id), [third, second, first]);
    assert.deepEqual(all.map((one) => one.cwd), [other, cwd, cwd]);
    const listed = await store.list({ cwd });
    assert.deepEqual(listed.map((one) => one.title), [`${"x".repeat(79)}…`, "First question"]);
    assert.equal(listed[1]?.size, (await stat(await stage.file(first))).size);
    assert.equal(listed[1]?.updatedAt, 1_800_000_000_000);
    assert.deepEqual(await store.list({ cwd: join(stage.dir, "nowhere") }), []);
    assert.deepEqual(
      (await store.list({ after: { updatedAt: 1_800_000_002_000, id: third }, limit: 1 }))
        .map((one) => one.id),
      [second],
    );
  }));

test("a project is one, whichever link leads to it", () =>
  withStore(async (stage) => {
    const link = join(stage.dir, "link");
    await symlink(stage.cwd, link);
    const id = await closed(stage, "Here", link);
    assert.deepEqual((await stage.store.list({ cwd: stage.cwd })).map((one) => one.id), [id]);
  }));

test("a beginning of an id is enough, unless it is that of several", () =>
  withStore(async (stage) => {
    const ids = [await closed(stage, "a"), await closed(stage, "b")];
    const [id = "", other = ""] = ids;
    let shared = 0;
    while (id[shared] === other[shared]) shared++;
    const { store, cwd } = stage;
    assert.equal(await store.find(id.slice(0, shared + 1).toUpperCase(), cwd), id);
    await assert.rejects(store.find("", cwd), /beginning of 2 conversations/);
    await assert.rejects(store.find("zz", cwd), /no conversation "zz" of this directory/);
    await assert.rejects(store.find(id, dirname(cwd)), /no conversation/);
  }));

test("an id is never taken for a path", () =>
  withStore(async (stage) => {
    const id = await closed(stage, "a");
    await writeFile(join(stage.dir, `${id}.jsonl`), await readFile(await stage.file(id)));
    for (const wrong of [`../${id}`, `../../${id}`, "../../../../etc/passwd", "", ".", `${id}\0`]) {
      assert.equal(isSessionId(wrong), false);
      await assert.rejects(stage.store.open(wrong, { events: false }), /There is no conversation/);
      await stage.store.delete(wrong);
    }
    assert.equal((await stage.files()).length, 1);
  }));

test("a conversation that is open cannot be opened or removed a second time", () =>
  withStore(async (stage) => {
    const { log, turn } = stage.begin();
    turn("x", "y");
    const { store } = stage;
    await assert.rejects(store.open(log.id, { events: false }), /open in this mm already/);
    await assert.rejects(store.delete(log.id), /open in this mm already/);
    assert.equal((await store.list())[0]?.open, true);
    await log.close();
    assert.equal((await store.list())[0]?.open, false);
    await store.delete(log.id);
    await store.delete(log.id);
    assert.deepEqual(await stage.files(), []);
  }));

test("what is said after a conversation was opened again is added behind it", () =>
  withStore(async (stage) => {
    const id = await closed(stage, "First");
    const { log, conversation, turn } = stage.begin();
    const opened = await stage.store.open(id, { events: false });
    await log.adopt(opened);
    conversation.restore(opened.messages);
    assert.equal(log.title, "First");
    turn("Second", "Yes.");
    await log.close();
    const again = await stage.store.open(id, { events: true });
    assert.deepEqual(again.messages.map((m) => m.text), ["First", "Yes.", "Second", "Yes."]);
    assert.equal(again.title, "First");
    assert.deepEqual(await stage.files().then((names) => names.length), 2);
    await again.file?.close(0);
    again.lock?.release();
  }));

test("a fresh conversation of the same session gets a file of its own", () =>
  withStore(async (stage) => {
    const { log, conversation, turn } = stage.begin();
    turn("First", "1");
    const first = log.id;
    await log.renew(crypto.randomUUID());
    conversation.clear();
    turn("Second", "2");
    await log.close();
    assert.notEqual(log.id, first);
    const { messages } = await stage.store.open(log.id, { events: false });
    assert.deepEqual(messages.map((m) => m.text), ["Second", "2"]);
    assert.deepEqual((await stage.store.list()).map((one) => one.title).sort(), [
      "First",
      "Second",
    ]);
  }));

test("of more conversations than are kept the oldest go, but none that is open", () =>
  withStore(async (stage) => {
    const store = stage.another({ keep: 3 });
    const open = stage.begin({ store });
    open.turn("Open", "yes");
    const ids = [];
    for (let at = 0; at < 5; at++) {
      const { log, turn } = stage.begin({ store });
      turn(`Question ${at}`, "Yes.");
      await log.close();
      await store.settled();
      const time = new Date(Date.now() - (100 - at) * 1000);
      await utimes(await stage.file(log.id), time, time);
      await utimes(await stage.file(open.log.id), new Date(0), new Date(0));
      ids.push(log.id);
    }
    const kept = (await store.list()).map((one) => one.title);
    assert.deepEqual(kept, ["Question 4", "Question 3", "Question 2", "Open"]);
    await open.log.close();
  }));

test("a directory that cannot be made is told once, and the next prompt tries again", () =>
  withStore(async (stage) => {
    const blocked = join(stage.dir, "blocked");
    await writeFile(blocked, "a file");
    const store = stage.another({ stateDir: blocked });
    const { log, conversation, turn, notices } = stage.begin({ store });
    turn("one", "1");
    turn("two", "2");
    assert.equal(notices.length, 1);
    assert.match(notices[0] ?? "", /^warning: .*not saved from here on: .*ENOTDIR|EEXIST/);
    await rm(blocked);
    turn("three", "3");
    assert.equal(notices[1], "info: This conversation is saved again");
    await log.close();
    const { messages, title } = await store.open(log.id, { events: false });
    assert.deepEqual(messages, conversation.messages.slice(1));
    assert.equal(title, "three");
  }));

test("a disk without room is an error of the write, and half a line is taken back", {
  skip: !(await stat("/dev/full").then(() => true, () => false)),
}, () =>
  withStore(async (stage) => {
    const full = SessionFile.open("/dev/full");
    assert.throws(() => full.append("x\n"), { code: "ENOSPC" });
    await full.close(100);
    const path = join(stage.dir, "f");
    const file = SessionFile.create(path);
    file.append("whole\n");
    assert.throws(() => file.append("no end"), /A line has to end/);
    await file.close(100);
    assert.equal(await readFile(path, "utf8"), "whole\n");
    assert.throws(() => SessionFile.create(path), { code: "EEXIST" });
  }));
