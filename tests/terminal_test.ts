/**
 * The front ends on a real terminal. Keys: `\r` is Enter, `\x03` Ctrl-C, `\x04` Ctrl-D.
 *
 * @module
 */
// Escape sequences are what these tests are about.
// deno-lint-ignore-file no-control-regex
import assert from "node:assert/strict";
import { test } from "node:test";
import { bash, type Keys } from "./support/agents.ts";
import type { MmProcess } from "./support/mm.ts";
import { inOrder, type ModelServer, onTool, onUser, type Rule } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { type TestProject, withProject } from "./support/project.ts";
import { noPty, settingsOf, startInPty } from "./support/pty.ts";

const onTerminal = { skip: noPty };

const ANSWER = "never for this session > ";

interface Stage {
  readonly p: TestProject;
  readonly server: ModelServer;
  readonly mm: MmProcess;
  /** Waits for what comes after everything that was waited for before. */
  readonly expect: (what: string | RegExp) => Promise<void>;
  /** Waits for mm's status, and checks that the terminal is as it was. */
  readonly ends: (status: number) => Promise<void>;
}

function inPty(
  reply: Rule | readonly Rule[],
  body: (stage: Stage) => Promise<void>,
  options: {
    readonly args?: readonly string[];
    readonly keys?: Keys;
    readonly env?: Readonly<Record<string, string>>;
  } = {},
): Promise<void> {
  return withProject(async (p) => {
    const server = await oneAgent(p, reply, options.keys);
    const { env } = options;
    const mm = startInPty(p, options.args ?? ["-line"], env === undefined ? {} : { env });
    let from = 0;
    const expect = async (what: string | RegExp) => {
      from = (await mm.waitForOutput(what, { from })).end;
    };
    const ends = async (status: number) => {
      await expect(/status (\d+)\r\n/);
      assert.match(mm.output, new RegExp(`status ${status}\r\n$`));
      const { before, after } = settingsOf(mm.output);
      assert.notEqual(before, "");
      assert.equal(after, before);
      // What was turned on for pasted text is turned off again; the cursor was never hidden.
      assert.equal(count(mm.output, "\x1b[?2004h"), count(mm.output, "\x1b[?2004l"));
      assert.doesNotMatch(mm.output.replaceAll("\x1b[?2004", ""), /\x1b\[\?/);
    };
    await body({ p, server, mm, expect, ends });
  });
}

function count(text: string, part: string): number {
  return text.split(part).length - 1;
}

test(
  "a prompt is typed and answered, Ctrl-D leaves, and the terminal is as before",
  onTerminal,
  () =>
    inPty(onUser("Hello", { text: "Hi there." }), async ({ mm, expect, ends }) => {
      await expect("> ");
      mm.write("Helloo\x7f\r");
      await expect("Hi there.\r\n");
      await expect("> ");
      mm.write("\x04");
      await ends(0);
    }),
);

test(
  "several lines pasted at once are one prompt, and Enter sends it",
  onTerminal,
  () =>
    inPty(onUser("first", { text: "One." }), async ({ server, mm, expect, ends }) => {
      await expect("> ");
      mm.write("See: \x1b[200~first\r\n\tsecond\nthird\n\x1b[201~");
      mm.write("!\r");
      await expect("One.");
      assert.equal(server.requests[0]?.lastUser, "See: first\n\tsecond\nthird!");
      mm.write("\x04");
      await ends(0);
      assert.equal(server.requests.length, 1);
    }),
);

test(
  "Tab completes slash commands, and the arrow up brings back the last line",
  onTerminal,
  () =>
    inPty(onUser("Hello", { text: "Hi." }), async ({ server, mm, expect, ends }) => {
      await expect("> ");
      mm.write("/sta");
      await expect("/sta");
      // A key of its own: a tab inside a piece of text is text.
      mm.write("\t");
      await expect("tus");
      mm.write("\r");
      await expect("yolo: off");
      await expect("> ");
      mm.write("Hello\r");
      await expect("Hi.");
      await expect("> ");
      mm.write("\x1b[A\r");
      await expect("Hi.");
      assert.deepEqual(server.requests.map((r) => r.lastUser), ["Hello", "Hello"]);
      await expect("> ");
      mm.write("/quit\r");
      await ends(0);
    }),
);

test(
  "Ctrl-C cancels the turn; the next prompt works; a half-typed line is given up",
  onTerminal,
  () =>
    inPty([
      onUser("Talk", { text: "So far", hang: true, holdAfter: 2 }),
      onUser("Next", { text: "Here." }),
    ], async ({ server, mm, expect, ends }) => {
      await expect("> ");
      mm.write("Talk\r");
      await expect("So far");
      mm.write("\x03");
      await expect("The turn was cancelled");
      await expect("> ");
      assert.equal(await server.requests[0]?.done, "aborted");
      // Longer than the time in which a second Ctrl-C leaves.
      await new Promise((resolve) => setTimeout(resolve, 2100));
      mm.write("half a line\x03");
      await expect("Ctrl-C again");
      mm.write("Next\r");
      await expect("Here.");
      assert.equal(server.requests[1]?.lastUser, "Next");
      mm.write("\x04");
      await ends(0);
    }),
);

test(
  "Ctrl-C twice leaves in the middle of a command and restores the terminal",
  onTerminal,
  () =>
    inPty(
      onUser("Work", { toolCalls: [bash("trap '' TERM INT; sleep 300")] }),
      async ({ mm, expect, ends }) => {
        await expect("> ");
        mm.write("Work\r");
        await expect("● bash");
        mm.write("\x03");
        mm.write("\x03");
        await ends(0);
      },
      { keys: { yolo: true } },
    ),
);

for (const [signal, status] of [["TERM", 143], ["HUP", 129]] as const) {
  test(`SIG${signal} in the middle of a command restores the terminal`, onTerminal, () =>
    inPty(
      // The parent of the command is mm itself.
      onUser("Work", { toolCalls: [bash(`kill -${signal} $PPID; trap '' TERM; sleep 300`)] }),
      async ({ mm, expect, ends }) => {
        await expect("> ");
        mm.write("Work\r");
        await ends(status);
      },
      { keys: { yolo: true } },
    ));
}

test("a terminal that is closed ends mm and all it started", onTerminal, () =>
  inPty(
    onUser("Work", { toolCalls: [bash("trap '' TERM HUP; sleep 300")] }),
    async ({ mm, expect }) => {
      await expect("> ");
      mm.write("Work\r");
      await expect("● bash");
      // The project checks that no process is left.
      mm.signal("SIGKILL");
      await mm.exit;
    },
    { keys: { yolo: true } },
  ));

test(
  "a line typed before the question was shown does not answer it, and runs afterwards",
  onTerminal,
  () => {
    const gate = Promise.withResolvers<void>();
    return inPty([
      onUser("Go", { toolCalls: [bash("touch ran")], holdUntil: gate.promise }),
      onTool("", { text: "Done." }),
      onUser("y", { text: "Yes what?" }),
    ], async ({ p, server, mm, expect, ends }) => {
      await expect("> ");
      mm.write("Go\r");
      await server.waitForRequest(() => true);
      mm.write("y\r");
      await expect(/y\r+\n/);
      gate.resolve();
      await expect(ANSWER);
      mm.write("n\r");
      await expect("Done.");
      assert.equal(p.exists("ran"), false);
      await expect("Yes what?");
      mm.write("\x04");
      await ends(0);
    });
  },
);

test(
  "a question is answered on the terminal, and Ctrl-D there refuses with the true reason",
  onTerminal,
  () =>
    inPty([
      onUser("Go", { toolCalls: [bash("touch one"), bash("touch two")] }),
      onTool("", { text: "I see." }),
    ], async ({ p, server, mm, expect, ends }) => {
      await expect("> ");
      mm.write("Go\r");
      await expect("🔐 bash: touch one");
      await expect(ANSWER);
      mm.write("y\r");
      await expect("🔐 bash: touch two");
      await expect(ANSWER);
      mm.write("\x04");
      await ends(0);
      assert.deepEqual([p.exists("one"), p.exists("two")], [true, false]);
      assert.match(server.requests[1]?.last.text ?? "", /^Not run: the input ended before/);
    }),
);

test("no escape of a model or a command reaches the terminal, with colours on", onTerminal, () => {
  const hostile = "\x1b]0;owned\x07\x1b]52;c;aGk=\x1b\\\x1b[2J\x1b[5A\x9b3Jx\x1bcy";
  return inPty(
    inOrder(
      { reasoning: `think ${hostile}`, toolCalls: [bash(`printf '${hostile}\\n'`)] },
      { text: `text ${hostile}` },
    ),
    async ({ mm, expect, ends }) => {
      await expect("> ");
      mm.write("Go\r");
      await expect(ANSWER);
      mm.write("y\r");
      await expect("text");
      await expect("> ");
      mm.write("\x04");
      await ends(0);
      const shown = mm.output;
      assert.match(shown, /\x1b\[\d*m/, "colours are on");
      assert.doesNotMatch(shown, /\x1b[\]c]|\x1b\[[25]?[A]|\x1b\[2J|\x07|\x9b|\x1b\\/);
    },
    { args: ["-line", "-verbose"], env: { NO_COLOR: "", FORCE_COLOR: "1" } },
  );
});

test(
  "with TERM=dumb line mode uses no cursor movement at all",
  onTerminal,
  () =>
    inPty(onUser("Hello", { text: "Hi." }), async ({ mm, expect, ends }) => {
      await expect("> ");
      mm.write("Hello\n");
      await expect("Hi.");
      await expect("> ");
      mm.write("\x04");
      await ends(0);
      const own = mm.output.slice(mm.output.indexOf("mm ·"));
      assert.doesNotMatch(own, /\x1b/);
    }, { env: { TERM: "dumb" } }),
);

test(
  "-p asks on the terminal, shows the answer there, and Ctrl-C cancels it",
  onTerminal,
  async () => {
    await inPty([
      onUser("Go", { toolCalls: [bash("touch ran")] }),
      onTool("", { text: "Done." }),
    ], async ({ p, mm, expect, ends }) => {
      await expect("🔐 bash: touch ran");
      await expect(ANSWER);
      mm.write("y\n");
      await expect("Done.");
      await ends(0);
      assert.equal(p.exists("ran"), true);
    }, { args: ["-p", "Go"] });
    await inPty(
      onUser("Go", { text: "So far", hang: true, holdAfter: 2 }),
      async ({ mm, expect, ends }) => {
        await expect("So far");
        mm.write("\x03");
        await ends(130);
      },
      { args: ["-p", "Go"] },
    );
  },
);

test(
  "mm alone on a terminal says what to use, with status 2",
  onTerminal,
  () =>
    inPty([], async ({ expect, ends }) => {
      await expect(/mm: .*-line.*-p.*--ask/);
      await ends(2);
    }, { args: [] }),
);

test(
  "--ask without a question on a terminal is an error at once",
  onTerminal,
  () =>
    inPty([], async ({ expect, ends }) => {
      await expect(/mm: --ask bob needs a question/);
      await ends(2);
    }, { args: ["--ask", "bob"], keys: { mmConfigs: { bob: { path: "bob.yaml" } } } }),
);
