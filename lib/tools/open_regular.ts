/**
 * Opening a file to read without ever hanging on a pipe, a device or a socket.
 *
 * @module
 */
import { constants, type Stats } from "node:fs";
import { type FileHandle, open, stat } from "node:fs/promises";
import { FileProblem } from "./file_problem.ts";

/** An open file. The caller closes it. */
export interface OpenFile {
  readonly handle: FileHandle;
  readonly stat: Stats;
}

/**
 * Opens a regular file to read, following symbolic links.
 *
 * @param path absolute.
 * @param options `looked`: the caller has just seen that it is a regular file.
 * @throws {FileProblem} with the words for what it is instead: `it is a directory`, `it is a named pipe`.
 * @throws the error of the system call otherwise.
 */
export async function openRegular(
  path: string,
  options: { readonly looked?: boolean } = {},
): Promise<OpenFile> {
  // Looked at before it is opened, because opening a device can already have an effect ...
  if (options.looked !== true) refuseSpecial(await stat(path));
  const handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    // ... and once more afterwards, because it may have been replaced in between.
    const opened = await handle.stat();
    refuseSpecial(opened);
    return { handle, stat: opened };
  } catch (error) {
    await handle.close();
    throw error;
  }
}

/**
 * Does nothing for a regular file.
 *
 * @throws {FileProblem} for everything else.
 */
export function refuseSpecial(stat: Stats): void {
  if (stat.isFile()) return;
  throw new FileProblem(`it is ${describeKind(stat)}`);
}

/** Returns what a path is, in words with an article. */
export function describeKind(stat: Stats): string {
  if (stat.isFile()) return "a file";
  if (stat.isDirectory()) return "a directory";
  if (stat.isFIFO()) return "a named pipe, which is never opened";
  if (stat.isSocket()) return "a socket, which is never opened";
  if (stat.isCharacterDevice() || stat.isBlockDevice()) return "a device, which is never opened";
  return "neither a file nor a directory";
}
