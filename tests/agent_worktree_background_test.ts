/** Subagents in worktrees of their own, in the background, and asked agents in one. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { type AgentStage, endsIn, runCalls, withStage } from "./support/agent_stage.ts";
import { bash, delegate, type Keys } from "./support/agents.ts";
import { fakeAgent } from "./support/fake_agent.ts";
import { onTool, onUser, type Rule } from "./support/model_server.ts";

const ISOLATED: Keys = { subagent_type: "general-purpose", isolation: "worktree" };

/** Does what a task says, and what a message to it says. */
const RULES: readonly Rule[] = [
  onUser(/Wait$/u, { hang: true }),
  onUser(/Change (\w+)$/u, ({ lastUser }) => ({
    toolCalls: [bash(`pwd >> ${/(\w+)$/u.exec(lastUser)?.[1]}.txt`)],
  })),
  onTool(/exit status 0/u, { text: "Changed." }),
  onUser(/Look$/u, { text: "All is well." }),
];

interface Repository {
  readonly stage: AgentStage;
  git(...args: string[]): Promise<string>;
  /** The worktree that a result names: its directory and its branch. */
  kept(text: string): { readonly path: string; readonly branch: string };
}

/** Runs `body` in a repository in which all there is was committed. */
function inRepository(
  body: (repository: Repository) => Promise<void>,
  keys: Keys = {},
): Promise<void> {
  return withStage(RULES, async (stage) => {
    const { p } = stage;
    const env = { ...p.env, GIT_CONFIG_NOSYSTEM: "1" };
    const git = async (...args: string[]) => {
      const author = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"];
      const { stdout } = await promisify(execFile)("git", [...author, ...args], {
        cwd: p.dir,
        env,
      });
      return stdout.trimEnd();
    };
    await git("init", "--quiet", "--initial-branch=main");
    await git("add", "--all");
    await git("commit", "--quiet", "-m", "first");
    await body({
      stage,
      git,
      kept(text) {
        const [, path = "", branch = ""] =
          /\[The worktree "([^"]+)" on the branch "(mm\/agent-[0-9a-f]{7})"/u.exec(text) ?? [];
        assert.ok(path.startsWith(join(p.stateDir, "worktrees")), text);
        return { path, branch };
      },
    });
  }, { agents: { maxParallel: 8 }, ...keys });
}

test("in the background what was changed in a worktree is kept and named in the notification, the rest is gone", () =>
  inRepository(async ({ stage, git, kept }) => {
    const one = await stage.start("Change one", ISOLATED);
    const two = await stage.start("Change two", ISOLATED);
    const three = await stage.start("Look", ISOLATED);
    await stage.call(runCalls.wait());
    const result = (id: string) => stage.ends.find((end) => end.id === id)?.result ?? "";
    const places = [kept(result(one)), kept(result(two))];
    assert.notEqual(places[0]?.path, places[1]?.path);
    for (const [at, { path, branch }] of places.entries()) {
      const file = join(path, `${at === 0 ? "one" : "two"}.txt`);
      assert.equal(await readFile(file, "utf8"), `${path}\n`);
      assert.ok((await git("branch", "--list", branch)).endsWith(branch));
    }
    assert.equal(result(three), "All is well.");
    assert.equal((await git("worktree", "list")).split("\n").length, 3);
    assert.equal(await git("status", "--porcelain", "--ignored"), "");

    // It goes on where it worked; the one whose place is gone does not.
    await stage.rounds([runCalls.send(one, "Change again")], [runCalls.wait(one)]);
    const again = stage.ends.filter(({ id }) => id === one).at(-1);
    assert.equal(again?.round, 2);
    assert.equal(kept(again?.result ?? "").path, places[0]?.path);
    assert.equal(
      await readFile(join(places[0]?.path ?? "", "again.txt"), "utf8"),
      `${places[0]?.path}\n`,
    );
    const [refused = ""] = await stage.call(runCalls.send(three, "Look"));
    assert.match(refused, /takes no messages: its directory is gone \(a worktree without changes/u);
    await stage.editor.prompt(stage.session, `/tasks ${one}`);
    assert.ok(stage.editor.text(stage.session).includes(`branch: ${places[0]?.branch}`));
  }));

test("a run that is stopped, and one that mm ends with, leave no worktree without changes", () =>
  inRepository(async ({ stage, git }) => {
    const first = await stage.start("Wait", ISOLATED);
    await stage.asked("Wait");
    assert.equal((await git("worktree", "list")).split("\n").length, 2);
    const [stopped = ""] = await stage.call(runCalls.stop(first));
    assert.equal(endsIn(stopped)[0]?.status, "cancelled");
    assert.equal((await git("worktree", "list")).split("\n").length, 1);
    await stage.start("Wait", ISOLATED);
    await stage.server.waitForRequest(() =>
      stage.theirs.filter(({ lastUser }) => lastUser.endsWith("Wait")).length === 2
    );
    await stage.editor.mm.stop();
    assert.equal((await git("worktree", "list")).split("\n").length, 1);
    assert.equal(await git("branch", "--format=%(refname:short)"), "main");
  }));

test("an asked agent of another make works in the worktree; one with a directory of its own does not", () =>
  inRepository(async ({ stage, kept }) => {
    const inline = (name: string) =>
      delegate("Go", { ...ISOLATED, subagent_type: name, run_in_background: false });
    const [there = "", own = ""] = await stage.call(inline("eve"), inline("home"));
    const { path } = kept(there);
    assert.ok(existsSync(join(path, "eve.txt")));
    assert.ok(there.startsWith(`I wrote "${join(path, "eve.txt")}"`), there);
    assert.equal(
      own,
      "Not started: home works in a directory of its own; leave the worktree out",
    );
  }, {
    mmConfigs: {
      eve: { command: fakeAgent({ behaviour: "write_file", text: "eve.txt" }) },
      home: { command: fakeAgent({ behaviour: "answer" }), cwd: "/" },
    },
  }));
