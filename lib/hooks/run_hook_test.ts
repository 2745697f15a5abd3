import assert from "node:assert/strict";
import { tmpdir } from "node:os";
import process from "node:process";
import { test } from "node:test";
import { createRunFilter } from "../platform/filter.ts";
import { isGone } from "../platform/group.ts";
import { createReaper } from "../platform/reaper.ts";
import { type HookVerdict, runHook } from "./run_hook.ts";

const env = { PATH: process.env.PATH ?? "" };

/** Runs a command line as a hook that may answer with a prompt. */
async function verdictOf(
  run: string,
  options: { readonly timeoutMs?: number; readonly signal?: AbortSignal } = {},
): Promise<HookVerdict> {
  const reaper = createReaper();
  try {
    return await runHook({
      hook: { run, timeoutMs: options.timeoutMs ?? 10_000 },
      kind: "preAsk",
      input: { agent: "bob", prompt: "grüße 😀" },
      answers: ["prompt"],
      run: createRunFilter({ reaper }),
      cwd: tmpdir(),
      env,
      signal: options.signal ?? new AbortController().signal,
    });
  } finally {
    reaper.close();
  }
}

test("a hook that ends with 0 and says nothing lets everything through, whether it reads or not", async () => {
  for (const run of ["true", "cat > /dev/null", "echo watching >&2"]) {
    assert.deepEqual(await verdictOf(run), { refused: false, answer: {} }, run);
  }
});

test("a hook reads one line of JSON and may answer with text under the names it may use", async () => {
  assert.deepEqual(
    await verdictOf(`read -r line; printf '%s' "$line" | sed 's/bob/ann/; s/"agent":"ann",//'`),
    { refused: false, answer: { prompt: "grüße 😀" } },
  );
});

test("exit status 2 refuses with what the hook wrote on stderr", async () => {
  assert.deepEqual(await verdictOf("echo ignored; echo 'no secrets, please' >&2; exit 2"), {
    refused: true,
    reason: "the preAsk hook \"echo ignored; echo 'no secrets, please' >&2; exit 2\" refused: " +
      "no secrets, please",
  });
  assert.deepEqual(await verdictOf("exit 2"), {
    refused: true,
    reason: 'the preAsk hook "exit 2" refused',
  });
});

const BROKEN: readonly (readonly [string, RegExp])[] = [
  ["exit 1", /exited with status 1;/u],
  ["echo boom >&2; exit 3", /exited with status 3 \(boom\);/u],
  ["kill -KILL $$", /was killed by SIGKILL;/u],
  ["./there-is-no-such-hook", /exited with status 127 \(.*no-such-hook.*\);/su],
  ["echo fine", /printed something that is no JSON;/u],
  [`echo '{"prompt": "x"} {}'`, /printed something that is no JSON;/u],
  ["echo '[]'", /printed JSON that is no object;/u],
  ["echo null", /printed JSON that is no object;/u],
  [`echo '{"promt": "x"}'`, /answered with "promt", but it may answer with prompt only;/u],
  [`echo '{"prompt": 5}'`, /answered with a "prompt" that is no text;/u],
  ["head -c 9000000 /dev/zero", /printed more than mm reads;/u],
];

for (const [run, words] of BROKEN) {
  test(`a hook that does not work refuses: ${run}`, async () => {
    const verdict = await verdictOf(run);
    assert.ok(verdict.refused);
    assert.match(verdict.reason, words);
    assert.match(verdict.reason, /a hook that does not work refuses$/u);
  });
}

test("a hook that hangs is ended with all it started, and refuses", async () => {
  const started = performance.now();
  const verdict = await verdictOf("trap '' TERM; sleep 300 & sleep 300", { timeoutMs: 300 });
  assert.ok(verdict.refused);
  assert.match(verdict.reason, /took longer than 300 ms; a hook that does not work refuses$/u);
  assert.ok(performance.now() - started < 5000);
});

test("what a hook leaves running ends with it", async () => {
  const verdict = await verdictOf(`sleep 300 & echo '{"prompt": "'$$'"}'`);
  assert.ok(!verdict.refused);
  const group = Number(verdict.answer["prompt"]);
  assert.ok(group > 1);
  assert.ok(await isGone(group));
});

test("a cancel ends a hook and rejects with the signal's reason", async () => {
  const cancel = new AbortController();
  setTimeout(() => cancel.abort(new Error("cancelled")), 100);
  await assert.rejects(verdictOf("sleep 300", { signal: cancel.signal }), /^Error: cancelled$/u);
});
