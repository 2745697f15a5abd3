import assert from "node:assert/strict";
import { chmod, mkdir, readFile, rename, rm, symlink } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { type TestRepository, there, withRepository } from "./git_testing.ts";
import type { Worktree } from "./worktree.ts";

/** Releases a worktree that must be kept, with its branch, and returns the words. */
async function kept(r: TestRepository, worktree: Worktree): Promise<string> {
  const end = await r.worktrees.release(worktree);
  assert.ok(end.kept, "it was removed");
  assert.ok(end.words.includes(worktree.path) && end.words.includes(worktree.branch), end.words);
  return end.words;
}

/** Releases a worktree that must go without a trace. */
async function gone(r: TestRepository, worktree: Worktree, branches = ["main"]): Promise<void> {
  assert.deepEqual(await r.worktrees.release(worktree), { kept: false });
  assert.equal(await there(worktree.path), false);
  assert.deepEqual(await r.state(), { branches, entries: [r.top] });
}

async function commit(r: TestRepository, path: string, message: string): Promise<void> {
  await r.git("-C", path, "commit", "--quiet", "--allow-empty", "-m", message);
}

test("one that is as it was goes, with its branch", () =>
  withRepository(async (r) => {
    await gone(r, await r.make(join(r.top, "sub")));
    assert.equal(await there(join(r.top, ".git/worktrees")), false);
    // A change that was taken back is none.
    const worktree = await r.make();
    await r.write(join(worktree.path, "a.txt"), "other\n");
    await r.git("-C", worktree.path, "checkout", "--quiet", "a.txt");
    await gone(r, worktree);
  }));

test("a changed, a deleted and an untracked file keep it, and the words say how to go on", () =>
  withRepository(async (r) => {
    const worktree = await r.make();
    const { path, branch, base } = worktree;
    await r.write(join(path, "sub/new.txt"));
    assert.equal(
      await kept(r, worktree),
      `The worktree "${path}" on the branch "${branch}", made from the commit ${
        base.slice(0, 12)
      } of ` +
        `"main", is kept with 1 changed or untracked file. To look: git -C ${path} status. To take it ` +
        "over: commit what is wanted there, then merge the branch. To remove it: git worktree remove " +
        `--force ${path} && git branch -D ${branch}.`,
    );
    await r.write(join(path, "a.txt"), "other\n");
    await rm(join(path, "sub/b.txt"));
    assert.match(await kept(r, worktree), /with 3 changed or untracked files\./u);
    await r.git("-C", path, "add", "--all");
    await rm(join(path, "sub/new.txt"));
    assert.match(await kept(r, worktree), /with 3 changed or untracked files\./u);
    assert.equal(await readFile(join(path, "a.txt"), "utf8"), "other\n");
  }));

test("untracked files keep it whatever the configuration says of them", () =>
  withRepository(async (r) => {
    const worktree = await r.make();
    await r.git("config", "status.showUntrackedFiles", "no");
    await r.write(join(worktree.path, "new.txt"));
    assert.match(await kept(r, worktree), /1 changed or untracked file/u);
    await rm(join(worktree.path, "new.txt"));
    await mkdir(join(worktree.path, "nested"));
    await r.git("-C", join(worktree.path, "nested"), "init", "--quiet");
    assert.match(await kept(r, worktree), /1 changed or untracked file/u);
  }));

test("what git ignores goes with it, and what a link in it leads to does not", () =>
  withRepository(async (r) => {
    const worktree = await r.make();
    await r.write(join(r.home, "mine/important.txt"));
    await r.write(join(worktree.path, "out/build.o"));
    await symlink(join(r.home, "mine"), join(worktree.path, "out/link"));
    await gone(r, worktree);
    assert.ok(await there(join(r.home, "mine/important.txt")));
  }));

test("a commit keeps it, until another branch, tag or remote branch leads to it", () =>
  withRepository(async (r) => {
    for (
      const [name, reach, branches] of [
        ["branch", ["branch", "other"], ["main", "other"]],
        ["tag", ["tag", "v1"], ["main", "other"]],
        ["remote", ["update-ref", "refs/remotes/origin/x"], ["main", "other"]],
      ] as const
    ) {
      const worktree = await r.make();
      const { path, branch } = worktree;
      await commit(r, path, name);
      await commit(r, path, name);
      const words = await kept(r, worktree);
      assert.match(words, /is kept with 2 commits\. To look/u);
      assert.ok(words.includes(`To take it over: git merge ${branch}.`), words);
      await r.git(...reach, branch);
      await gone(r, worktree, [...branches]);
    }
  }));

test("a merged branch goes, and so does what the configuration said of it", () =>
  withRepository(async (r) => {
    const worktree = await r.make();
    await r.write(join(worktree.path, "new.txt"));
    await r.git("-C", worktree.path, "add", ".");
    await commit(r, worktree.path, "new");
    await r.git("config", `branch.${worktree.branch}.remote`, "origin");
    await r.git("merge", "--quiet", worktree.branch);
    await gone(r, worktree);
    assert.doesNotMatch(await r.git("config", "--local", "--list"), /agent-/u);
  }));

test("a commit that only another worktree of mm leads to keeps both", () =>
  withRepository(async (r) => {
    const first = await r.make();
    const second = await r.make();
    await commit(r, first.path, "work");
    await r.git("-C", second.path, "merge", "--quiet", first.branch);
    const ends = await Promise.all([first, second].map((one) => r.worktrees.release(one)));
    assert.deepEqual(ends.map(({ kept }) => kept), [true, true]);
  }));

test("a commit beside the branch keeps it, also after HEAD went back", () =>
  withRepository(async (r) => {
    const worktree = await r.make();
    await r.git("-C", worktree.path, "checkout", "--quiet", "--detach");
    await commit(r, worktree.path, "detached");
    assert.match(await kept(r, worktree), /with 1 commit\./u);
    await r.git("-C", worktree.path, "checkout", "--quiet", worktree.branch);
    assert.match(await kept(r, worktree), /with 1 commit\./u);
  }));

test("work on another branch stays there, and the worktree goes", () =>
  withRepository(async (r) => {
    const worktree = await r.make();
    await r.git("-C", worktree.path, "checkout", "--quiet", "-b", "feature");
    await commit(r, worktree.path, "work");
    await gone(r, worktree, ["feature", "main"]);
    const renamed = await r.make();
    await r.git("branch", "-m", renamed.branch, "renamed");
    await commit(r, renamed.path, "work");
    await gone(r, renamed, ["feature", "main", "renamed"]);
  }));

test("a branch that was moved elsewhere keeps its commits", () =>
  withRepository(async (r) => {
    const worktree = await r.make();
    await r.git("-C", worktree.path, "checkout", "--quiet", "--detach");
    const tree = await r.git("rev-parse", "HEAD^{tree}");
    const other = await r.git("commit-tree", "-p", "HEAD", "-m", "other", tree);
    await r.git("branch", "--force", worktree.branch, other);
    assert.match(await kept(r, worktree), /with 1 commit\./u);
  }));

test("what speaks against it otherwise keeps it too", () =>
  withRepository(async (r) => {
    const cases: readonly (readonly [string, (worktree: Worktree) => Promise<unknown>, RegExp])[] =
      [
        ["lock", ({ path }) => r.git("worktree", "lock", path), /is kept \(it is locked\)\./u],
        ["ref", ({ path }) => r.git("-C", path, "update-ref", "refs/worktree/x", "HEAD"), /refer/u],
        ["hidden", async ({ path }) => {
          await r.git("-C", path, "update-index", "--assume-unchanged", "a.txt");
          await r.write(join(path, "a.txt"), "other\n");
        }, /told to overlook/u],
        ["skipped", async ({ path }) => {
          await r.git("-C", path, "update-index", "--skip-worktree", "a.txt");
          await r.write(join(path, "a.txt"), "other\n");
        }, /told to overlook/u],
        ["merge", async ({ path }) => {
          await r.git("-C", path, "merge", "--no-commit", "--no-ff", "other");
          await r.git("-C", path, "checkout", "--quiet", "HEAD", ".");
        }, /a merge is under way in it/u],
        [
          "elsewhere",
          ({ path, branch }) =>
            r.git("worktree", "add", "--quiet", "--force", `${path}-copy`, branch),
          /checked out else/u,
        ],
        ["filter", async () => {
          await r.git("config", "filter.up.clean", `echo >> "${r.home}/ran"`);
          await r.write(join(r.top, ".git/info/attributes"), "* filter=up\n");
        }, /now defines the filter "up"/u],
      ];
    await r.git("checkout", "--quiet", "-b", "other");
    await commit(r, r.top, "other");
    await r.git("checkout", "--quiet", "main");
    for (const [name, change, words] of cases) {
      const worktree = await r.make();
      await change(worktree);
      assert.match(await kept(r, worktree), words, name);
      assert.ok(await there(worktree.path), name);
      assert.ok((await r.state()).branches.includes(worktree.branch), name);
    }
    assert.equal(await there(join(r.home, "ran")), false);
  }));

test("a stash outlives the worktree it was made in", () =>
  withRepository(async (r) => {
    const worktree = await r.make();
    await r.write(join(worktree.path, "a.txt"), "other\n");
    await r.git("-C", worktree.path, "stash", "--quiet");
    await gone(r, worktree);
    assert.match(await r.git("stash", "list"), /agent-[0-9a-f]{7}/u);
  }));

test("whatever git cannot say for certain is kept", () =>
  withRepository(async (r) => {
    const cases: readonly (readonly [string, (worktree: Worktree) => Promise<unknown>, RegExp])[] =
      [
        [
          "index",
          ({ path }) => r.write(join(r.top, ".git/worktrees", path.slice(-13), "index"), "none"),
          /git says: /u,
        ],
        [".git", ({ path }) => rm(join(path, ".git")), /no longer the worktree that was made/u],
        ["recreated", async ({ path }) => {
          await rm(path, { recursive: true });
          await r.git("init", "--quiet", path);
        }, /no longer the worktree that was made/u],
        ["link", async ({ path }) => {
          await rename(path, `${path}-away`);
          await symlink(r.top, path);
        }, /its path is no directory/u],
        ["main", async ({ path }) => {
          // The file leads to the main repository: git would work on the session's own tree.
          await r.write(join(path, ".git"), `gitdir: ${join(r.top, ".git")}\n`);
        }, /no longer the worktree that was made/u],
        [
          "orphan",
          ({ path }) => r.git("-C", path, "checkout", "--quiet", "--orphan", "x"),
          /kept/u,
        ],
        [
          "no repository",
          ({ path }) => rename(join(r.top, ".git"), `${path}-git`),
          /not in a git repo/u,
        ],
      ];
    for (const [name, change, words] of cases) {
      const worktree = await r.make();
      await change(worktree);
      assert.match(await kept(r, worktree), words, name);
      assert.ok(await there(worktree.path), name);
      assert.ok(await there(join(r.top, "a.txt")), name);
    }
  }));

test("a git that cannot be run keeps it", () =>
  withRepository(async (r) => {
    const worktree = await r.make();
    const run = () =>
      Promise.resolve({ code: null, stdout: "", stderr: "git was ended by SIGKILL" });
    const end = await r.others({ run }).release(worktree);
    assert.match(
      end.kept ? end.words : "",
      /not certain that nothing would be lost: git was ended by/u,
    );
    await gone(r, worktree);
  }));

test("what is not described as a worktree of mm is never removed", () =>
  withRepository(async (r) => {
    await r.git("worktree", "add", "--quiet", "-b", "users", join(r.home, "users"));
    const worktree = await r.make();
    const users = join(r.home, "users");
    for (
      const [name, other] of Object.entries({
        path: { path: users, cwd: users },
        branch: { branch: "users" },
        both: { path: users, cwd: users, branch: "users" },
        main: { path: r.top, cwd: r.top, branch: "main" },
        outside: { cwd: r.top },
        base: { base: "--all" },
        relative: { path: "agent-1234567", branch: "mm/agent-1234567" },
      })
    ) {
      const end = await r.worktrees.release({ ...worktree, ...other });
      assert.match(end.kept ? end.words : "", /not described as a worktree of mm/u, name);
    }
    // The form alone does not make it one.
    const path = join(r.home, "agent-1234567");
    await r.write(join(path, "mine.txt"));
    const end = await r.worktrees.release({
      ...worktree,
      path,
      cwd: path,
      branch: "mm/agent-1234567",
    });
    assert.match(
      end.kept ? end.words : "",
      /it does not lie in the folder for worktrees of its repository/u,
    );
    assert.deepEqual((await r.state()).branches, ["main", worktree.branch, "users"]);
    assert.ok(await there(join(path, "mine.txt")));
  }));

test("a directory that is gone takes its empty branch along", () =>
  withRepository(async (r) => {
    const worktree = await r.make();
    await rm(worktree.path, { recursive: true });
    await gone(r, worktree);
    const pruned = await r.make();
    await r.git("worktree", "remove", pruned.path);
    await gone(r, pruned);
  }));

test("a directory that is gone leaves a branch with commits, and the words how to get them back", () =>
  withRepository(async (r) => {
    const worktree = await r.make();
    const { path, branch } = worktree;
    await commit(r, path, "work");
    await rm(path, { recursive: true });
    const words = await kept(r, worktree);
    assert.equal(
      words,
      `The worktree "${path}" is gone; its branch "${branch}" is kept with 1 commit. To have the files ` +
        `again: git worktree prune && git worktree add ${path} ${branch}. To remove the branch: ` +
        `git branch -D ${branch}.`,
    );
    await r.git("worktree", "prune");
    await r.git("worktree", "add", "--quiet", path, branch);
    assert.equal(await r.git("-C", path, "log", "-1", "--format=%s"), "work");
  }));

test("one that was moved keeps its branch", () =>
  withRepository(async (r) => {
    const worktree = await r.make();
    await r.git("worktree", "move", worktree.path, join(r.home, "moved"));
    assert.match(
      await kept(r, worktree),
      /is gone; its branch .* is kept \(its branch is checked out els/u,
    );
    assert.ok(await there(join(r.home, "moved/a.txt")));
  }));

test("one that cannot be deleted is said to be there", {
  skip: process.getuid?.() === 0 ? "root may delete everything" : false,
}, () =>
  withRepository(async (r) => {
    const worktree = await r.make();
    const out = join(worktree.path, "out/deep");
    await r.write(join(out, "x"));
    await chmod(dirname(join(out, "x")), 0o500);
    assert.match(await kept(r, worktree), /git could not remove it entirely/u);
    await chmod(out, 0o700);
  }));

test("a worktree is alive until it is no longer what it was", () =>
  withRepository(async (r) => {
    const worktree = await r.make(join(r.top, "sub"));
    const { path } = worktree;
    assert.equal(await r.worktrees.alive(worktree), true);
    assert.equal(await r.others({}).alive(worktree), true);
    assert.equal(await r.worktrees.alive({ ...worktree, path: r.top, cwd: r.top }), false);
    assert.equal(await r.worktrees.alive({ ...worktree, origin: r.home }), false);
    await rename(join(path, "sub"), join(path, "other"));
    await symlink(r.top, join(path, "sub"));
    assert.equal(await r.worktrees.alive(worktree), false);
    await rm(join(path, "sub"));
    await rename(join(path, "other"), join(path, "sub"));
    assert.equal(await r.worktrees.alive(worktree), true);
    await rename(path, `${path}-away`);
    assert.equal(await r.worktrees.alive(worktree), false);
    await mkdir(join(path, "sub"), { recursive: true });
    assert.equal(await r.worktrees.alive(worktree), false);
    await rm(path, { recursive: true });
    await rename(`${path}-away`, path);
    assert.deepEqual(await r.worktrees.release(worktree), { kept: false });
    assert.equal(await r.worktrees.alive(worktree), false);
  }));

test("what a file says of a worktree of an earlier process is not taken for true", () =>
  withRepository(async (r) => {
    const own = await r.make();
    await commit(r, own.path, "work");
    const tip = await r.git("-C", own.path, "rev-parse", "HEAD");
    const later = r.others({});
    // It is said to begin with its own work, which nothing else leads to.
    const end = await later.release({ ...own, base: tip });
    assert.ok(end.kept && /with 1 commit/u.test(end.words), JSON.stringify(end));
    await r.git("worktree", "remove", "--force", own.path);
    const left = await later.release({ ...own, base: tip });
    assert.ok(left.kept && /is gone; its branch .* is kept with 1 commit/u.test(left.words));

    // A worktree of the user's that is called as those of mm are, and has a file that git ignores.
    const path = join(r.home, "agent-0123456");
    await r.git("worktree", "add", "--quiet", "-b", "mm/agent-0123456", path);
    await r.write(join(path, "out/kept.txt"));
    const { base, origin } = own;
    const users = { path, branch: "mm/agent-0123456", base, origin, cwd: path };
    const refused = await later.release(users);
    assert.ok(refused.kept && /does not lie in the folder for worktrees/u.test(refused.words));
    assert.ok(await there(join(path, "out/kept.txt")));
  }));

test("one of an earlier process that is as it was goes", () =>
  withRepository(async (r) => {
    const worktree = await r.make();
    assert.deepEqual(await r.others({}).release(worktree), { kept: false });
    assert.equal(await there(worktree.path), false);
  }));
