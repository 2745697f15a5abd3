/**
 * Reading a text file that a configuration consists of or names.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { constants, type Stats } from "node:fs";
import { type FileHandle, lstat, open, stat } from "node:fs/promises";
import { messageOf } from "../base/errors.ts";

/** What came of reading: the text, nothing there, or why it cannot be used. */
export type TextFile =
  | { readonly kind: "text"; readonly text: string }
  | { readonly kind: "absent" }
  /** `line` where one of them is to blame; the reason completes `The file …`. */
  | { readonly kind: "unusable"; readonly reason: string; readonly line?: number };

/** Options of {@linkcode readTextFile}. */
export interface ReadTextFileOptions {
  /** Largest size in bytes. */
  readonly maxBytes: number;
}

/** Bytes that are read at once. */
const PIECE = 65_536;

/** Reads a regular file of UTF-8 text, without its byte order mark. Never throws. */
export async function readTextFile(path: string, options: ReadTextFileOptions): Promise<TextFile> {
  const { maxBytes } = options;
  let handle: FileHandle | undefined;
  try {
    // Looked at before it is opened: opening a pipe that nobody writes to would wait for ever.
    const before = faultOf(await stat(path), maxBytes);
    if (before !== undefined) return before;
    // Some files of the system are regular, wait for what comes and never end: a link can lead there.
    handle = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    const fault = faultOf(await handle.stat(), maxBytes);
    if (fault !== undefined) return fault;
    const bytes = await readUpTo(handle, maxBytes + 1);
    return bytes.length > maxBytes
      ? unusable(`has more than ${maxBytes} bytes; at most that many are read`)
      : decode(bytes);
  } catch (error) {
    return await failedToRead(path, error);
  } finally {
    await handle?.close().catch(() => {});
  }
}

function faultOf(info: Stats, maxBytes: number): TextFile | undefined {
  if (info.isDirectory()) return unusable("is a directory");
  if (!info.isFile()) return unusable("is not a regular file");
  return info.size > maxBytes ? tooLarge(info.size, maxBytes) : undefined;
}

/** Reads a file to its end, or as far as it is of interest. */
async function readUpTo(handle: FileHandle, limit: number): Promise<Uint8Array> {
  const pieces: Uint8Array[] = [];
  let length = 0;
  while (length < limit) {
    const piece = new Uint8Array(Math.min(limit - length, PIECE));
    const { bytesRead } = await handle.read(piece, 0, piece.length, null);
    if (bytesRead === 0) break;
    pieces.push(piece.subarray(0, bytesRead));
    length += bytesRead;
  }
  return Buffer.concat(pieces, length);
}

function decode(bytes: Uint8Array): TextFile {
  const [first, second] = bytes;
  if ((first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)) {
    return unusable("is UTF-16, not UTF-8; save it as UTF-8");
  }
  try {
    return { kind: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(bytes) };
  } catch {
    return { ...unusable("is not UTF-8; save it as UTF-8"), line: firstBadLine(bytes) };
  }
}

/** A line feed is never part of another character in UTF-8, so lines can be tried one by one. */
function firstBadLine(bytes: Uint8Array): number {
  let start = 0;
  for (let line = 1;; line++) {
    const end = bytes.indexOf(0x0a, start);
    try {
      new TextDecoder("utf-8", { fatal: true })
        .decode(bytes.subarray(start, end === -1 ? undefined : end));
    } catch {
      return line;
    }
    if (end === -1) return line;
    start = end + 1;
  }
}

async function failedToRead(path: string, error: unknown): Promise<TextFile> {
  switch (codeOf(error)) {
    case "ENOENT":
    case "ENOTDIR":
      // A link that leads nowhere was meant to be something.
      return await isLink(path)
        ? unusable("is a link to something that does not exist")
        : { kind: "absent" };
    case "EACCES":
    case "EPERM":
      return unusable("cannot be read: permission denied");
    case "ELOOP":
      return unusable("is a link that leads back to itself");
    default:
      return unusable(`cannot be read: ${codeOf(error) ?? messageOf(error)}`);
  }
}

async function isLink(path: string): Promise<boolean> {
  try {
    return (await lstat(path)).isSymbolicLink();
  } catch {
    return false;
  }
}

function tooLarge(size: number, limit: number): TextFile {
  return unusable(`has ${size} bytes; at most ${limit} are read`);
}

function unusable(reason: string) {
  return { kind: "unusable", reason } as const;
}

function codeOf(error: unknown): string | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "string" ? code : undefined;
}
