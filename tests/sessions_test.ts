/**
 * Saved conversations end to end, in the terminal: what is saved, how it is gone on with, what happens
 * when mm is killed or a file cannot be written. For editors see `acp_sessions_test.ts`.
 *
 * @module
 */
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { askAgent, bash, writeAgents } from "./support/agents.ts";
import { always, forModel, inOrder, onTool, onUser } from "./support/model_server.ts";
import { oneAgent, writeAgent } from "./support/one_agent.ts";
import { programUnderTest } from "./support/program.ts";
import { withProject } from "./support/project.ts";
import { conversationFiles, linesOf, onlyId, savedFiles } from "./support/saved_files.ts";

const hello = onUser("Hello", { text: "Hi." });

test("a conversation goes on with -continue where it ended, and what was sent is sent again", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      hello,
      onUser("Run", { reasoning: "Let us see.", text: "I run.", toolCalls: [bash("echo out")] }),
      onTool("out", { text: "It ran." }),
      onUser("More", { text: "Gladly." }),
    ], { yolo: true });
    await p.runMm(["-p", "Hello"]);
    await p.runMm(["-p", "Run", "-continue"]);
    const { stdout, code } = await p.runMm(["-p", "More", "-continue"]);
    assert.equal(code, 0);
    assert.equal(stdout, "Gladly.\n", "nothing is shown again");
    const messages = server.requests.at(-1)?.messages ?? [];
    assert.deepEqual(messages.map((m) => m.role), [
      ...["system", "user", "assistant", "user", "assistant", "tool", "assistant", "user"],
    ]);
    // The request begins with the bytes of the one before the restart: the server checks it.
    const before = server.requests.at(-2)?.messages ?? [];
    assert.deepEqual(messages.slice(0, before.length), before);
    assert.equal((await conversationFiles(p)).length, 1);
  }));

test("kill -9 in the middle of a call: the call gets its result, on disk too, and mm goes on", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      onUser("Wait", {
        text: "I wait.",
        toolCalls: [bash("sleep 0.3; touch started; sleep 60"), bash("echo never")],
      }),
      onUser("What happened?", { text: "You killed me." }),
    ], { yolo: true });
    const mm = p.mm(["-p", "Wait"]);
    await mm.waitForOutput("I wait.");
    while (!p.exists("started")) await new Promise((resolve) => setTimeout(resolve, 20));
    mm.signal("SIGKILL");
    await mm.exit;
    const [file] = await conversationFiles(p);
    const killed = await readFile(file?.path ?? "", "utf8");

    const { code, stdout } = await p.runMm(["-p", "What happened?", "-continue"]);
    assert.equal(code, 0);
    assert.equal(stdout, "You killed me.\n");
    const messages = server.requests.at(-1)?.messages ?? [];
    assert.deepEqual(messages.slice(3).map((m) => [m.role, m.content]), [
      ["tool", "[interrupted]"],
      ["tool", "[interrupted]"],
      ["assistant", "[interrupted]"],
      ["user", "What happened?"],
    ]);
    const repaired = await readFile(file?.path ?? "", "utf8");
    assert.ok(repaired.startsWith(killed), "what was written is as it was");
    const stored = (await linesOf(file?.path ?? "")).filter((line) =>
      line.message?.text === "[interrupted]"
    );
    assert.equal(stored.length, 3);
  }));

test("what a killed mm had shown of an answer is kept", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, [
      onUser("Tell", {
        chunks: ["Once upon a time ", "there was ", "never sent"],
        chunkDelayMs: 1500,
        hang: true,
        holdAfter: 2,
      }),
      onUser("And then?", { text: "Nothing." }),
    ]);
    const mm = p.mm(["-p", "Tell"]);
    await mm.waitForOutput("there was");
    const [file] = await conversationFiles(p);
    const isSaved = async () => (await readFile(file?.path ?? "", "utf8")).includes("Once upon");
    while (!await isSaved()) await new Promise((resolve) => setTimeout(resolve, 20));
    mm.signal("SIGKILL");
    await mm.exit;
    await p.runMm(["-p", "And then?", "-continue"]);
    const { content } = server.requests.at(-1)?.messages.at(-2) ?? {};
    assert.match(String(content), /^Once upon a time [\s\S]*\n\[interrupted\]$/);
  }));

test("SIGTERM in the middle of a turn saves the turn with how it ended, and leaves no lock", () =>
  withProject(async (p) => {
    await oneAgent(p, onUser("Tell", { text: "Begun", hang: true, holdAfter: 1 }));
    const mm = p.mm(["-p", "Tell"]);
    await mm.waitForOutput("Begun");
    assert.equal((await savedFiles(p)).filter(({ name }) => name.endsWith(".lock")).length, 1);
    mm.signal("SIGTERM");
    await mm.exit;
    const files = await savedFiles(p);
    assert.equal(files.length, 1);
    const lines = await linesOf(files[0]?.path ?? "");
    assert.equal(lines.at(-1).message.text, "Begun\n[cancelled by the user]");
    assert.equal(lines.filter((line) => line.event?.type === "text")[0].event.text, "Begun");
  }));

test("the prompt and the AGENTS.md of now count in a conversation of before, asks are in their places", () =>
  withProject(async (p) => {
    await p.write("AGENTS.md", "OLD RULES");
    const server = await p.model({
      reply: [
        forModel("bob", always({ text: "Bob says so." })),
        forModel("you", onUser("Sum up", { text: "Summed up." }), hello),
      ],
    });
    await writeAgents(p, { server, you: { system: "OLD PROMPT" } });
    const first = p.mm(["-line"], { stdin: "Hello\n/ask-bob Why?\n" });
    await first.exit;
    await p.write("AGENTS.md", "NEW RULES");
    await writeAgents(p, { server, you: { system: "NEW PROMPT" } });
    server.allowNewPrefix();
    const id = await onlyId(p);
    const second = p.mm(["-line"], { stdin: `/resume ${id.slice(0, 6)}\nSum up\n/status\n` });
    await second.exit;

    const request = server.requests.at(-1);
    assert.match(request?.system ?? "", /^NEW PROMPT\n\n[\s\S]*NEW RULES$/);
    assert.doesNotMatch(request?.raw ?? "", /OLD PROMPT|OLD RULES/);
    assert.deepEqual(request?.messages.slice(1).map((m) => m.content), [
      "Hello",
      "Hi.",
      "[asked bob (llamacpp/bob): Why?]",
      "[bob's answer]\nBob says so.",
      "Sum up",
    ]);
    const shown = second.stdout;
    assert.match(
      shown,
      /> Hello\nHi\.\n> \/ask-bob Why\?\n▸ asking bob.*\nbob │ Bob says so\.\n◂ bob answered \(llamacpp\/bob\)\nThis is "Hello" again\./,
    );
    assert.match(shown, /Summed up\./);
    assert.match(shown, new RegExp(`session: ${id}`));
    assert.equal((await conversationFiles(p)).length, 1);
  }));

test("/sessions lists what there is, /new begins another file, and an empty session leaves none", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ text: "Yes." }));
    await p.mm(["-line"], { stdin: "/help\n/status\n/sessions\n/yolo\n" }).exit;
    assert.deepEqual(await savedFiles(p), []);
    const mm = p.mm(["-line"], {
      stdin: "First question\n/new\n/sessions\nSecond question\n/sessions\n",
    });
    await mm.exit;
    const files = await conversationFiles(p);
    assert.equal(files.length, 2);
    const [afterNew = "", atTheEnd = ""] = mm.stdout.split("> /sessions\n").slice(1);
    const row = (title: string) => new RegExp(`^[0-9a-f]{8}  now  1 kB  ${title}$`, "m");
    assert.match(afterNew, row("First question"));
    assert.match(atTheEnd, row("First question"));
    assert.match(atTheEnd, row("Second question \\(this one\\)"));
    for (const { path } of files) {
      assert.equal((await stat(path)).mode & 0o777, 0o600);
      assert.equal((await stat(join(path, ".."))).mode & 0o777, 0o700);
    }
    const last = p.mm(["-line", "-resume"], { stdin: "/resume\n/resume ffff\n/resume nonsense\n" });
    await last.exit;
    assert.equal(last.stdout.match(/First question/g)?.length, 2, "at the start, and for /resume");
    assert.match(last.stdout, /There is no conversation "nonsense" of this directory/);
  }));

test("two mm of one project at the same time write two files, and lines of one are in one", () =>
  withProject(async (p) => {
    await oneAgent(p, (request) => ({
      text: `Answer to ${request.lastUser}. `.repeat(50),
      chunkDelayMs: 1,
    }));
    const questions = ["a", "b"].map((name) =>
      Array.from({ length: 5 }, (_, at) => `question ${name}${at}`)
    );
    await Promise.all(
      questions.map((lines) =>
        p.mm(["-line"], { stdin: lines.join("\n") + "\n" }).waitForExit({ timeoutMs: 60_000 })
      ),
    );
    const files = await conversationFiles(p);
    assert.equal(files.length, 2);
    const said = await Promise.all(
      files.map(async ({ path }) =>
        (await linesOf(path)).filter((line) => line.message?.role === "user")
          .map((line) => line.message.text)
      ),
    );
    assert.deepEqual(said.sort(), questions.sort());
  }));

test("a conversation that another mm has open is refused with who has it", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ text: "Yes." }));
    const open = p.mm(["-line"]);
    open.writeLine("Hello");
    await open.waitForOutput("Yes.");
    await open.waitForOutput(/> $/);
    const other = await p.runMm(["-p", "Hello again", "-continue"]);
    assert.equal(other.code, 2);
    assert.match(
      other.stderr,
      new RegExp(
        `^mm: Cannot open the conversation .*another mm has it open \\(process ${open.pid}\\)`,
      ),
    );
    assert.match((await p.runMm(["-line", "-resume"])).stdout, /Hello \(open in another mm\)/);
    open.signal("SIGKILL");
    await open.exit;
    assert.equal((await p.runMm(["-p", "Hello again", "-continue"])).code, 0);
  }));

test("an asked agent saves nothing, whatever its own file says", () =>
  withProject(async (p) => {
    const server = await p.model({
      reply: [
        forModel("you", inOrder({ toolCalls: [askAgent("bob", "Why?")] }, { text: "Done." })),
        forModel(
          "bob",
          onUser("Why?", { toolCalls: [askAgent("riker", "Why?")] }),
          always({ text: "So." }),
        ),
        forModel("riker", always({ text: "Because." })),
      ],
    });
    const sessions = { enabled: true };
    await writeAgents(p, { server, you: { yolo: true }, bob: { sessions }, riker: { sessions } });
    assert.equal((await p.runMm(["-p", "Ask"])).stdout, "Done.\n");
    const lines = await linesOf((await conversationFiles(p))[0]?.path ?? "");
    assert.equal((await savedFiles(p)).length, 1);
    assert.deepEqual(
      lines.filter((line) => line.event).map((line) => line.event.type),
      [
        ...["user", "tool_call", "ask_start"],
        ...["tool_call", "tool_update"],
        ...["ask_end", "tool_update", "text"],
      ],
    );
    await p.runMm(["--ask", "bob", "Again?"]);
    assert.equal((await savedFiles(p)).length, 1, "mm --ask has no conversation");
  }));

test("with AGENT_SESSIONS=off or sessions.enabled: false nothing is saved, and mm says so", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, always({ text: "Yes." }));
    const off = { AGENT_SESSIONS: "off" };
    const line = p.mm(["-line"], { stdin: "Hello\n/sessions\n/resume abc\n", env: off });
    await line.exit;
    assert.equal(line.stdout.match(/Conversations are not saved here/g)?.length, 2);
    const prompt = await p.runMm(["-p", "Hello", "-continue"], { env: off });
    assert.equal(prompt.code, 2);
    assert.match(prompt.stderr, /Conversations are not saved here: .*AGENT_SESSIONS is off/);
    await writeAgent(p, server, { sessions: { enabled: false } });
    await p.runMm(["-p", "Hello"]);
    assert.deepEqual(await savedFiles(p), []);
    await p.runMm(["-p", "Hello"], { env: { AGENT_SESSIONS: "on" } });
    assert.equal((await savedFiles(p)).length, 1);
  }));

test("no key is saved, also where the model reads the file it stands in", () =>
  withProject(async (p) => {
    const secrets = ["file-key-abcdef", "header-secret-123", "env-secret-4567"];
    await oneAgent(p, [
      onUser("Show", { toolCalls: [bash("cat agent.yaml; echo $MY_API_KEY")] }),
      onTool("file-key", { text: `It is ${secrets[0]}.` }),
    ], { yolo: true, apiKey: secrets[0], headers: { "X-Token": secrets[1] } });
    await p.runMm(["-p", "Show"], { env: { MY_API_KEY: secrets[2] ?? "" } });
    const text = await readFile((await conversationFiles(p))[0]?.path ?? "", "utf8");
    for (const secret of secrets) assert.ok(!text.includes(secret), secret);
    assert.match(text, /It is \[secret\]\./);
  }));

test("a damaged file is repaired with a word, and kept as it was", () =>
  withProject(async (p) => {
    const server = await oneAgent(p, always({ text: "Yes." }));
    await p.runMm(["-p", "Hello"]);
    await p.runMm(["-p", "Again", "-continue"]);
    const [file] = await conversationFiles(p);
    const path = file?.path ?? "";
    const lines = (await readFile(path, "utf8")).split("\n");
    const at = lines.findIndex((line) => line.includes('"role":"assistant"'));
    lines[at] = `${lines[at]?.slice(0, 30)}\u0000`;
    const damaged = lines.join("\n") + '{"n":99,"type":"mess';
    await writeFile(path, damaged);
    const { code, stderr } = await p.runMm(["-p", "More", "-continue"]);
    assert.equal(code, 0);
    assert.match(stderr, /! 2 lines of this conversation's file could not be read.*\.bak"/);
    assert.equal(await readFile(`${path}.1.bak`, "utf8"), damaged);
    assert.deepEqual(server.requests.at(-1)?.messages.slice(1).map((m) => m.content), [
      ...["Hello", "[interrupted]", "Again", "Yes.", "More"],
    ]);
    assert.equal((await p.runMm(["-p", "And more", "-continue"])).stderr, "");
  }));

/** Runs a command in a file system of its own; says whether this machine lets one do that. */
const canMount = spawnSync("unshare", ["-rm", "true"]).status === 0;

/** The words that run mm with a script of `sh` before it. */
function under(script: string, args: readonly string[]): [string, ...string[]] {
  return [
    "unshare",
    "-rm",
    "sh",
    "-c",
    `${script}; exec "$@"`,
    "sh",
    ...programUnderTest(),
    ...args,
  ];
}

const UNWRITABLE: readonly { readonly what: string; readonly script: (dir: string) => string }[] = [
  { what: "a full disk", script: (dir) => `mount -t tmpfs -o size=4k,nr_inodes=2 none ${dir}` },
  {
    what: "a read-only directory",
    script: (dir) => `mount --bind ${dir} ${dir} && mount -o remount,ro,bind ${dir}`,
  },
];

for (const { what, script } of UNWRITABLE) {
  test(
    `${what}: one warning, and the conversation goes on`,
    { skip: !canMount },
    () =>
      withProject(async (p) => {
        await oneAgent(p, always({ text: "Yes." }));
        const [program, ...args] = under(script(p.stateDir), ["-line"]);
        const mm = p.mm(args, { program: [program], stdin: "Hello\nAgain\nAnd again\n" });
        assert.equal((await mm.exit).code, 0);
        assert.equal(mm.stdout.match(/Yes\./g)?.length, 3);
        assert.equal(mm.stdout.match(/is not saved from here on: /g)?.length, 1, mm.stdout);
      }),
  );
}

test("a disk that fills up in the middle: one warning, and what was saved before is whole", {
  skip: process.platform === "win32",
}, () =>
  withProject(async (p) => {
    await oneAgent(p, [
      onUser("Long", { text: "long ".repeat(60_000) }),
      always({ text: "Yes." }),
    ], { contextWindow: 1_000_000 });
    // Writing beyond the limit is an error of the write, as on a full disk, with its signal ignored.
    const program: [string, ...string[]] = [
      "bash",
      "-c",
      'trap "" XFSZ; ulimit -f 200; exec "$@"',
      "bash",
      ...programUnderTest(),
    ];
    const mm = p.mm(["-line"], { program, stdin: "Hello\nLong\nMore\nMore\n" });
    assert.equal((await mm.exit).code, 0);
    assert.equal(
      mm.stdout.match(/is not saved from here on: .*(?:EFBIG|too large)/gi)?.length,
      1,
      mm.stdout,
    );
    const [file] = await conversationFiles(p);
    const lines = await linesOf(file?.path ?? "");
    assert.deepEqual(
      lines.filter((line) => line.message).map((line) => line.message.text),
      ["Hello", "Yes.", "Long"],
    );
    const { stdout, code } = await p.runMm(["-p", "Hello again", "-continue"]);
    assert.equal(code, 0);
    assert.equal(stdout, "Yes.\n");
  }));

test("a directory for state that is missing is made; one that cannot be is told once", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ text: "Yes." }));
    await rm(p.stateDir, { recursive: true });
    await p.runMm(["-p", "Hello"]);
    assert.equal((await conversationFiles(p)).length, 1);
    const blocked = join(p.dir, "blocked");
    await writeFile(blocked, "a file");
    const mm = p.mm(["-line"], {
      stdin: "Hello\nAgain\n",
      env: { MM_STATE_DIR: join(blocked, "state") },
    });
    assert.equal((await mm.exit).code, 0);
    assert.equal(mm.stdout.match(/is not saved from here on: /g)?.length, 1, mm.stdout);
    assert.equal(mm.stdout.match(/Yes\./g)?.length, 2);
  }));

test("of more conversations than sessions.keep says the oldest go", () =>
  withProject(async (p) => {
    await oneAgent(p, always({ text: "Yes." }), { sessions: { keep: 2 } });
    const elsewhere = join(p.dir, "elsewhere");
    await mkdir(elsewhere);
    await p.runMm(["-p", "Other", "-cwd", elsewhere, "-config", "agent.yaml"]);
    for (const question of ["First", "Second", "Third"]) await p.runMm(["-p", question]);
    const { stdout } = await p.runMm(["-line", "-resume"]);
    assert.doesNotMatch(stdout, /First/);
    assert.match(stdout, /Third\n[0-9a-f]{8} .* Second\n/);
    assert.equal((await conversationFiles(p)).length, 3, "the other project has its own");
  }));

test("-continue and -resume say when there is nothing they could go on with", () =>
  withProject(async (p) => {
    await oneAgent(p, hello);
    for (
      const [args, message] of [
        [["-p", "x", "-continue"], /no conversation of "\/.*" is saved/],
        [["-line", "-continue"], /no conversation of "\/.*" is saved/],
        [["-p", "x", "-resume", "../../etc"], /There is no conversation "\.\.\/\.\.\/etc"/],
      ] as const
    ) {
      const { code, stderr } = await p.runMm(args);
      assert.equal(code, 2, stderr);
      assert.match(stderr, message);
    }
    assert.match((await p.runMm(["-line", "-resume"])).stdout, /No conversation .* is saved yet/);
  }));
