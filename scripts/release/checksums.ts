/**
 * The file of SHA-256 sums beside released files, as `sha256sum` writes and checks it.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { createReadStream } from "node:fs";
import { pipeline } from "node:stream/promises";

/** Name of the file of sums. */
export const SUMS_FILE = "SHA256SUMS";

/** Returns the SHA-256 of a file, 64 hexadecimal digits. */
export async function sha256Of(path: string): Promise<string> {
  const hash = createHash("sha256");
  await pipeline(createReadStream(path), hash);
  return hash.digest("hex");
}

/** Returns the lines for names and their sums, ordered by name. */
export function sumsText(sums: ReadonlyMap<string, string>): string {
  return [...sums].sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, sum]) => `${sum}  ${name}\n`).join("");
}
