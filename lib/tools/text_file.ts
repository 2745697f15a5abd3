/**
 * A whole text file in memory, and the form it has to be written back in.
 *
 * @module
 */
import { Buffer, isUtf8 } from "node:buffer";
import { createHash } from "node:crypto";
import type { Stats } from "node:fs";
import { FileProblem } from "./file_problem.ts";
import { openRegular } from "./open_regular.ts";
import { sniff, SNIFF_BYTES, type TextEncoding } from "./sniff.ts";

/** Larger files are not taken into memory whole: 64 MiB. */
export const MAX_WHOLE_BYTES = 64 * 1024 * 1024;

/** What is kept when a file's text is replaced. */
export interface TextForm {
  readonly encoding: TextEncoding;
  readonly bom: boolean;
}

/** A file as it is on the disk. */
export interface WholeFile {
  readonly bytes: Uint8Array;
  readonly stat: Stats;
  /** Of the bytes. */
  readonly hash: string;
}

/**
 * Reads a whole regular file.
 *
 * @param path absolute.
 * @throws {FileProblem} when it is too large or no regular file, with the reason alone.
 */
export async function readWhole(path: string): Promise<WholeFile> {
  const { handle, stat } = await openRegular(path);
  try {
    if (stat.size > MAX_WHOLE_BYTES) {
      throw new FileProblem(
        `it has ${stat.size} bytes, more than the ${MAX_WHOLE_BYTES} that can be changed at once; use bash (sed, split)`,
      );
    }
    const bytes = await handle.readFile();
    return { bytes, stat, hash: hashOf(bytes) };
  } finally {
    await handle.close();
  }
}

/** Returns the hash under which content is remembered. */
export function hashOf(bytes: Uint8Array): string {
  return createHash("sha256").update(bytes).digest("hex");
}

/**
 * Decodes a file so that {@linkcode encodeText} gives the same bytes back.
 *
 * @throws {FileProblem} when it is no text that would survive, with the reason alone.
 */
export function decodeText(bytes: Uint8Array): { readonly text: string; readonly form: TextForm } {
  const kind = sniff(bytes.subarray(0, SNIFF_BYTES));
  if (kind.kind === "binary") {
    throw new FileProblem(`it is a binary file (${kind.type}, ${bytes.length} bytes)`);
  }
  const body = bytes.subarray(kind.bom);
  const form = { encoding: kind.encoding, bom: kind.bom > 0 };
  if (kind.encoding === "utf-8") {
    if (!isUtf8(body)) {
      throw new FileProblem("it is not valid UTF-8; change it with bash (iconv, sed)");
    }
    // The mark is cut off above; a second one is content and has to stay.
    return { text: new TextDecoder("utf-8", { ignoreBOM: true }).decode(body), form };
  }
  try {
    const decoder = new TextDecoder(kind.encoding, { ignoreBOM: true, fatal: true });
    return { text: decoder.decode(body), form };
  } catch (error) {
    throw new FileProblem("it is not valid UTF-16; change it with bash (iconv)", { cause: error });
  }
}

/** Encodes a text in the form a file had. Lone surrogates, which have no encoding, are replaced. */
export function encodeText(text: string, form: TextForm): Uint8Array {
  const whole = (form.bom ? "\ufeff" : "") + text.toWellFormed();
  if (form.encoding === "utf-8") return new TextEncoder().encode(whole);
  const little = Buffer.from(whole, "utf16le");
  return form.encoding === "utf-16le" ? little : little.swap16();
}
