import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { mkdtemp, readdir, readFile, rm, stat, utimes, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { redactor } from "../base/secrets.ts";
import { Run, type RunResult } from "./run.ts";
import { RunReports } from "./run_report.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

function runOf(): Run {
  return new Run({
    id: "task-0a1b2c",
    target: { kind: "gone", agent: "explore", reason: "" },
    description: "Find the tests",
    cwd: "/",
    background: true,
    rounds: 1,
  });
}

const answered = (answer: string, more: Partial<RunResult> = {}): RunResult => ({
  end: { kind: "answered" },
  answer,
  toolCalls: 2,
  durationMs: 10,
  notes: [],
  ...more,
});

/** Runs a test with reports that are written below a fresh directory. */
async function withReports(
  body: (setup: { readonly reports: RunReports; readonly folder: string }) => Promise<void>,
  options: { readonly maxOutput?: number } = {},
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), "mm-reports-"));
  const folder = join(directory, "state", "results");
  try {
    const reports = new RunReports({
      maxOutput: options.maxOutput ?? 1000,
      folder: () => Promise.resolve(folder),
      redact: redactor(["very-secret-word"]),
    });
    await body({ reports, folder });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

test("a result within the limit is given whole, and nothing is written", () =>
  withReports(async ({ reports, folder }) => {
    const whole = "x".repeat(1000);
    assert.deepEqual(await reports.text(runOf(), answered(whole)), { text: whole });
    assert.ok(!existsSync(folder));
  }));

test("a longer result is cut in the middle, and the whole of it is in a file of the user", () =>
  withReports(async ({ reports, folder }) => {
    const whole = `begin ${"x".repeat(120_000)} very-secret-word end`;
    const { text, file } = await reports.text(runOf(), answered(whole));
    assert.equal(file, join(folder, "task-0a1b2c-1.txt"));
    assert.ok(text.length <= 1000);
    assert.match(text, /^begin x+\n\[\.\.\. \d+ of \d+ characters left out \.\.\.\]\nx+ .* end\n/u);
    assert.ok(text.endsWith(`\n[the whole result is in "${file}"]`));
    const kept = await readFile(file, "utf8");
    assert.equal(kept, whole.replace("very-secret-word", "[secret]"));
    if (process.platform === "win32") return;
    assert.equal((await stat(file)).mode & 0o777, 0o600);
    assert.equal((await stat(folder)).mode & 0o777, 0o700);
  }));

test("a result is written once, and each round of a run has a file of its own", () =>
  withReports(async ({ reports, folder }) => {
    const run = runOf();
    const result = answered("y".repeat(2000));
    const first = await reports.text(run, result);
    assert.equal(await reports.text(run, result), first);
    run.rounds++;
    await reports.of(run, answered("z".repeat(2000)));
    assert.deepEqual((await readdir(folder)).sort(), ["task-0a1b2c-1.txt", "task-0a1b2c-2.txt"]);
  }));

test("where the file cannot be written the result is cut all the same", async () => {
  const reports = new RunReports({
    maxOutput: 200,
    folder: () => Promise.reject(new Error("no place")),
    redact: (text) => text,
  });
  const { text, file } = await reports.text(runOf(), answered("x".repeat(5000)));
  assert.equal(file, undefined);
  assert.ok(text.length <= 200);
  assert.match(text, /characters left out/u);
});

test("only old results of this kind are removed", () =>
  withReports(async ({ reports, folder }) => {
    await reports.text(runOf(), answered("x".repeat(2000)));
    const old = (Date.now() - 31 * DAY_MS) / 1000;
    for (const name of ["task-111111-1.txt", "notes.txt", "task-222222-1.txt"]) {
      await writeFile(join(folder, name), "");
      if (name !== "task-222222-1.txt") await utimes(join(folder, name), old, old);
    }
    const run = runOf();
    run.rounds = 2;
    await reports.text(run, answered("x".repeat(2000)));
    const gone = async () => !(await readdir(folder)).includes("task-111111-1.txt");
    while (!await gone()) await new Promise((resolve) => setTimeout(resolve, 2));
    assert.deepEqual((await readdir(folder)).sort(), [
      "notes.txt",
      "task-0a1b2c-1.txt",
      "task-0a1b2c-2.txt",
      "task-222222-1.txt",
    ]);
  }));

test("an end other than an answer is told beside the words there are, never in their place", () =>
  withReports(async ({ reports }) => {
    const told = async (result: Partial<RunResult>, answer = "So far.") =>
      (await reports.text(runOf(), answered(answer, result))).text;
    assert.equal(
      await told({ end: { kind: "incomplete", limit: "turns" } }),
      "So far.\n[explore stopped before the end: turn limit]",
    );
    assert.equal(await told({ end: { kind: "cancelled" } }), "So far.\n[explore was cancelled]");
    assert.equal(
      await told({ end: { kind: "failed", reason: "no server" } }, ""),
      "[explore failed: no server]",
    );
    assert.equal(await told({}, " \n"), "[explore answered with no text]");
    assert.equal(await told({ notes: ["[kept: x]"] }), "So far.\n\n[kept: x]");
  }));

test("a notification has the facts of the run and says how it ended", () =>
  withReports(async ({ reports }) => {
    assert.deepEqual(await reports.of(runOf(), answered("Here.")), {
      taskId: "task-0a1b2c",
      round: 1,
      agent: "explore",
      description: "Find the tests",
      status: "completed",
      result: "Here.",
      toolCalls: 2,
      durationMs: 10,
    });
    const cut = await reports.of(
      runOf(),
      answered("x".repeat(2000), { end: { kind: "incomplete", limit: "turns" } }),
    );
    assert.equal(cut.status, "incomplete");
    assert.match(cut.file ?? "", /task-0a1b2c-1\.txt$/u);
  }));
