/** Subagents in git worktrees, in the whole program. */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { promisify } from "node:util";
import { bash, delegate, type Keys } from "./support/agents.ts";
import { inOrder, type ModelServer, type Rule } from "./support/model_server.ts";
import { oneAgent } from "./support/one_agent.ts";
import { type TestProject, withProject } from "./support/project.ts";
import { forParent, forSubagent } from "./support/subagents.ts";

const ISOLATED: Keys = {
  subagent_type: "general-purpose",
  isolation: "worktree",
  run_in_background: false,
};

async function git(p: TestProject, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)("git", args, { cwd: p.dir, env: p.env });
  return stdout.trimEnd();
}

/** Writes an agent under yolo, and commits all there is. */
async function inRepository(p: TestProject, ...rules: Rule[]): Promise<ModelServer> {
  const server = await oneAgent(p, rules, { yolo: true });
  await writeFile(
    join(p.home, ".gitconfig"),
    "[user]\nname = Ann\nemail = ann@example.com\n[init]\ndefaultBranch = main\n",
  );
  await p.write("AGENTS.md", "The project is called Shop.\n");
  await git(p, "init", "--quiet");
  await git(p, "add", "--all");
  await git(p, "commit", "--quiet", "-m", "first");
  return server;
}

/** The results that the person's own model got of its calls, in order. */
function results(server: ModelServer): string[] {
  return server.requests.filter(({ last }) => last.role === "tool" && !last.text.startsWith("Exit"))
    .map(({ last }) => last.text);
}

test("what a subagent changes in a worktree of its own stays there, and the result says where", () =>
  withProject(async (p) => {
    const server = await inRepository(
      p,
      forSubagent(
        (request) => request.last.role === "tool" ? { text: "I made it." } : undefined,
        (request) =>
          request.last.text.includes("Make it")
            ? { toolCalls: [bash("pwd > new.txt && cat new.txt")] }
            : undefined,
      ),
      forParent(inOrder(
        { toolCalls: [delegate("Make it", ISOLATED)] },
        { toolCalls: [delegate("Make it", ISOLATED)] },
        { text: "Made twice." },
      )),
    );
    const { stdout, stderr } = await p.runMm(["-p", "Make it twice"]);
    assert.equal(stdout, "Made twice.\n", stderr);
    const said = results(server).filter((text) => text.startsWith("I made it."));
    const places = said.map((text) =>
      /\[The worktree "([^"]+)" on the branch "(mm\/agent-[0-9a-f]{7})", made from the commit/u
        .exec(text) ?? []
    );
    assert.equal(places.length, 2, said.join("\n"));
    assert.notEqual(places[0]?.[1], places[1]?.[1]);
    for (const [, path = "", branch = ""] of places) {
      assert.ok(path.startsWith(join(p.stateDir, "worktrees")), path);
      assert.equal(await readFile(join(path, "new.txt"), "utf8"), `${path}\n`);
      assert.ok((await git(p, "branch", "--list", branch)).endsWith(branch));
      const told = server.requests.find(({ lastUser }) =>
        lastUser.includes(`You work in "${path}"`)
      );
      assert.ok(
        told?.lastUser.includes(`that begin with "${p.dir}" mean the same`),
        told?.lastUser,
      );
      assert.ok(told?.lastUser.endsWith("Make it"), told?.lastUser);
    }
    assert.equal(await git(p, "status", "--porcelain", "--ignored"), "");
  }));

test("a worktree in which nothing was changed is gone after the run, with its branch", () =>
  withProject(async (p) => {
    const server = await inRepository(
      p,
      forSubagent(() => ({ text: "All is well." })),
      forParent(inOrder({ toolCalls: [delegate("Look", ISOLATED)] }, { text: "Well." })),
    );
    const { stdout, stderr } = await p.runMm(["-p", "Is all well?"]);
    assert.equal(stdout, "Well.\n", stderr);
    assert.deepEqual(results(server), ["All is well."]);
    assert.equal(await git(p, "branch", "--format=%(refname:short)"), "main");
    assert.equal((await git(p, "worktree", "list")).split("\n").length, 1);
  }));

test("a subagent that cannot be isolated does not run, and the model is told why", () =>
  withProject(async (p) => {
    const server = await oneAgent(
      p,
      [
        forSubagent(() => ({ text: "I ran." })),
        forParent(inOrder({ toolCalls: [delegate("Look", ISOLATED)] }, { text: "Not done." })),
      ],
      { yolo: true },
    );
    const { stdout, stderr } = await p.runMm(["-p", "Look"]);
    assert.equal(stdout, "Not done.\n", stderr);
    const [result = ""] = results(server);
    assert.ok(
      result.includes(`no worktree can be made: "${p.dir}" is not in a git repository;`),
      result,
    );
    assert.equal(existsSync(join(p.stateDir, "worktrees")), false);
    assert.equal(server.requests.length, 2);
  }));

test("changes that are not committed are named to the model, and nothing is made", () =>
  withProject(async (p) => {
    const server = await inRepository(
      p,
      forParent(inOrder({ toolCalls: [delegate("Look", ISOLATED)] }, { text: "Not done." })),
    );
    await p.write("new.txt", "");
    await p.runMm(["-p", "Look"]);
    assert.match(
      results(server)[0] ?? "",
      /not committed and that the subagent would not see: "new\.txt"; ask/u,
    );
    assert.equal(await git(p, "branch", "--format=%(refname:short)"), "main");
  }));

test("a subagent works in a worktree of the user, by the instructions that lie there", () =>
  withProject(async (p) => {
    const there = join(p.dir, "..", "fix");
    const pinned = (working_dir: string): Keys => ({
      subagent_type: "general-purpose",
      working_dir,
      run_in_background: false,
    });
    const server = await inRepository(
      p,
      forSubagent(inOrder({ toolCalls: [bash("pwd > new.txt")] }, { text: "Mended." })),
      forParent(inOrder(
        { toolCalls: [delegate("Mend it", pinned("../fix"))] },
        { toolCalls: [delegate("Mend it", pinned("."))] },
        { text: "Done." },
      )),
    );
    await git(p, "worktree", "add", "--quiet", "-b", "fix", there);
    await writeFile(join(there, "AGENTS.md"), "The project is called Mart.\n");
    const { stdout, stderr } = await p.runMm(["-p", "Go"]);
    assert.equal(stdout, "Done.\n", stderr);
    assert.equal(await readFile(join(there, "new.txt"), "utf8"), `${there}\n`);
    const child = server.requests.find(({ lastUser }) => lastUser.endsWith("Mend it"));
    const seen = JSON.stringify(child?.messages);
    assert.ok(seen.includes("called Mart.") && !seen.includes("called Shop."), seen);
    const said = results(server);
    assert.ok(said.includes("Mended."), said.join("\n"));
    assert.match(said.at(-1) ?? "", /"working_dir" cannot be "\.": it is the main working tree/u);
    // It is the user's, and stays.
    assert.ok(existsSync(there));
  }));
