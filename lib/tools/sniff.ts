/**
 * What a file's first bytes say: text in which encoding, or binary of which type.
 *
 * @module
 */

/** The encodings mm reads and writes. UTF-16 is recognised by its byte order mark only. */
export type TextEncoding = "utf-8" | "utf-16le" | "utf-16be";

/** What a file is. */
export type Sniffed =
  | {
    readonly kind: "text";
    readonly encoding: TextEncoding;
    /** Bytes of the byte order mark, 0 when there is none. */
    readonly bom: number;
  }
  | {
    readonly kind: "binary";
    /** For example `PNG image`. */
    readonly type: string;
  };

/** Bytes that are enough to look at. */
export const SNIFF_BYTES = 8192;

/** Share of replaced characters above which bytes are no UTF-8 text with a slip in it. */
const MAX_INVALID_SHARE = 0.3;

const MAGIC: readonly (readonly [type: string, bytes: readonly number[], at?: number])[] = [
  ["PNG image", [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]],
  ["JPEG image", [0xff, 0xd8, 0xff]],
  ["GIF image", [0x47, 0x49, 0x46, 0x38]],
  ["WebP image", [0x57, 0x45, 0x42, 0x50], 8],
  ["PDF document", [0x25, 0x50, 0x44, 0x46, 0x2d]],
  ["ZIP archive", [0x50, 0x4b, 0x03, 0x04]],
  ["gzip archive", [0x1f, 0x8b]],
  ["xz archive", [0xfd, 0x37, 0x7a, 0x58, 0x5a, 0x00]],
  ["bzip2 archive", [0x42, 0x5a, 0x68, 0x39, 0x31, 0x41, 0x59]],
  ["zstd archive", [0x28, 0xb5, 0x2f, 0xfd]],
  ["ELF program", [0x7f, 0x45, 0x4c, 0x46]],
  ["Mach-O program", [0xcf, 0xfa, 0xed, 0xfe]],
  ["WebAssembly module", [0x00, 0x61, 0x73, 0x6d]],
  ["SQLite database", [0x53, 0x51, 0x4c, 0x69, 0x74, 0x65, 0x20, 0x66, 0x6f, 0x72, 0x6d, 0x61]],
  ["MP4 video", [0x66, 0x74, 0x79, 0x70], 4],
  ["UTF-32 text", [0xff, 0xfe, 0x00, 0x00]],
  ["UTF-32 text", [0x00, 0x00, 0xfe, 0xff]],
];

/**
 * Looks at the first bytes of a file.
 *
 * @param head at most {@linkcode SNIFF_BYTES}; it may end inside a character.
 */
export function sniff(head: Uint8Array): Sniffed {
  for (const [type, bytes, at = 0] of MAGIC) {
    if (bytes.every((byte, index) => head[at + index] === byte)) return { kind: "binary", type };
  }
  if (head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf) {
    return { kind: "text", encoding: "utf-8", bom: 3 };
  }
  if (head[0] === 0xff && head[1] === 0xfe) return { kind: "text", encoding: "utf-16le", bom: 2 };
  if (head[0] === 0xfe && head[1] === 0xff) return { kind: "text", encoding: "utf-16be", bom: 2 };
  if (head.includes(0)) return { kind: "binary", type: typeWithNul(head) };
  // A character that the window cuts at its end is held back by `stream`, not replaced.
  const text = new TextDecoder("utf-8").decode(head, { stream: true });
  const replaced = text.split("\ufffd").length - 1;
  if (replaced > text.length * MAX_INVALID_SHARE) {
    return { kind: "binary", type: "not text in UTF-8" };
  }
  return { kind: "text", encoding: "utf-8", bom: 0 };
}

/** Latin text in UTF-16 has a NUL in nearly every second byte, always on the same side. */
function typeWithNul(head: Uint8Array): string {
  let even = 0;
  let odd = 0;
  for (let index = 0; index < head.length; index++) {
    if (head[index] !== 0) continue;
    if (index % 2 === 0) even++;
    else odd++;
  }
  const most = head.length * 0.4;
  return (even === 0 && odd > most) || (odd === 0 && even > most)
    ? "UTF-16 text without a byte order mark"
    : "data with NUL bytes";
}
