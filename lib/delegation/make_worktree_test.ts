import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import {
  chmod,
  chown,
  mkdir,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  symlink,
} from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { promisify } from "node:util";
import { createRunGit } from "../platform/git.ts";
import { createReaper } from "../platform/reaper.ts";
import { never, there, withRepository } from "./git_testing.ts";
import { worktreeNotice } from "./worktree.ts";

test("a worktree lies outside of the project, private, on its own branch at the same commit", () =>
  withRepository(async (r) => {
    const { path, branch, base, from, origin, cwd } = await r.make();
    assert.match(
      path.slice(r.stateDir.length),
      /^\/worktrees\/project-[0-9a-f]{16}\/agent-[0-9a-f]{7}$/u,
    );
    assert.equal(branch, `mm/${path.slice(-13)}`);
    assert.deepEqual({ origin, cwd, from }, { origin: r.top, cwd: path, from: "main" });
    assert.equal(base, await r.git("rev-parse", "HEAD"));
    assert.equal(await r.git("-C", path, "rev-parse", "HEAD"), base);
    assert.equal(await r.git("-C", path, "symbolic-ref", "--short", "HEAD"), branch);
    assert.equal(await readFile(join(path, "sub/b.txt"), "utf8"), "text\n");
    for (const part of ["", "worktrees", path.split("/").at(-2) ?? ""]) {
      const { mode } = await stat(
        part === "" ? path : path.slice(0, path.indexOf(part) + part.length),
      );
      assert.equal(mode & 0o777, 0o700, part);
    }
  }));

test("nothing is written into the project's tree, so that the next worktree is made too", () =>
  withRepository(async (r) => {
    const before = await readdir(r.top);
    const first = await r.make();
    const second = await r.make();
    assert.notEqual(first.path, second.path);
    assert.deepEqual(await readdir(r.top), before);
    assert.equal(await r.git("status", "--porcelain", "--ignored"), "");
    assert.equal(
      await r.git("config", "--local", "--list").then((text) => text.includes("hook")),
      false,
    );
  }));

test("worktrees are made and removed at the same time, by two processes as well", () =>
  withRepository(async (r) => {
    const other = r.others({});
    await Promise.all(Array.from({ length: 8 }, async (_, at) => {
      const worktrees = at % 2 === 0 ? r.worktrees : other;
      for (let round = 0; round < 3; round++) {
        const made = await worktrees.create({ cwd: r.top, signal: never() });
        assert.ok("worktree" in made, "error" in made ? made.error : "");
        assert.deepEqual(await worktrees.release(made.worktree), { kept: false });
      }
    }));
    assert.deepEqual(await r.state(), { branches: ["main"], entries: [r.top] });
  }));

test("a run works in the same subdirectory as its session, also through a link", () =>
  withRepository(async (r) => {
    await symlink(join(r.top, "sub"), join(r.home, "link"));
    for (const cwd of [join(r.top, "sub"), join(r.home, "link")]) {
      const worktree = await r.make(cwd);
      assert.equal(worktree.cwd, join(worktree.path, "sub"));
      assert.equal(worktree.origin, r.top);
    }
  }));

test("a detached HEAD and a linked worktree of the user can be worked from", () =>
  withRepository(async (r) => {
    await r.git("worktree", "add", "--quiet", "--detach", join(r.home, "linked"));
    const worktree = await r.make(join(r.home, "linked"));
    assert.equal(worktree.from, undefined);
    assert.equal(worktree.origin, join(r.home, "linked"));
    assert.deepEqual(await r.worktrees.release(worktree), { kept: false });
  }));

test("paths with spaces, quotes and ends of lines are paths like others", async () => {
  for (const name of ["a b", `it's "so"`, "two\nlines", "-x", "ä😀"]) {
    await withRepository(async (r) => {
      const worktree = await r.make(join(r.top, "sub"));
      assert.equal(worktree.origin, r.top);
      assert.deepEqual(await r.worktrees.release(worktree), { kept: false });
      const others = r.others({ path: join(r.home, `${name} trees`) });
      const made = await others.create({ cwd: r.top, signal: never() });
      assert.ok("worktree" in made, "error" in made ? made.error : "");
      const { path } = made.worktree;
      assert.ok("path" in await others.existing({ path, cwd: r.top, signal: never() }));
      await r.write(join(path, name));
      const end = await others.release(made.worktree);
      assert.match(end.kept ? end.words : "", /with 1 changed or untracked file\./u);
    }, { name }).catch((error: unknown) => {
      throw new Error(`in ${JSON.stringify(name)}`, { cause: error });
    });
  }
});

test("the folder of the configuration is used as it is", () =>
  withRepository(async (r) => {
    const path = join(r.home, "my trees\n");
    const worktrees = r.others({ path });
    const made = await worktrees.create({ cwd: r.top, signal: never() });
    assert.ok("worktree" in made, "error" in made ? made.error : "");
    assert.match(made.worktree.path.slice(path.length), /^\/agent-[0-9a-f]{7}$/u);
    assert.deepEqual(await worktrees.release(made.worktree), { kept: false });
    assert.deepEqual(await readdir(path), []);
  }));

test("changes that are not committed are a reason to refuse, with the first five of them", () =>
  withRepository(async (r) => {
    await r.write(join(r.top, "a.txt"), "other\n");
    assert.equal(
      await r.refusal(),
      `no worktree can be made: "${r.top}" has a change that is not committed and that the subagent ` +
        'would not see: "a.txt"; ask the user to commit or stash, or start the subagent without "isolation"',
    );
    for (let i = 1; i <= 6; i++) await r.write(join(r.top, `new ${i}\n"`));
    assert.match(
      await r.refusal(join(r.top, "sub")),
      /has 7 changes that are not .*"a\.txt", "new 1 \\"", "new 2 \\"", "new 3 \\"", "new 4 \\"", \.\.\.;/u,
    );
    // Whatever the configuration says about them.
    await r.git("checkout", "a.txt");
    await r.git("config", "status.showUntrackedFiles", "no");
    assert.match(await r.refusal(), /has 6 changes/u);
    assert.deepEqual((await r.state()).branches, ["main"]);
  }));

test("a directory without git, without a repository, without a working tree or a commit is refused", () =>
  withRepository(async (r) => {
    const reaper = createReaper();
    const run = createRunGit({ reaper, env: { PATH: join(r.home, "nowhere") } });
    assert.equal(
      await r.refusal(r.top, r.others({ run })),
      'no worktree can be made: there is no git on the PATH; start the subagent without "isolation"',
    );
    reaper.close();
    assert.equal(
      await r.refusal(r.home),
      `no worktree can be made: "${r.home}" is not in a git repository; start the subagent without ` +
        '"isolation"',
    );
    assert.match(
      await r.refusal(join(r.top, ".git")),
      /is in no working tree of its git repository;/u,
    );
    assert.match(await r.refusal(join(r.top, "gone")), /there is no ".*gone"; start/u);
    await r.git("init", "--quiet", join(r.home, "new"));
    assert.match(
      await r.refusal(join(r.home, "new")),
      /has no commit yet; ask the user for a first/u,
    );
  }));

test("a worktree of mm has no worktrees of its own", () =>
  withRepository(async (r) => {
    const { path } = await r.make();
    assert.match(
      await r.refusal(path),
      /agent-[0-9a-f]{7}" is a worktree of its own already; start/u,
    );
    assert.match(await r.refusal(join(path, "sub")), /is a worktree of its own already/u);
  }));

test("a merge that is under way is refused as such", () =>
  withRepository(async (r) => {
    await r.git("checkout", "--quiet", "-b", "other");
    await r.write(join(r.top, "a.txt"), "other\n");
    await r.git("commit", "--quiet", "-am", "other");
    await r.git("checkout", "--quiet", "main");
    await r.write(join(r.top, "a.txt"), "main\n");
    await r.git("commit", "--quiet", "-am", "main");
    await assert.rejects(r.git("merge", "other"));
    assert.match(
      await r.refusal(),
      /: a merge is under way in ".*project"; ask the user to end it first/u,
    );
    await r.git("merge", "--abort");
    await assert.rejects(r.git("rebase", "other"));
    assert.match(await r.refusal(), /: a rebase is under way in/u);
    await r.git("rebase", "--abort");
    await r.make();
  }));

test("submodules with files are refused, and empty ones are not", () =>
  withRepository(async (r) => {
    const allow = ["-c", "protocol.file.allow=always"];
    await r.git("clone", "--quiet", r.top, join(r.home, "super"));
    const git = (...args: string[]) => r.git("-C", join(r.home, "super"), ...args);
    await git(...allow, "submodule", "--quiet", "add", r.top, "part");
    await git("commit", "--quiet", "-m", "part");
    assert.match(
      await r.refusal(join(r.home, "super")),
      /has submodules, which a worktree would have empty: "part";/u,
    );
    await git("submodule", "--quiet", "deinit", "--all");
    const worktree = await r.make(join(r.home, "super"));
    assert.deepEqual(await r.worktrees.release(worktree), { kept: false });
  }));

test("a sparse checkout has sparse worktrees, which can be removed", () =>
  withRepository(async (r) => {
    await r.git("sparse-checkout", "set", "sub");
    await r.write(join(r.top, "x/y.txt"));
    await r.git("add", "--sparse", "x");
    await r.git("commit", "--quiet", "-m", "x");
    await r.git("sparse-checkout", "reapply");
    assert.equal(await there(join(r.top, "x")), false);
    const worktree = await r.make();
    assert.ok(await there(join(worktree.path, "sub/b.txt")));
    assert.deepEqual(await r.worktrees.release(worktree), { kept: false });
  }));

test("a directory of which nothing is committed is refused", () =>
  withRepository(async (r) => {
    await mkdir(join(r.top, "out"));
    await r.write(join(r.top, "out/x"));
    assert.match(
      await r.refusal(join(r.top, "out")),
      /: nothing in ".*\/out" is committed: the subagent/u,
    );
  }));

test("a branch or a directory that exists is left alone, and another name is taken", () =>
  withRepository(async (r) => {
    const names = ["agent-0000001", "agent-0000002", "agent-0000003", "agent-0000004"];
    const worktrees = r.others({ newName: () => names.shift() ?? "agent-0000005", path: r.home });
    await r.git("branch", "mm/agent-0000001");
    await r.write(join(r.home, "agent-0000002/mine.txt"));
    await r.git("worktree", "add", "--quiet", join(r.home, "elsewhere/agent-0000003"));
    const made = await worktrees.create({ cwd: r.top, signal: never() });
    assert.ok("worktree" in made, "error" in made ? made.error : "");
    assert.equal(made.worktree.path, join(r.home, "agent-0000004"));
    await worktrees.create({ cwd: r.top, signal: never() });
    assert.match(
      await r.refusal(r.top, worktrees),
      /none of 10 names was free; try again, or start/u,
    );
    assert.deepEqual((await r.state()).branches, [
      "agent-0000003",
      "main",
      "mm/agent-0000001",
      "mm/agent-0000004",
      "mm/agent-0000005",
    ]);
    assert.equal(await readFile(join(r.home, "agent-0000002/mine.txt"), "utf8"), "text\n");
  }));

test("a branch called mm makes git refuse, in git's words, and nothing is left", () =>
  withRepository(async (r) => {
    await r.git("branch", "mm");
    assert.match(
      await r.refusal(),
      /git says: cannot lock ref '.*'refs\/heads\/mm' exists.*; start/u,
    );
    assert.deepEqual(await r.state(), { branches: ["main", "mm"], entries: [r.top] });
    const [folder = ""] = await readdir(join(r.stateDir, "worktrees"));
    assert.deepEqual(await readdir(join(r.stateDir, "worktrees", folder)), []);
  }));

test("a folder inside of the repository is refused, and not made", () =>
  withRepository(async (r) => {
    for (const path of [join(r.top, "trees"), join(r.top, ".git/trees"), r.top]) {
      assert.match(
        await r.refusal(r.top, r.others({ path })),
        /: the folder for worktrees ".*" lies in ".*", which belongs to the repository; ask the user to set agents\.worktree/u,
      );
    }
    await symlink(r.top, join(r.home, "link"));
    await r.refusal(r.top, r.others({ path: join(r.home, "link/trees") }));
    assert.deepEqual((await readdir(r.top)).sort(), [".git", ".gitignore", "a.txt", "sub"]);
    assert.equal(await there(join(r.top, ".git/trees")), false);
  }));

test("a folder that cannot be made is a reason, not a failure", () =>
  withRepository(async (r) => {
    await r.write(join(r.home, "file"));
    const words = await r.refusal(r.top, r.others({ path: join(r.home, "file/trees") }));
    assert.match(words, /the directory ".*" cannot be made: ENOTDIR.*; ask the user about agents/u);
  }));

test("neither a hook nor the file monitor of the project runs", () =>
  withRepository(async (r) => {
    const trap = join(r.home, "trap.sh");
    await r.write(trap, `#!/bin/sh\necho "$0 $*" >> "${r.home}/ran"\n`);
    await chmod(trap, 0o755);
    const hooks = ["post-checkout", "reference-transaction", "post-index-change"];
    for (const hook of hooks) await symlink(trap, join(r.top, ".git/hooks", hook));
    await r.git("config", "core.fsmonitor", trap);
    await r.git("config", "core.alternateRefsCommand", trap);
    await r.git("config", "log.showSignature", "true");
    await r.git("config", "gpg.program", trap);
    const worktree = await r.make();
    assert.deepEqual(await r.worktrees.release(worktree), { kept: false });
    await r.worktrees.sweep({ cwd: r.top, signal: never() });
    assert.equal(await there(join(r.home, "ran")), false);
    // The trap works: git itself runs it.
    await r.git("checkout", "--quiet", "-b", "other");
    assert.ok(await there(join(r.home, "ran")));
  }));

test("a filter of the repository's own configuration is refused, one of the user's runs", () =>
  withRepository(async (r) => {
    await r.write(join(r.top, ".gitattributes"), "*.txt filter=up\n");
    await r.git("add", ".");
    await r.git("commit", "--quiet", "-m", "attributes");
    const trap = `tr a-z A-Z; echo >> "${r.home}/ran"`;
    await r.git("config", "filter.up.smudge", trap);
    const refusal = await r.refusal();
    assert.match(
      refusal,
      /the repository's own configuration defines the filter "up", a command that git would run with/u,
    );
    assert.equal(await there(join(r.home, "ran")), false);
    await r.git("config", "--global", "filter.up.smudge", "tr a-z A-Z");
    await r.git("config", "--global", "filter.up.clean", "tr A-Z a-z");
    // That is the first half of what the refusal says to do; the second is needed too.
    assert.match(refusal, /git config --global filter\.up\.clean/u);
    assert.match(await r.refusal(), /defines the filter "up"/u);
    assert.match(refusal, /git config --local --remove-section filter\.up\)/u);
    await r.git("config", "--local", "--remove-section", "filter.up");
    const { path } = await r.make();
    assert.equal(await readFile(join(path, "a.txt"), "utf8"), "TEXT\n");
  }));

test("an incomplete clone fetches nothing", () =>
  withRepository(async (r) => {
    await r.git("config", "uploadpack.allowFilter", "true");
    const clone = join(r.home, "clone");
    await r.git("clone", "--quiet", "--filter=blob:none", `file://${r.top}`, clone);
    const trap = join(r.home, "trap.sh");
    await r.write(trap, `#!/bin/sh\necho >> "${r.home}/ran"\nexec git-upload-pack "$@"\n`);
    await chmod(trap, 0o755);
    await r.git("-C", clone, "config", "remote.origin.uploadpack", trap);
    const worktree = await r.make(clone);
    assert.ok(await there(join(worktree.path, "a.txt")));
    assert.equal(await there(join(r.home, "ran")), false);
  }));

test("a repository of another user is refused in git's words", {
  skip: process.getuid?.() === 0 ? false : "only root can give files away",
}, () =>
  withRepository(async (r) => {
    for (const path of [r.top, join(r.top, ".git")]) await chown(path, 12345, 12345);
    assert.match(
      await r.refusal(),
      /git says: detected dubious ownership in repository at .*; start/u,
    );
    const found = await r.worktrees.existing({ path: ".", cwd: r.top, signal: never() });
    assert.match("error" in found ? found.error : "", /detected dubious ownership/u);
  }));

test("one that is cancelled midway leaves nothing", () =>
  withRepository(async (r) => {
    // A filter of the user's that waits holds git in the middle of the checkout.
    await r.write(join(r.top, ".gitattributes"), "a.txt filter=slow\n");
    await r.git("add", ".");
    await r.git("commit", "--quiet", "-m", "attributes");
    const pipe = join(r.home, "pipe");
    await promisify(execFile)("mkfifo", [pipe]);
    await r.git("config", "--global", "filter.slow.smudge", `echo begun > '${pipe}'; sleep 300`);
    const control = new AbortController();
    const reason = new Error("no more");
    const made = r.worktrees.create({ cwd: r.top, signal: control.signal });
    made.catch(() => {});
    assert.equal(await readFile(pipe, "utf8"), "begun\n");
    control.abort(reason);
    await assert.rejects(made, reason);
    assert.deepEqual(await r.state(), { branches: ["main"], entries: [r.top] });
    const [folder = ""] = await readdir(join(r.stateDir, "worktrees"));
    assert.deepEqual(await readdir(join(r.stateDir, "worktrees", folder)), []);
    assert.deepEqual(await readdir(join(r.top, ".git/worktrees")), []);
    await r.git("config", "--global", "--remove-section", "filter.slow");
    await r.make();
  }));

test("one that is cancelled before it begins rejects with the reason", () =>
  withRepository(async (r) => {
    const reason = new Error("no more");
    const signal = AbortSignal.abort(reason);
    await assert.rejects(r.worktrees.create({ cwd: r.top, signal }), reason);
    await assert.rejects(r.worktrees.existing({ path: ".", cwd: r.top, signal }), reason);
    assert.equal(await there(r.stateDir), false);
  }));

test("a variable that names another repository changes nothing", () =>
  withRepository(async (r) => {
    const reaper = createReaper();
    const env = {
      ...r.env,
      GIT_DIR: join(r.home, "x"),
      GIT_WORK_TREE: r.home,
      GIT_INDEX_FILE: join(r.home, "i"),
      GIT_COMMON_DIR: r.home,
      GIT_OBJECT_DIRECTORY: r.home,
      GIT_NAMESPACE: "n",
      GIT_CONFIG_PARAMETERS: "'core.bare'='true'",
    };
    const worktrees = r.others({ run: createRunGit({ reaper, env }) });
    const made = await worktrees.create({ cwd: r.top, signal: never() });
    assert.ok("worktree" in made, "error" in made ? made.error : "");
    assert.deepEqual(await worktrees.release(made.worktree), { kept: false });
    reaper.close();
  }));

test("a run is told its place, what it begins with, and how to read the paths of its task", () =>
  withRepository(async (r) => {
    const worktree = await r.make();
    const { path, branch, base } = worktree;
    assert.equal(
      worktreeNotice(worktree),
      `[You work in "${path}", a git worktree. It was made for you, on the branch "${branch}", which ` +
        `begins at the commit ${
          base.slice(0, 12)
        } of "main". What git ignores is deleted with it: put ` +
        "results into files that git does not ignore. Paths in the task that begin with " +
        `"${r.top}" mean the same place under "${path}"; leave the original alone, and read a file here ` +
        "before you change it.]",
    );
    assert.doesNotMatch(worktreeNotice({ path, origin: r.top }), /made for you/u);
  }));

test("a project that was moved has its old worktrees no more, and new ones can be made", () =>
  withRepository(async (r) => {
    const worktree = await r.make();
    await rename(r.top, join(r.home, "moved"));
    const end = await r.worktrees.release(worktree);
    assert.match(
      end.kept ? end.words : "",
      /is kept, for it is not certain that .*: there is no ".*project"/u,
    );
    await mkdir(r.top); // The test's own git runs here.
    await rm(worktree.path, { recursive: true });
    await r.make(join(r.home, "moved"));
  }));
