/**
 * Patterns of file names.
 *
 * @module
 */
import { basename, join, relative, resolve, sep } from "node:path";
import picomatch from "picomatch";
import { messageOf } from "../base/errors.ts";
import { FileProblem } from "./file_problem.ts";
import { resolvePath } from "./tool_paths.ts";

/** No sensible pattern is longer. */
const MAX_LENGTH = 1000;

/** With more stars the time to compare one name grows beyond measure. */
const MAX_STARS = 4;

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

/**
 * Compiles a pattern without extended ones: parentheses are taken literally, because directories
 * have names with them (`app/(group)`) and repetitions can take exponential time.
 */
function compile(glob: string): (name: string) => boolean {
  for (const part of glob.split("/")) {
    if ((part.match(/\*+/gu)?.length ?? 0) > MAX_STARS) {
      throw new FileProblem(
        `Cannot use "${glob}": it has more than ${MAX_STARS} "*" in one part of the path; leave some out`,
      );
    }
  }
  if ((glob.match(/\*\*/gu)?.length ?? 0) > MAX_STARS) {
    throw new FileProblem(
      `Cannot use "${glob}": it has more than ${MAX_STARS} "**"; leave some out`,
    );
  }
  const literal = glob.replace(/\\?[()|]/gu, (found) => found.length === 2 ? found : `\\${found}`);
  try {
    return picomatch(literal, { dot: true, noextglob: true, nonegate: true }) as (
      name: string,
    ) => boolean;
  } catch (error) {
    throw new FileProblem(
      `Cannot use "${glob}": it is no valid pattern (${messageOf(error)})`,
      { cause: error },
    );
  }
}
