import assert from "node:assert/strict";
import { chmod, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { createStartChild } from "./child.ts";
import { groupMembers, isGone } from "./group.ts";
import type { Child } from "./process.ts";

const held = new Set<number>();
const startChild = createStartChild({
  reaper: {
    mark: `${crypto.randomUUID()}.`,
    ready: () => Promise.resolve(),
    add: (pgid) => held.add(pgid),
    del: (pgid) => held.delete(pgid),
    addDir() {},
    delDir() {},
    close() {},
  },
});

function start(script: string): Promise<Child> {
  return startChild({
    // Node's pipes are sockets, at which bash reads ~/.bashrc, as if rsh had started it.
    command: ["bash", "--norc", "-c", script],
    cwd: tmpdir(),
    env: { PATH: process.env["PATH"] ?? "" },
  });
}

const bytes = (text: string) => new TextEncoder().encode(text);

async function textOf(stream: ReadableStream<Uint8Array>): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  for await (const chunk of stream) text += decoder.decode(chunk, { stream: true });
  return text;
}

/** Reads until `wanted` stands in the output, and leaves the stream readable. */
async function readUntil(child: Child, wanted: string): Promise<string> {
  const reader = child.stdout.getReader();
  let text = "";
  while (!text.includes(wanted)) {
    const { value, done } = await reader.read();
    if (done) break;
    text += new TextDecoder().decode(value);
  }
  reader.releaseLock();
  return text;
}

test("bytes go to a child and come back in order", async () => {
  const child = await start("cat");
  const writer = child.stdin.getWriter();
  const sent: string[] = [];
  const answer = textOf(child.stdout);
  for (let i = 0; i < 2000; i++) {
    sent.push(`${i} ${"ü".repeat(i % 300)}\n`);
    await writer.write(bytes(sent[i] ?? ""));
  }
  await writer.close();
  assert.equal(await answer, sent.join(""));
  assert.deepEqual(await child.ended, { code: 0, signal: null });
});

test("the last output of a child that ended is still read", async () => {
  const child = await start("head -c 3000000 /dev/zero; echo end");
  const read = textOf(child.stdout);
  const text = await read;
  assert.equal(text.length, 3_000_004);
  assert.ok(text.endsWith("end\n"));
});

test("a child whose output nobody reads has to wait", async () => {
  const child = await start("yes | head -c 50000000; echo finished >&2");
  const finished = await Promise.race([child.ended.then(() => true), delay(400, false)]);
  assert.equal(finished, false);
  assert.equal((await textOf(child.stdout)).length, 50_000_000);
  await child.ended;
});

test("a writer has to wait for a child that does not read", async () => {
  const child = await start("sleep 300");
  const writer = child.stdin.getWriter();
  let taken = 0;
  const flood = (async () => {
    for (;;) {
      await writer.write(new Uint8Array(65_536));
      taken++;
    }
  })();
  await Promise.race([flood, delay(300)]);
  assert.ok(taken < 64, `${taken} chunks`);
  child.kill();
  await assert.rejects(flood, /it ended|EPIPE|destroyed/u);
  assert.deepEqual(await child.ended, { code: null, signal: "SIGKILL" });
});

test("writing to a child that died rejects and hurts nobody else", async () => {
  const child = await start("exit 3");
  assert.deepEqual(await child.ended, { code: 3, signal: null });
  const writer = child.stdin.getWriter();
  writer.closed.catch(() => {});
  await assert.rejects(writer.write(bytes("hello\n")));
  await delay(20);
});

test("a killed child is reported with its signal, and the reader sees the end", async () => {
  const child = await start("echo partial; echo last words >&2; kill -KILL $$");
  assert.equal(await textOf(child.stdout), "partial\n");
  assert.deepEqual(await child.ended, { code: null, signal: "SIGKILL" });
  await delay(20);
  assert.equal(child.stderrTail(), "last words\n");
});

test("the tail of stderr is bounded and whole characters", async () => {
  const child = await start('for i in {1..30000}; do echo "$i 😀" >&2; done');
  await child.ended;
  await textOf(child.stdout);
  await delay(20);
  const tail = child.stderrTail();
  assert.ok(tail.length <= 4000 && tail.length > 3900);
  assert.ok(tail.endsWith("30000 😀\n"));
  assert.ok(tail.isWellFormed());
});

test("stop() lets a child end by itself when its stdin ends", async () => {
  const child = await start("trap 'echo TERM >&2' TERM; cat; sleep 0.2; echo bye >&2; exit 7");
  assert.deepEqual(await child.stop(), { code: 7, signal: null });
  assert.equal(child.stderrTail(), "bye\n");
  assert.deepEqual(await groupMembers(child.pid), []);
  assert.deepEqual(await child.stop(), { code: 7, signal: null });
});

test("stop() sends TERM to a child that does not mind the end of its stdin", async () => {
  const child = await start("echo up; exec sleep 300");
  await readUntil(child, "up");
  const begin = performance.now();
  assert.deepEqual(await child.stop({ graceMs: 400 }), { code: null, signal: "SIGTERM" });
  assert.ok(performance.now() - begin < 1500);
});

test("stop() kills a child that ignores TERM, with all that it started", async () => {
  const child = await start("trap '' TERM; sleep 300 & echo up; while :; do sleep 300; done");
  await readUntil(child, "up");
  const begin = performance.now();
  assert.deepEqual(await child.stop({ graceMs: 300 }), { code: null, signal: "SIGKILL" });
  assert.ok(performance.now() - begin < 2000);
  assert.ok(await isGone(child.pid));
  assert.ok(!held.has(child.pid));
});

test("stop() works while the writer of stdin is locked and a write waits", async () => {
  const child = await start("trap '' TERM; echo up; sleep 300; sleep 300");
  await readUntil(child, "up");
  const writer = child.stdin.getWriter();
  const write = writer.write(new Uint8Array(1_000_000));
  const failed = assert.rejects(write);
  assert.deepEqual(await child.stop({ graceMs: 100 }), { code: null, signal: "SIGKILL" });
  await failed;
});

test("what a child that died leaves in its group ends too", async () => {
  const child = await start("sleep 300 & sleep 300 & exit 1");
  assert.deepEqual(await child.ended, { code: 1, signal: null });
  const begin = performance.now();
  assert.equal(await textOf(child.stdout), "");
  assert.ok(performance.now() - begin < 1500);
  await child.stop();
  assert.ok(await isGone(child.pid));
  assert.ok(!held.has(child.pid));
});

test("a program that cannot be started is an error with its name and the reason", async (t) => {
  const dir = await mkdtemp(join(tmpdir(), "mm child "));
  t.after(() => rm(dir, { recursive: true }));
  const env = { PATH: process.env["PATH"] ?? "" };
  const from = (program: string, cwd = dir) => startChild({ command: [program], cwd, env });
  await assert.rejects(from("no-such-agent"), {
    message: 'Cannot start "no-such-agent": there is no such program on the PATH (ENOENT)',
  });
  await assert.rejects(from(join(dir, "nothing")), /nothing": there is no such file \(ENOENT\)$/u);
  const plain = join(dir, "plain");
  await writeFile(plain, "no program");
  await chmod(plain, 0o644);
  await assert.rejects(from(plain), /plain": it may not be executed \(E(ACCES|PERM)\)$/u);
  const script = join(dir, "script");
  await writeFile(script, "#!/no/such/interpreter\n", { mode: 0o755 });
  await assert.rejects(from(script), /interpreter that its first line names does not exist/u);
  await assert.rejects(from("bash", join(dir, "gone")), {
    message: `Cannot start "bash" in "${join(dir, "gone")}": there is no such directory`,
  });
  assert.deepEqual([...held], []);
});

test("cancelling the reader does not stop the child from being stopped", async () => {
  const child = await start("trap '' PIPE; while :; do echo x; sleep 0.01; done");
  await child.stdout.cancel();
  assert.equal((await child.stop({ graceMs: 200 })).signal, "SIGTERM");
});
