/**
 * Paths as models write them, and as results show them.
 *
 * @module
 */
import { homedir } from "node:os";
import { relative, resolve, sep } from "node:path";
import { platform } from "node:process";
import { fileURLToPath } from "node:url";
import { messageOf } from "../base/errors.ts";
import { isWithin } from "../base/is_within.ts";
import { FileProblem } from "./file_problem.ts";

/** A path a model named. */
export interface NamedPath {
  /** Absolute. */
  readonly path: string;
  /** Whether it was written with a slash at its end, as only directories are. */
  readonly asDirectory: boolean;
}

/**
 * Resolves a path as a model wrote it: relative to `cwd`, with `~`, as a `file://` address, in
 * quotes, with white space around it or a slash at its end.
 *
 * @throws {FileProblem} when it is no path on this system.
 */
export function resolvePath(text: string, cwd: string): NamedPath {
  let path = unquote(text.trim());
  if (path === "") throw new FileProblem('Cannot use "path": it is empty');
  if (path.includes("\0")) throw new FileProblem('Cannot use "path": it contains a NUL character');
  if (/^file:/iu.test(path)) path = fromFileUrl(path);
  if (platform !== "win32" && /^[A-Za-z]:[\\/]/u.test(path)) {
    throw new FileProblem(
      `Cannot use "${path}": it is a Windows path and this system is ${platform}; the working directory is "${cwd}"`,
    );
  }
  if (path === "~" || path.startsWith("~/") || path.startsWith("~\\")) {
    path = homedir() + path.slice(1);
  }
  return { path: resolve(cwd, path), asDirectory: path.endsWith("/") || path.endsWith(sep) };
}

/** Returns a path as results show it: relative to `cwd` when inside, else absolute. */
export function showPath(path: string, cwd: string): string {
  const inside = relative(cwd, path);
  if (inside === "") return ".";
  if (!isWithin(cwd, path)) return showName(path);
  return showName(sep === "/" ? inside : inside.replaceAll(sep, "/"));
}

/** Returns a file's name; as a JSON string where it holds characters that would break a line. */
export function showName(name: string): string {
  // deno-lint-ignore no-control-regex -- control characters are what is looked for
  return /[\u0000-\u001f\u007f]/u.test(name) ? JSON.stringify(name) : name.toWellFormed();
}

function unquote(text: string): string {
  const quote = text[0];
  const quoted = text.length > 2 && text.endsWith(quote ?? "") &&
    (quote === '"' || quote === "'" || quote === "`");
  return quoted ? text.slice(1, -1) : text;
}

function fromFileUrl(text: string): string {
  try {
    return fileURLToPath(text);
  } catch (error) {
    throw new FileProblem(
      `Cannot use "${text}": it is no address of a local file (${
        messageOf(error)
      }); give a path instead`,
      { cause: error },
    );
  }
}
