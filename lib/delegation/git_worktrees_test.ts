import assert from "node:assert/strict";
import { cp, mkdir, readdir, realpath, rename, rm, symlink, utimes } from "node:fs/promises";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { never, type TestRepository, there, withRepository } from "./git_testing.ts";
import type { Worktree } from "./worktree.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

async function existing(r: TestRepository, path: string, cwd = r.top): Promise<string> {
  const found = await r.worktrees.existing({ path, cwd, signal: never() });
  if ("error" in found) return found.error;
  assert.equal(found.origin, r.top);
  return found.path;
}

/** A linked worktree that the user made. */
async function linked(r: TestRepository, name = "linked"): Promise<string> {
  await r.git("worktree", "add", "--quiet", "--detach", join(r.home, name));
  return join(r.home, name);
}

test("a linked worktree is found by a path that is absolute, relative or leads over a link", () =>
  withRepository(async (r) => {
    const path = await linked(r, "my tree\n'");
    assert.equal(await existing(r, path), path);
    assert.equal(await existing(r, "../my tree\n'"), path);
    assert.equal(await existing(r, "../../my tree\n'/.", join(r.top, "sub")), path);
    await symlink(path, join(r.home, "link"));
    assert.equal(await existing(r, join(r.home, "link")), path);
    await r.git("worktree", "lock", path);
    assert.equal(await existing(r, path), path);
    const made = await r.make();
    assert.equal(await existing(r, made.path), made.path);
  }));

test("anything else is refused, with the reason and what to do", () =>
  withRepository(async (r) => {
    const tree = await linked(r);
    await r.git("init", "--quiet", join(r.home, "foreign"));
    await r.git("-C", join(r.home, "foreign"), "commit", "--quiet", "--allow-empty", "-m", "x");
    await r.git(
      "-C",
      join(r.home, "foreign"),
      "worktree",
      "add",
      "--quiet",
      join(r.home, "theirs"),
    );
    await mkdir(join(r.home, "plain"));
    await symlink(r.top, join(r.home, "link"));
    const cases: readonly (readonly [string, RegExp])[] = [
      [r.top, /: it is the main working tree of this repository; name a linked worktree/u],
      [".", /: it is the main working tree/u],
      [join(r.home, "link"), /: it is the main working tree/u],
      [join(r.top, "sub"), /: it is no worktree of this repository/u],
      [join(tree, "sub"), /: it is no worktree of this repository/u],
      [join(r.top, ".git"), /: it is no worktree of this repository/u],
      [join(r.top, ".git/worktrees/linked"), /: it is no worktree of this repository/u],
      [join(r.home, "foreign"), /: it is no worktree of this repository/u],
      [join(r.home, "theirs"), /: it is no worktree of this repository/u],
      [join(r.home, "plain"), /: it is no worktree of this repository/u],
      [join(tree, "a.txt"), /: it is no worktree of this repository/u],
      ["/", /: it is no worktree of this repository/u],
      [
        "../gone",
        /"working_dir" cannot be "\.\.\/gone": there is no such directory; name a linked/u,
      ],
      ["a\0b", /"working_dir" cannot be /u],
    ];
    for (const [path, words] of cases) {
      const said = await existing(r, path);
      assert.match(said, words, path);
      assert.match(said, /\("git worktree list" shows them\), or leave "working_dir" out$/u, path);
    }
    const outside = await r.worktrees.existing({ path: tree, cwd: r.home, signal: never() });
    assert.match("error" in outside ? outside.error : "", /is not in a git repository/u);
  }));

test("a copy of a worktree is none, and looking at it does not make it one", () =>
  withRepository(async (r) => {
    const tree = await linked(r);
    const copy = join(r.home, "copy");
    await cp(tree, copy, { recursive: true });
    // git brings the entry of a worktree up to date when it is old, from wherever it runs.
    const entry = join(r.top, ".git/worktrees/linked/gitdir");
    await utimes(entry, new Date(0), new Date(0));
    assert.match(await existing(r, copy), /it is no worktree of this repository/u);
    assert.equal(await existing(r, tree), tree);
  }));

test("a worktree whose directory was made anew, or belongs to another repository now, is refused", () =>
  withRepository(async (r) => {
    const tree = await linked(r);
    await rename(tree, `${tree}-away`);
    await mkdir(tree);
    assert.match(await existing(r, tree), /it is no longer the worktree that was made there/u);
    await r.git("init", "--quiet", tree);
    assert.match(await existing(r, tree), /it is no longer the worktree that was made there/u);
    // The `.git` file of another entry.
    const other = await linked(r, "other");
    await rm(tree, { recursive: true });
    await cp(other, tree, { recursive: true });
    assert.match(await existing(r, tree), /it is no longer the worktree that was made there/u);
    await rm(tree, { recursive: true });
    await rename(`${tree}-away`, tree);
    assert.equal(await existing(r, tree), tree);
  }));

test("from a linked worktree the others are found, and the main one is still refused", () =>
  withRepository(async (r) => {
    const [first, second] = [await linked(r, "first"), await linked(r, "second")];
    const found = await r.worktrees.existing({ path: second, cwd: first, signal: never() });
    assert.deepEqual(found, { path: second, origin: first });
    assert.match(
      await r.worktrees.existing({ path: r.top, cwd: first, signal: never() })
        .then((main) => "error" in main ? main.error : ""),
      /it is the main working tree/u,
    );
  }));

/** Makes a worktree as old as a sweep wants it. */
async function old(r: TestRepository, days = 31): Promise<Worktree> {
  const worktree = await r.make();
  await age(worktree.path, days);
  return worktree;
}

async function age(path: string, days = 31): Promise<void> {
  const then = new Date(Date.now() - days * DAY_MS);
  await utimes(path, then, then);
}

test("a sweep removes what is old and empty, of this repository, and nothing else", () =>
  withRepository(async (r) => {
    const empty = await old(r);
    const young = await old(r, 29);
    const changed = await r.make();
    await r.write(join(changed.path, "new.txt"));
    const committed = await r.make();
    await r.git("-C", committed.path, "commit", "--quiet", "--allow-empty", "-m", "work");
    const locked = await r.make();
    await r.git("worktree", "lock", locked.path);
    const folder = dirname(empty.path);
    const kept = [young, changed, committed, locked].map(({ path }) => path);
    for (
      const name of ["agent-123456", "agent-12345678", "agent-ABCDEF0", "xagent-1234567", "mine"]
    ) {
      await mkdir(join(folder, name));
      kept.push(join(folder, name));
    }
    await r.git("worktree", "add", "--quiet", "--detach", join(folder, "users"));
    kept.push(join(folder, "users"));
    await r.write(join(folder, "agent-1111111/file.txt"));
    await r.write(join(folder, "agent-2222222"));
    await symlink(changed.path, join(folder, "agent-3333333"));
    kept.push(...["1111111", "2222222", "3333333"].map((id) => join(folder, `agent-${id}`)));
    await mkdir(join(folder, "agent-4444444")); // Left by a process that was killed before git began.
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      if (path !== young.path && await realpath(path) === path) await age(path);
    }
    await r.others({}).sweep({ cwd: join(r.top, "sub"), signal: never() });
    assert.deepEqual((await readdir(folder)).map((name) => join(folder, name)).sort(), kept.sort());
    const { branches } = await r.state();
    assert.deepEqual(
      branches,
      ["main", ...[young, changed, committed, locked].map(({ branch }) => branch).sort()],
    );
  }));

test("the first worktree that a process makes is preceded by a sweep", () =>
  withRepository(async (r) => {
    const { path } = await old(r);
    await r.make();
    assert.ok(await there(path));
    const made = await r.others({}).create({ cwd: r.top, signal: never() });
    assert.ok("worktree" in made);
    assert.equal(await there(path), false);
  }));

test("a sweep leaves alone what this process made, and what another repository has", () =>
  withRepository(async (r) => {
    const path = join(r.home, "trees");
    await r.git("clone", "--quiet", r.top, join(r.home, "clone"));
    const [mine, theirs] = [r.others({ path }), r.others({ path })];
    const own = await mine.create({ cwd: r.top, signal: never() });
    const foreign = await theirs.create({ cwd: join(r.home, "clone"), signal: never() });
    assert.ok("worktree" in own && "worktree" in foreign);
    const later = r.others({ path, now: () => Date.now() + 31 * DAY_MS });
    await mine.sweep({ cwd: r.top, signal: never() });
    await age(own.worktree.path);
    await age(foreign.worktree.path);
    await mine.sweep({ cwd: r.top, signal: never() });
    assert.ok(await there(own.worktree.path) && await there(foreign.worktree.path));
    await later.sweep({ cwd: r.top, signal: never() });
    assert.deepEqual(await readdir(path), [foreign.worktree.path.slice(path.length + 1)]);
  }));

test("a sweep never rejects: without a repository, without a folder, or when it is cancelled", () =>
  withRepository(async (r) => {
    await r.worktrees.sweep({ cwd: r.home, signal: never() });
    await r.worktrees.sweep({ cwd: r.top, signal: never() });
    const { path } = await old(r);
    await r.others({}).sweep({ cwd: r.top, signal: AbortSignal.abort(new Error("no more")) });
    assert.ok(await there(path));
  }));
