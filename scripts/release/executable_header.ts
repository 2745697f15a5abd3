/**
 * What an executable file says of itself in its first bytes.
 *
 * A release checks it, because a runtime of another platform is appended to without a word: the file
 * then has the right name and the wrong machine code.
 *
 * @module
 */
import { open } from "node:fs/promises";
import type { ExecutableFormat, Target } from "./targets.ts";

/** Format and processor of an executable. */
export interface ExecutableHeader {
  readonly format: ExecutableFormat;
  /** The processor's number in that format. */
  readonly machine: number;
}

/** Bytes that are read: more than the headers of the three formats take. */
const HEAD_BYTES = 4096;

/** Mach-O of 64 bits, little-endian (`MH_MAGIC_64`). */
const MACH_O_MAGIC = 0xfeedfacf;

/**
 * Returns what the beginning of a file says, or `undefined` where it is no executable of 64 bits of
 * one of the three formats.
 */
export function executableHeader(head: Uint8Array): ExecutableHeader | undefined {
  const view = new DataView(head.buffer, head.byteOffset, head.byteLength);
  const text = (at: number, size: number) =>
    String.fromCharCode(...head.subarray(at, Math.min(at + size, head.length)));
  // Each format has at least 64 bytes of header.
  if (head.length < 64) return undefined;
  // EI_CLASS 2: 64 bits; EI_DATA 1: little-endian; e_machine at 18.
  if (text(0, 4) === "\x7fELF" && head[4] === 2 && head[5] === 1) {
    return { format: "ELF", machine: view.getUint16(18, true) };
  }
  if (view.getUint32(0, true) === MACH_O_MAGIC) {
    return { format: "Mach-O", machine: view.getUint32(4, true) };
  }
  if (text(0, 2) === "MZ") {
    // The header of DOS says at 0x3c where that of PE is.
    const at = view.getUint32(0x3c, true);
    if (at + 6 > head.length || text(at, 4) !== "PE\0\0") return undefined;
    return { format: "PE", machine: view.getUint16(at + 4, true) };
  }
  return undefined;
}

/**
 * Checks that a file is an executable of its target.
 *
 * @throws {Error} when it is not, with what it is.
 */
export async function checkExecutable(path: string, target: Target): Promise<void> {
  const file = await open(path);
  try {
    const { buffer, bytesRead } = await file.read(new Uint8Array(HEAD_BYTES), 0, HEAD_BYTES, 0);
    const found = executableHeader(buffer.subarray(0, bytesRead));
    if (found?.format === target.format && found.machine === target.machine) return;
    throw new Error(
      `"${path}" is not an executable for ${target.name}: ` +
        `expected ${words(target)}, found ${found === undefined ? "none" : words(found)}`,
    );
  } finally {
    await file.close();
  }
}

function words({ format, machine }: ExecutableHeader): string {
  return `${format} for machine 0x${machine.toString(16)}`;
}
