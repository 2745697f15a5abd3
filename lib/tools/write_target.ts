/**
 * The file that `write` and `edit` change, with everything that forbids it.
 *
 * @module
 */
import type { Stats } from "node:fs";
import { lstat, mkdir, readlink, realpath, stat } from "node:fs/promises";
import { basename, dirname, join, resolve } from "node:path";
import { atomicWrite } from "./atomic_write.ts";
import { errorCode, FileProblem, whyNot } from "./file_problem.ts";
import type { FileViews } from "./file_views.ts";
import { refuseSpecial } from "./open_regular.ts";
import { hashOf, type WholeFile } from "./text_file.ts";

/** Symbolic links followed one after the other; the limit of Linux. */
const MAX_LINKS = 40;

/** Where a write ends up. */
export interface WriteTarget {
  /** Absolute, symbolic links followed. */
  readonly real: string;
  /** Absent when the file does not exist yet. */
  readonly stat?: Stats;
}

/**
 * Follows symbolic links, also to a file that does not exist yet.
 *
 * @param path absolute.
 * @throws {FileProblem} for what is no regular file, with the reason alone.
 */
export async function findTarget(path: string): Promise<WriteTarget> {
  let current = path;
  for (let links = 0; links <= MAX_LINKS; links++) {
    try {
      const real = await realpath(current);
      const found = await stat(real);
      refuseSpecial(found);
      return { real, stat: found };
    } catch (error) {
      if (errorCode(error) !== "ENOENT") throw error;
    }
    const link = await lstat(current).catch(() => undefined);
    if (link?.isSymbolicLink() !== true) return { real: await realParent(current) };
    current = resolve(dirname(current), await readlink(current));
  }
  throw new FileProblem("it goes through too many symbolic links");
}

/** The same file gets the same name whether or not it exists yet. */
async function realParent(path: string): Promise<string> {
  const parent = await realpath(dirname(path)).catch(() => dirname(path));
  return join(parent, basename(path));
}

/**
 * Does nothing when the session knows the file as it is.
 *
 * @throws {FileProblem} for a read-only, unknown or changed file, with the reason alone.
 */
export function refuseStale(target: WriteTarget, file: WholeFile, views: FileViews): void {
  if ((file.stat.mode & 0o222) === 0) {
    const mode = (file.stat.mode & 0o777).toString(8).padStart(4, "0");
    throw new FileProblem(
      `it is read-only (mode ${mode}); make it writable first if that is meant`,
    );
  }
  const { mtimeMs, size } = file.stat;
  switch (views.state(target.real, { mtimeMs, size, hash: file.hash })) {
    case "unseen":
      throw new FileProblem("it exists and was not read in this session; read it first");
    case "changed":
      throw new FileProblem("it changed on disk since it was last read; read it again");
    case "current":
  }
}

/** Options of {@linkcode replaceFile}. */
export interface ReplaceFileOptions {
  readonly target: WriteTarget;
  readonly bytes: Uint8Array;
  readonly views: FileViews;
  readonly signal: AbortSignal;
}

/**
 * Puts `bytes` in place of the target, which has to be as it was when it was found, and notes that
 * the session knows the new content.
 *
 * @throws {FileProblem} with the reason alone.
 */
export async function replaceFile(options: ReplaceFileOptions): Promise<void> {
  const { target, bytes, views, signal } = options;
  try {
    if (target.stat === undefined) await mkdir(dirname(target.real), { recursive: true });
    await atomicWrite(target.real, bytes, {
      ...(target.stat === undefined ? {} : { like: target.stat }),
      verify: () => verifyUnchanged(target),
      signal,
    });
    const written = await stat(target.real);
    views.seen(target.real, {
      mtimeMs: written.mtimeMs,
      size: written.size,
      hash: hashOf(bytes),
    });
  } catch (error) {
    signal.throwIfAborted();
    throw new FileProblem(whyNot(error), { cause: error });
  }
}

async function verifyUnchanged(target: WriteTarget): Promise<void> {
  const now = await lstat(target.real).catch(() => undefined);
  const before = target.stat;
  const same = before === undefined
    ? now === undefined
    : now !== undefined && now.ino === before.ino && now.size === before.size &&
      now.mtimeMs === before.mtimeMs;
  if (!same) throw new FileProblem("it changed on disk a moment ago; read it again");
}
