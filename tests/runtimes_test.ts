/**
 * The main job on everything mm runs on: from source, as the bundle under Node and under Bun, and
 * compiled. One file, so that what holds on one runtime is seen to hold on all. A runtime that is not
 * there is skipped with what brings it; the task `test:runtimes` brings all and runs the full tests.
 *
 * @module
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { promisify } from "node:util";
import { OWN_PERMISSIONS } from "../lib/platform/own_permissions.ts";
import { bundle, MAIN } from "../scripts/bundle.ts";
import { ROOT } from "../scripts/checks/repository.ts";
import { EXECUTABLE } from "../scripts/compile.ts";
import { RUNTIMES } from "../scripts/release/runtimes.ts";
import { askAgent, bash, writeAgents } from "./support/agents.ts";
import { always, forModel, inOrder, onUser } from "./support/model_server.ts";
import type { Program } from "./support/program.ts";
import { type TestProject, withProject } from "./support/project.ts";

/** mm on one runtime. */
interface Form {
  readonly name: string;
  /** What `-version` says. */
  readonly version: RegExp;
  /** Why it cannot be tested here. */
  readonly missing?: string;
  /** Calls `body` with the program, which is there until that ends. */
  readonly use: (body: (program: Program) => Promise<void>) => Promise<void>;
}

const BRINGS = "the task test:runtimes brings it";

/** A Node on the PATH that is new enough, for where the runtimes were not installed. */
const PATH_NODE = await promisify(execFile)("node", ["--version"]).then(
  ({ stdout }) => Number(/^v(\d+)/u.exec(stdout)?.[1]) >= 22 ? "node" : undefined,
  () => undefined,
);

async function withBundle(runtime: string, body: (program: Program) => Promise<void>) {
  const folder = await mkdtemp(join(tmpdir(), "mm bundle "));
  try {
    await bundle(join(ROOT, "cli.ts"), folder);
    await body([runtime, join(folder, MAIN)]);
  } finally {
    await rm(folder, { recursive: true });
  }
}

const FORMS: readonly Form[] = [
  {
    name: "from source",
    version: /^mm \S+ \(deno \S+, dev\)\n$/,
    use: (body) =>
      body([process.execPath, "run", ...OWN_PERMISSIONS, "--no-check", join(ROOT, "cli.ts")]),
  },
  ...RUNTIMES.map(({ name, program: installed }): Form => {
    const program = existsSync(installed) ? installed : name === "node" ? PATH_NODE : undefined;
    return {
      name: `under ${name}`,
      version: new RegExp(`^mm \\S+ \\(${name} \\S+, commit \\S+\\)\n$`),
      ...(program === undefined ? { missing: `${name} is not here: ${BRINGS}` } : {}),
      use: (body) => withBundle(program ?? name, body),
    };
  }),
  {
    name: "compiled",
    version: /^mm \S+ \(deno \S+, commit \S+\)\n$/,
    ...(existsSync(EXECUTABLE)
      ? {}
      : { missing: "build/mm is not here: the task compile makes it" }),
    use: (body) => body([EXECUTABLE]),
  },
];

/** What holds on every runtime, by what it says. */
const JOBS: Readonly<
  Record<string, (p: TestProject, program: Program, form: Form) => Promise<void>>
> = {
  "says its runtime": async (p, program, form) => {
    const { code, stdout, stderr } = await p.runMm(["-version"], { program });
    assert.equal(code, 0, stderr);
    assert.match(stdout, form.version);
  },

  "asks bob when it is typed, with his permission question, and remembers both sides": async (
    p,
    program,
  ) => {
    const server = await p.model({
      reply: [
        forModel("bob", inOrder({ toolCalls: [bash("echo 4$((1+1))")] }, { text: "It is 42." })),
        forModel("you", onUser("And?", { text: "So be it." })),
      ],
    });
    await writeAgents(p, { server });
    const editor = p.editor([], { program });
    const session = await editor.start();
    const asked = editor.prompt(session, "/ask-bob What is it?");
    const question = await editor.waitForPermission();
    assert.match(question.toolCall.title, /^bob\/bash/);
    question.choose("allow_once");
    await asked;
    assert.ok(editor.text(session).endsWith("It is 42."));
    assert.match(server.requests.at(-1)?.last.text ?? "", /^42$/m);
    await editor.prompt(session, "And?");
    assert.deepEqual(server.requests.at(-1)?.messages.slice(1), [
      { role: "user", content: "[asked bob (llamacpp/bob): What is it?]" },
      { role: "assistant", content: "[bob's answer]\nIt is 42." },
      { role: "user", content: "And?" },
    ]);
  },

  "asks bob when the model decides, and carries on with his answer": async (p, program) => {
    const server = await p.model({
      reply: [
        forModel("bob", always({ text: "Forty-two." })),
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "Why?")] }, { text: "He knows." })),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const run = await p.runMm(["-p", "Ask him"], { program });
    assert.equal(run.code, 0, run.stderr);
    assert.equal(run.stdout, "He knows.\n");
    assert.deepEqual(server.requests.map((r) => r.model), ["you", "bob", "you"]);
    assert.match(server.requests[2]?.last.text ?? "", /Forty-two\./);
  },

  "lets a command of the model ask bob": async (p, program) => {
    const server = await p.model({
      reply: [
        forModel("bob", always({ text: "Forty-two." })),
        forModel(
          "you",
          inOrder({ toolCalls: [bash('"$MM_BIN" --ask bob Why 2>&-')] }, { text: "ok" }),
        ),
      ],
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const run = await p.runMm(["-p", "Go"], { program });
    assert.equal(run.code, 0, run.stderr);
    assert.match(server.requests.at(-1)?.last.text ?? "", /^Forty-two\.$/m);
  },

  "gives a script the whole of an answer that no pipe holds at once": async (p, program) => {
    const text = "wörd 語 ".repeat(12_000);
    const server = await p.model({ reply: forModel("bob", always({ text })) });
    await writeAgents(p, { server, bob: { maxOutput: 200_000 }, you: { maxOutput: 200_000 } });
    const run = await p.runMm(["--ask", "bob", "Talk"], { program });
    assert.equal(run.code, 0, run.stderr);
    assert.equal(run.stdout.trimEnd(), text.trimEnd());
  },

  "cancels down the chain and leaves bob usable": async (p, program) => {
    const server = await p.model({
      reply: forModel(
        "bob",
        onUser("work", { toolCalls: [bash("echo begun > begun; sleep 60")] }),
        onUser("still there?", { text: "Still here." }),
      ),
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const editor = p.editor([], { program });
    const session = await editor.start();
    const turn = editor.prompt(session, "/ask-bob work");
    await editor.waitForUpdate(({ update }) =>
      update.sessionUpdate === "tool_call_update" && update.status === "in_progress"
    );
    editor.cancel(session);
    assert.equal((await turn).stopReason, "cancelled");
    await editor.prompt(session, "/ask-bob still there?");
    assert.ok(editor.text(session).endsWith("Still here."));
  },

  "leaves nothing behind when it is killed while bob works": async (p, program) => {
    const server = await p.model({
      reply: forModel("bob", always({ toolCalls: [bash("touch begun; sleep 60")] })),
    });
    await writeAgents(p, { server, you: { yolo: true } });
    const editor = p.editor([], { program });
    const session = await editor.start();
    const turn = editor.prompt(session, "/ask-bob work").catch(() => "gone");
    await editor.waitForUpdate(({ update }) => update.status === "in_progress");
    editor.mm.signal("SIGKILL");
    assert.equal(await turn, "gone");
    // That no process is left is checked as the project closes.
  },
};

for (const form of FORMS) {
  for (const [words, job] of Object.entries(JOBS)) {
    test(
      `${form.name}, mm ${words}`,
      { skip: form.missing ?? false },
      () => form.use((program) => withProject((p) => job(p, program, form))),
    );
  }
}
