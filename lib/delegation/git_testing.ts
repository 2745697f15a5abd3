/**
 * For the tests of this folder: real repositories, and the worktrees of mm for them.
 *
 * @module
 */
import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { lstat, mkdir, mkdtemp, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { promisify } from "node:util";
import { createRunGit, type RunGit } from "../platform/git.ts";
import { gitTestEnvironment } from "../platform/git_for_tests.ts";
import { createReaper } from "../platform/reaper.ts";
import { createGitWorktrees, type GitWorktreesOptions } from "./git_worktrees.ts";
import type { Worktree, Worktrees } from "./worktree.ts";

/** A directory with a repository in it. */
export interface TestRepository {
  /** Holds all that the test makes; absolute, links resolved. */
  readonly home: string;
  /** The top of the repository, with one commit: `a.txt`, `sub/b.txt`, `.gitignore` (`out/`). */
  readonly top: string;
  readonly stateDir: string;
  readonly run: RunGit;
  readonly worktrees: Worktrees;
  /** The environment of git. */
  readonly env: Readonly<Record<string, string>>;
  /** Runs git in the repository, or in another directory with `-C`; returns its output. */
  git(...args: string[]): Promise<string>;
  /** Writes a file below the test's directory, by its absolute path. */
  write(path: string, content?: string): Promise<void>;
  /** Makes a worktree that must be made. */
  make(cwd?: string): Promise<Worktree>;
  /** Asks for a worktree that must not be made, and returns why. */
  refusal(cwd?: string, worktrees?: Worktrees): Promise<string>;
  /** Other worktrees of the same repository. */
  others(options: Partial<GitWorktreesOptions>): Worktrees;
  /** The branches and the entries of worktrees there are. */
  state(): Promise<{ readonly branches: string[]; readonly entries: string[] }>;
}

/** Options of {@linkcode withRepository}. */
export interface WithRepositoryOptions {
  /** The name of its directory. @default {"project"} */
  readonly name?: string;
}

/** Runs a test with a repository, and removes it. */
export async function withRepository(
  body: (repository: TestRepository) => Promise<void>,
  { name = "project" }: WithRepositoryOptions = {},
): Promise<void> {
  const home = await realpath(await mkdtemp(join(tmpdir(), "mm-git-")));
  const reaper = createReaper();
  const env = gitTestEnvironment(home);
  const top = join(home, name);
  const git = async (...args: string[]) => {
    const { stdout } = await promisify(execFile)("git", args, { cwd: top, env });
    return stdout.trimEnd();
  };
  const write = async (path: string, content = "text\n") => {
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, content);
  };
  try {
    await mkdir(top);
    await write(
      env.GIT_CONFIG_GLOBAL,
      "[user]\nname = Ann\nemail = ann@example.com\n[init]\ndefaultBranch = main\n",
    );
    await git("init", "--quiet");
    for (const file of ["a.txt", "sub/b.txt"]) await write(join(top, file));
    await write(join(top, ".gitignore"), "out/\n");
    await git("add", ".");
    await git("commit", "--quiet", "--message=first");
    const stateDir = join(home, "state");
    const run = createRunGit({ reaper, env });
    const others = (options: Partial<GitWorktreesOptions>) =>
      createGitWorktrees({ run, stateDir, ...options });
    const worktrees = others({});
    await body({
      home,
      top,
      stateDir,
      run,
      worktrees,
      env,
      git,
      write,
      others,
      async make(cwd = top) {
        const made = await worktrees.create({ cwd, signal: never() });
        assert.ok("worktree" in made, "error" in made ? made.error : "");
        return made.worktree;
      },
      async refusal(cwd = top, other = worktrees) {
        const made = await other.create({ cwd, signal: never() });
        assert.ok("error" in made, "a worktree was made");
        return made.error;
      },
      async state() {
        const branches = await git("for-each-ref", "--format=%(refname:short)", "refs/heads");
        const list = await git("worktree", "list", "--porcelain");
        return {
          branches: branches.split("\n"),
          entries: list.split("\n").filter((line) => line.startsWith("worktree "))
            .map((line) => line.slice("worktree ".length)),
        };
      },
    });
  } finally {
    reaper.close();
    await rm(home, { recursive: true, force: true });
  }
}

/** A signal that is never aborted. */
export function never(): AbortSignal {
  return new AbortController().signal;
}

/** Says whether there is anything at a path. */
export async function there(path: string): Promise<boolean> {
  return await lstat(path).then(() => true, () => false);
}
