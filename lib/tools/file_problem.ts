/**
 * Why something cannot be done with a file, in words a model can act on.
 *
 * @module
 */
import { messageOf } from "../base/errors.ts";

/** A failure whose message is the result of the call. */
export class FileProblem extends Error {
  /** Creates the problem from a sentence without a final period. */
  constructor(message: string, options: ErrorOptions = {}) {
    super(message, options);
    this.name = "FileProblem";
  }
}

const WORDS: Readonly<Record<string, string>> = {
  EACCES: "permission denied",
  EPERM: "the operating system does not permit it",
  EBUSY: "it is in use or a mount point",
  EDQUOT: "the disk quota is used up",
  EEXIST: "something with this name exists",
  EFBIG: "it would be too large",
  EISDIR: "it is a directory",
  ELOOP: "it goes through a loop of symbolic links",
  EMFILE: "too many files are open",
  ENAMETOOLONG: "the name is too long",
  ENFILE: "too many files are open",
  ENOENT: "no such file or directory",
  ENOSPC: "no space is left on the disk",
  ENOTDIR: "a part of the path is not a directory",
  ENXIO: "it is a special file without a counterpart",
  EROFS: "the file system is read-only",
  EAGAIN: "it has nothing to read now",
};

/** Returns the code of a failed system call, `ENOENT` for example, or an empty string. */
export function errorCode(thrown: unknown): string {
  const code = thrown instanceof Error && "code" in thrown ? thrown.code : undefined;
  if (typeof code === "string") return code;
  // Deno's permissions refuse with an error of their own that has no code.
  return thrown instanceof Error && thrown.name === "NotCapable" ? "NotCapable" : "";
}

/** Returns the reason of a failed system call in words. */
export function whyNot(thrown: unknown): string {
  if (thrown instanceof FileProblem) return thrown.message;
  const code = errorCode(thrown);
  if (code === "NotCapable") return "this agent's fence does not allow it";
  return WORDS[code] ?? messageOf(thrown);
}
