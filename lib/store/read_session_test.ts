import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { appendFile, readFile, writeFile } from "node:fs/promises";
import { test } from "node:test";
import { INTERRUPTED } from "./repair_history.ts";
import { type StoreStage, withStore } from "./testing.ts";

/** A conversation with everything in it, closed; its file's bytes. */
async function saved(stage: StoreStage) {
  const { log, conversation, turn } = stage.begin();
  turn("Hello €🙂", "Hi");
  log.said("Run it");
  conversation.addUser("Run it");
  const call = { id: "c1", name: "bash", arguments: '{"command":"make"}' };
  conversation.addAssistant({ role: "assistant", text: "", reasoning: "hm", toolCalls: [call] });
  const view = { id: "call_1", name: "bash", title: "make", kind: "execute", input: {} } as const;
  log.event({ type: "tool_call", call: view });
  log.event({ type: "tool_update", callId: "call_1", status: "completed", text: "built" });
  conversation.addToolResult({ callId: "c1", name: "bash", text: "built" });
  log.event({ type: "text", messageId: "m", text: "Built." });
  conversation.addAssistant({ role: "assistant", text: "Built." });
  turn("Thanks", "Welcome");
  await log.close();
  const path = await stage.file(log.id);
  return {
    id: log.id,
    path,
    bytes: await readFile(path),
    messages: conversation.messages.slice(1),
  };
}

async function reopen({ store }: StoreStage, id: string) {
  const opened = await store.open(id, { events: true });
  await opened.file?.close(1000);
  opened.lock?.release();
  return opened;
}

test("a conversation is read as it was written, and its file stays as it is", () =>
  withStore(async (stage) => {
    const { id, path, bytes, messages } = await saved(stage);
    const opened = await reopen(stage, id);
    assert.deepEqual(opened.messages, messages);
    assert.equal(opened.title, "Hello €🙂");
    assert.equal(opened.notice, undefined);
    assert.deepEqual(
      opened.events.map((event) => event.type),
      ["user", "text", "user", "tool_call", "tool_update", "text", "user", "text"],
    );
    assert.deepEqual(await readFile(path), bytes);
    assert.deepEqual(await stage.files(), [`${id}.jsonl`]);
  }));

test("a file that was cut off anywhere gives what its whole lines say, closed, and is whole then", () =>
  withStore(async (stage) => {
    const { id, path, bytes, messages } = await saved(stage);
    const header = bytes.indexOf(10) + 1;
    const text = bytes.toString("utf8");
    for (let cut = header + 1; cut < bytes.length; cut += cut % 7 === 0 ? 1 : 5) {
      await writeFile(path, bytes.subarray(0, cut));
      const wholeLines = Buffer.from(text).subarray(0, cut).toString("utf8").split("\n").slice(
        1,
        -1,
      );
      const expected = wholeLines.map((line) => JSON.parse(line)).filter((e) =>
        e.type === "message"
      )
        .map((e) => e.message);
      let opened;
      try {
        opened = await reopen(stage, id);
      } catch (error) {
        assert.fail(`cut at ${cut}: ${error}`);
      }
      // The line that was cut may have been whole but for its newline.
      const known = opened.messages.filter((m) => !m.text.endsWith(INTERRUPTED));
      assert.ok(
        known.length >= expected.length && known.length <= expected.length + 1,
        `at ${cut}`,
      );
      assert.deepEqual(known, messages.slice(0, known.length));
      const last = opened.messages.at(-1);
      assert.ok(last === undefined || last.role === "assistant" && !last.toolCalls?.length);
      // Repaired once, there is nothing left to repair.
      const again = await readFile(path);
      assert.deepEqual((await reopen(stage, id)).messages, opened.messages);
      assert.deepEqual(await readFile(path), again);
      for (const line of again.toString("utf8").trimEnd().split("\n")) JSON.parse(line);
    }
  }));

test("a line that is no JSON is left out, the others are kept, and so is the file as it was", () =>
  withStore(async (stage) => {
    const { id, path, bytes, messages } = await saved(stage);
    const lines = bytes.toString("utf8").split("\n");
    const at = lines.findIndex((line) => line.includes('"callId":"c1","name":"bash"'));
    lines[at] = (lines[at] ?? "").slice(0, 20);
    const damaged = lines.join("\n");
    await writeFile(path, damaged);
    const opened = await reopen(stage, id);
    const expected = messages.map((message) =>
      message.role === "tool" ? { ...message, text: INTERRUPTED } : message
    );
    assert.deepEqual(opened.messages, expected);
    assert.match(opened.notice ?? "", /^One line .*"\/.*\.bak"$/);
    assert.deepEqual(await stage.files(), [`${id}.jsonl`, `${id}.jsonl.1.bak`]);
    assert.equal(await readFile(`${path}.1.bak`, "utf8"), damaged);
    const second = await reopen(stage, id);
    assert.deepEqual(second.messages, expected);
    assert.equal(second.notice, undefined);
  }));

test("bytes that are no UTF-8 are read as far as they go", () =>
  withStore(async (stage) => {
    const { id, path, bytes, messages } = await saved(stage);
    const euro = bytes.lastIndexOf("€");
    await writeFile(path, Buffer.concat([bytes.subarray(0, euro + 1), bytes.subarray(euro + 3)]));
    const opened = await reopen(stage, id);
    assert.equal(opened.messages.length, messages.length);
    assert.match(opened.messages[0]?.text ?? "", /^Hello .*\u{fffd}/u);
    assert.match(opened.notice ?? "", /One line/);
    assert.equal((await reopen(stage, id)).notice, undefined);
  }));

test("a call that was running when mm was killed gets a stored result, and the turn an end", () =>
  withStore(async (stage) => {
    const { log, conversation } = stage.begin();
    log.said("Run it");
    conversation.addUser("Run it");
    const toolCalls = [{ id: "c1", name: "bash", arguments: "{}" }];
    conversation.addAssistant({ role: "assistant", text: "", toolCalls });
    await log.close();
    const path = await stage.file(log.id);
    const before = await readFile(path, "utf8");
    const { messages } = await reopen(stage, log.id);
    assert.deepEqual(messages.slice(2), [
      { role: "tool", callId: "c1", name: "bash", text: INTERRUPTED },
      { role: "assistant", text: INTERRUPTED },
    ]);
    const after = await readFile(path, "utf8");
    assert.ok(after.startsWith(before));
    assert.equal(after.match(/\[interrupted\]/g)?.length, 2);
    // Nothing that was written changed, so no copy is kept.
    assert.deepEqual(await stage.files(), [`${log.id}.jsonl`]);
  }));

test("an answer that was cut off is kept as far as people saw it", () =>
  withStore(async (stage) => {
    const { log, conversation } = stage.begin();
    log.said("Tell");
    conversation.addUser("Tell");
    log.event({ type: "text", messageId: "m", text: "Once upon " });
    log.event({ type: "text", messageId: "m", text: "a time" });
    await log.close();
    const { messages } = await reopen(stage, log.id);
    assert.equal(messages.at(-1)?.text, `Once upon a time\n${INTERRUPTED}`);
  }));

test("lines that stand there twice count once", () =>
  withStore(async (stage) => {
    const { id, path, bytes, messages } = await saved(stage);
    const lines = bytes.toString("utf8").trimEnd().split("\n");
    await writeFile(path, lines.flatMap((line) => [line, line]).join("\n") + "\n");
    const opened = await reopen(stage, id);
    assert.deepEqual(opened.messages, messages);
    assert.equal(await readFile(path, "utf8"), bytes.toString("utf8"));
  }));

test("records of a later minor version are passed over and kept", () =>
  withStore(async (stage) => {
    const { id, path, bytes, messages } = await saved(stage);
    const text = bytes.toString("utf8").replace('"version":"1.0"', '"version":"1.7"') +
      '{"n":900,"type":"hologram","x":[1]}\n{"n":901,"type":"event","event":{"type":"smell"}}\n';
    await writeFile(path, text);
    const opened = await reopen(stage, id);
    assert.deepEqual(opened.messages, messages);
    assert.equal(opened.notice, undefined);
    assert.equal(await readFile(path, "utf8"), text);
  }));

test("a file of another major version is refused with what to do, and not touched", () =>
  withStore(async (stage) => {
    const { id, path, bytes } = await saved(stage);
    const text = bytes.toString("utf8").replace('"version":"1.0"', '"version":"2.0"');
    await writeFile(path, text);
    await assert.rejects(reopen(stage, id), /format 2\.0, and this mm knows 1; use .*1\.2\.3/);
    assert.equal(await readFile(path, "utf8"), text);
    assert.deepEqual(await stage.files(), [`${id}.jsonl`]);
  }));

test("a first line that was lost costs the title's neighbour, not the conversation", () =>
  withStore(async (stage) => {
    const { id, path, bytes, messages } = await saved(stage);
    await writeFile(path, bytes.subarray(10));
    assert.deepEqual((await stage.store.list({ cwd: stage.cwd })).map((one) => one.id), [id]);
    const opened = await reopen(stage, id);
    assert.deepEqual(opened.messages, messages);
    assert.match((await readFile(path, "utf8")).split("\n")[0] ?? "", /"type":"header"/);
    assert.equal((await reopen(stage, id)).notice, undefined);
  }));

test("a file without anything readable says so", () =>
  withStore(async (stage) => {
    const { id, path } = await saved(stage);
    await writeFile(path, "\0".repeat(5000));
    await assert.rejects(reopen(stage, id), /nothing in it is readable/);
    await writeFile(path, "");
    await assert.rejects(reopen(stage, id), /nothing in it is readable/);
    await appendFile(path, '{"n":1,"type":"message","message":{"role":"king","text":"x"}}\n');
    await assert.rejects(reopen(stage, id), /nothing in it is readable/);
  }));

test("a history that was compressed takes the place of the messages before it", () =>
  withStore(async (stage) => {
    const { log, conversation, turn } = stage.begin();
    turn("one", "1");
    turn("two", "2");
    conversation.restore([{ role: "user", text: "[summary]" }, { role: "assistant", text: "ok" }]);
    log.replaced();
    turn("three", "3");
    await log.close();
    const { messages, events } = await reopen(stage, log.id);
    assert.deepEqual(messages.map((m) => m.text), ["[summary]", "ok", "three", "3"]);
    assert.deepEqual(
      events.filter((event) => event.type === "user").map((event) => event.text),
      ["one", "two", "three"],
    );
  }));

test("lines that are longer than what is read at once are read, and survive a repair", () =>
  withStore(async (stage) => {
    const { log, conversation, turn } = stage.begin();
    const long = ["€🙂".repeat(900_000), "x".repeat(2_000_000), "y".repeat(700_000)];
    for (const [at, text] of long.entries()) turn(`question ${at}`, text);
    await log.close();
    const messages = conversation.messages.slice(1);
    const path = await stage.file(log.id);
    assert.deepEqual((await reopen(stage, log.id)).messages, messages);
    await appendFile(path, '{"n":1000,"type":"mess');
    const opened = await reopen(stage, log.id);
    assert.deepEqual(opened.messages, messages);
    assert.match(opened.notice ?? "", /One line/);
    assert.deepEqual((await reopen(stage, log.id)).messages, messages);
  }));
