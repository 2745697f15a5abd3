/** What a client that no one here wrote does with mm: each of its commands, with its own exit status. */
import assert from "node:assert/strict";
import { test } from "node:test";
import { bash } from "../support/agents.ts";
import { always, type ModelServer, onTool, onUser } from "../support/model_server.ts";
import { writeAgent } from "../support/one_agent.ts";
import { type TestProject, withProject } from "../support/project.ts";
import { Acpx, missing } from "./acpx.ts";

/** Exit statuses of acpx. */
const OK = 0;
const FAILED = 1;
const TIMED_OUT = 3;
const DENIED = 5;

const why = missing();
const options = why === undefined ? {} : { skip: why };

interface Stage {
  readonly p: TestProject;
  readonly server: ModelServer;
  readonly acpx: Acpx;
}

function withAcpx(body: (stage: Stage) => Promise<void>): Promise<void> {
  return withProject(async (p) => {
    const server = await p.model({
      models: ["m", "other"],
      reply: [
        onUser("touch", { toolCalls: [bash("touch made")] }),
        onUser("hang", { chunks: ["Begun", " and"], holdAfter: 1, hang: true }),
        onUser("fail", { status: 400, body: { error: { message: "boom" } } }),
        onTool("", { text: "Tool done." }),
        always({ text: "Hello there." }),
      ],
    });
    await writeAgent(p, server);
    await body({ p, server, acpx: await Acpx.of(p) });
  });
}

test(
  "acpx exec: the answer, and an error with its words",
  options,
  () =>
    withAcpx(async ({ acpx }) => {
      const answered = await acpx.run("--format", "quiet", "exec", "hi");
      assert.deepEqual([answered.code, answered.stdout.trim()], [OK, "Hello there."]);
      const failed = await acpx.run("--format", "quiet", "exec", "fail");
      assert.equal(failed.code, FAILED);
      assert.match(failed.stdout + failed.stderr, /HTTP 400: boom/u);
    }),
);

test(
  "acpx --approve-all runs the call, --deny-all and the default do not",
  options,
  () =>
    withAcpx(async ({ p, acpx, server }) => {
      for (
        const [flags, status, made] of [
          [["--deny-all"], DENIED, false],
          [[], DENIED, false],
          [["--approve-all"], OK, true],
        ] as const
      ) {
        const { code, stdout } = await acpx.run(...flags, "--format", "quiet", "exec", "touch");
        assert.deepEqual([code, stdout.trim()], [status, "Tool done."], flags.join());
        assert.equal(p.exists("made"), made);
      }
      const results = server.requests.filter((r) => r.last.role === "tool").map((r) => r.last.text);
      assert.match(results[0] ?? "", /^Not run: /u);
      assert.match(results[2] ?? "", /exit status 0/u);
    }),
);

test(
  "acpx --format json --json-strict: nothing but messages of the protocol",
  options,
  () =>
    withAcpx(async ({ acpx }) => {
      const { code, stdout, stderr } = await acpx.run(
        "--approve-all",
        "--format",
        "json",
        "--json-strict",
        "exec",
        "touch",
      );
      assert.deepEqual([code, stderr], [OK, ""]);
      const messages = stdout.trim().split("\n").map((line) => JSON.parse(line));
      assert.ok(messages.every((message) => message.jsonrpc === "2.0"));
      const kinds = messages.map((m) => m.params?.update?.sessionUpdate).filter(Boolean);
      for (const kind of ["tool_call", "tool_call_update", "agent_message_chunk", "usage_update"]) {
        assert.ok(kinds.includes(kind), kind);
      }
      assert.equal(messages.at(-1).result.stopReason, "end_turn");
    }),
);

test(
  "acpx --timeout ends mm with the prompt that hangs",
  options,
  () =>
    withAcpx(async ({ acpx }) => {
      const { code, stdout } = await acpx.run(
        "--timeout",
        "2",
        "--format",
        "quiet",
        "exec",
        "hang",
      );
      assert.deepEqual([code, stdout.trim()], [TIMED_OUT, "Begun"]);
    }),
);

test(
  "acpx sessions: new, prompt, history, list, status, close; the context is kept",
  options,
  () =>
    withAcpx(async ({ acpx, server }) => {
      assert.equal((await acpx.run("sessions", "new")).code, OK);
      const first = await acpx.run("--format", "quiet", "prompt", "hi");
      assert.deepEqual([first.code, first.stdout.trim()], [OK, "Hello there."]);
      await acpx.run("--format", "quiet", "prompt", "again");
      const roles = server.requests.at(-1)?.messages.map((message) => message.role);
      assert.deepEqual(roles?.filter((role) => role !== "system"), ["user", "assistant", "user"]);

      const history = await acpx.run("sessions", "history");
      assert.match(history.stdout, /user\s+hi[\s\S]*assistant\s+Hello there\.[\s\S]*user\s+again/u);
      const list = JSON.parse((await acpx.run("--format", "json", "sessions", "list")).stdout);
      assert.deepEqual(list.sessions.map((s: { title: string }) => s.title), ["hi"]);
      const status = JSON.parse((await acpx.run("--format", "json", "status")).stdout);
      assert.deepEqual([status.status, status.model], ["alive", "llamacpp/m"]);
      assert.equal((await acpx.run("sessions", "close")).code, OK);
    }),
);

test(
  "acpx cancel: the prompt ends without an error, and the next one works",
  options,
  () =>
    withAcpx(async ({ acpx, server }) => {
      await acpx.run("sessions", "new");
      const hanging = acpx.start("--format", "quiet", "prompt", "hang");
      await server.waitForRequest((request) => request.lastUser === "hang");
      assert.equal((await acpx.run("cancel")).code, OK);
      assert.equal((await hanging.exit).code, OK);
      const next = await acpx.run("--format", "quiet", "prompt", "hi");
      assert.deepEqual([next.code, next.stdout.trim()], [OK, "Hello there."]);
      await acpx.run("sessions", "close");
    }),
);

test(
  "acpx set-mode and set model: what mm offers is taken, all else is refused",
  options,
  () =>
    withAcpx(async ({ p, acpx, server }) => {
      await acpx.run("sessions", "new");
      await acpx.run("--format", "quiet", "prompt", "hi");
      assert.equal((await acpx.run("set-mode", "yolo")).code, OK);
      // Nobody approves here: the mode does.
      const ran = await acpx.run("--deny-all", "--format", "quiet", "prompt", "touch");
      assert.deepEqual([ran.code, ran.stdout.trim()], [OK, "Tool done."]);
      assert.equal(p.exists("made"), true);
      const wrong = await acpx.run("set-mode", "nonsense");
      assert.equal(wrong.code, FAILED);
      assert.match(wrong.stderr, /choose "ask" or "yolo"/u);

      assert.equal((await acpx.run("set", "model", "llamacpp/other")).code, OK);
      server.allowNewPrefix();
      await acpx.run("--format", "quiet", "prompt", "hi");
      assert.equal(server.requests.at(-1)?.model, "other");
      assert.equal((await acpx.run("set", "model", "llamacpp/none")).code, FAILED);
      await acpx.run("sessions", "close");
    }),
);
