/**
 * The commit that a program is built from.
 *
 * @module
 */
import { execFile } from "node:child_process";
import { promisify } from "node:util";

/** Hexadecimal digits of a commit that are kept: enough to be the only one. */
const DIGITS = 12;

/**
 * Returns the commit that is checked out in a directory, its first 12 digits, with `-dirty` where
 * tracked files differ from it; `unknown` where the directory is no git repository or git is missing.
 */
export async function commitOf(directory: string): Promise<string> {
  const git = async (...args: string[]) =>
    (await promisify(execFile)("git", args, { cwd: directory })).stdout.trim();
  try {
    const commit = await git("rev-parse", "HEAD");
    const changed = await git("status", "--porcelain", "--untracked-files=no");
    return commit.slice(0, DIGITS) + (changed === "" ? "" : "-dirty");
  } catch {
    return "unknown";
  }
}
