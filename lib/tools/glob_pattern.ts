/**
 * Patterns of file names.
 *
 * @module
 */
import { basename, join, relative, resolve, sep } from "node:path";
import picomatch from "picomatch";
import { FileProblem } from "./file_problem.ts";
import { resolvePath } from "./tool_paths.ts";

/** No sensible pattern is longer. */
const MAX_LENGTH = 1000;

/** A pattern, split into where to look and what for. */
export interface GlobPattern {
  /** The directory below which files can match, absolute. */
  readonly base: string;
  /** Says whether an absolute path below the base matches. */
  readonly matches: (path: string) => boolean;
}

/**
 * Compiles a pattern. One without a slash is compared with the file's name at any depth, one with
 * a slash with the path from `directory`. Hidden files match like others.
 *
 * @param pattern with `*`, `**`, `?`, `[abc]` and `{a,b}`.
 * @param directory absolute.
 * @throws {FileProblem} when it is no pattern.
 */
export function globPattern(pattern: string, directory: string): GlobPattern {
  const trimmed = pattern.trim();
  if (trimmed === "") throw new FileProblem('Cannot use "pattern": it is empty');
  if (trimmed.length > MAX_LENGTH) {
    throw new FileProblem(
      `Cannot use "pattern": it has ${trimmed.length} characters, at most ${MAX_LENGTH} are allowed`,
    );
  }
  if (trimmed.startsWith("!")) {
    throw new FileProblem(
      `Cannot use "${trimmed}": a pattern says what to find, not what to leave out`,
    );
  }
  const forward = sep === "\\" ? trimmed.replaceAll("\\", "/") : trimmed;
  const slashed = forward.endsWith("/") ? `${forward}**` : forward;
  if (!slashed.includes("/")) {
    const matches = compile(slashed);
    return {
      base: directory,
      matches: (path) => basename(path) === slashed || matches(basename(path)),
    };
  }
  const { base, glob } = picomatch.scan(slashed) as { base: string; glob: string };
  // What stands before the first wildcard is an ordinary path and may lead elsewhere.
  const literal = base === "" ? directory : resolvePath(base, directory).path;
  if (glob === "") {
    const file = resolve(directory, literal);
    return { base: join(file, ".."), matches: (path) => path === file };
  }
  const matches = compile(glob);
  return {
    base: literal,
    matches: (path) => {
      const inside = relative(literal, path).split(sep).join("/");
      // Frameworks have files whose names look like patterns: `app/[id]/page.tsx`.
      return inside === glob || (!inside.startsWith("../") && matches(inside));
    },
  };
}

/** Extended patterns are off: their repetitions can take exponential time. */
function compile(glob: string): (name: string) => boolean {
  try {
    return picomatch(glob, { dot: true, noextglob: true, nonegate: true }) as (
      name: string,
    ) => boolean;
  } catch (error) {
    throw new FileProblem(
      `Cannot use "pattern": it is no valid pattern (${
        error instanceof Error ? error.message : error
      })`,
      { cause: error },
    );
  }
}
