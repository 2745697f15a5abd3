/**
 * A tar archive that is the same for the same files: no times, no owners, the given order. The tar
 * programs of the platforms need different flags for that, and some cannot.
 *
 * @module
 */

/** One file of an archive. */
export interface TarFile {
  /** With slashes, relative; at most 100 bytes of ASCII. */
  readonly name: string;
  readonly content: Uint8Array;
  readonly executable?: boolean;
}

/** Tar counts in blocks of this many bytes. */
const BLOCK = 512;

/**
 * Returns an archive of the format `ustar` (POSIX.1-1988).
 *
 * @throws {RangeError} when a name is too long or not ASCII.
 */
export function tar(files: readonly TarFile[]): Uint8Array<ArrayBuffer> {
  const padded = (size: number) => Math.ceil(size / BLOCK) * BLOCK;
  // Two empty blocks are the end.
  const size = files.reduce((sum, { content }) => sum + BLOCK + padded(content.length), 2 * BLOCK);
  const archive = new Uint8Array(size);
  let at = 0;
  for (const file of files) {
    archive.set(header(file), at);
    archive.set(file.content, at + BLOCK);
    at += BLOCK + padded(file.content.length);
  }
  return archive;
}

function header({ name, content, executable = false }: TarFile): Uint8Array {
  if (name.length > 100 || /[^\x21-\x7e]/u.test(name)) {
    throw new RangeError(`Cannot archive "${name}": the name is not at most 100 ASCII characters`);
  }
  const bytes = new Uint8Array(BLOCK);
  const put = (at: number, text: string) => bytes.set(new TextEncoder().encode(text), at);
  const octal = (value: number, digits: number) => value.toString(8).padStart(digits, "0");
  put(0, name);
  put(100, `${octal(executable ? 0o755 : 0o644, 7)}\0`);
  put(108, `${octal(0, 7)}\0${octal(0, 7)}\0`); // owner and group
  put(124, `${octal(content.length, 11)}\0`);
  put(136, `${octal(0, 11)}\0`); // time
  put(148, " ".repeat(8)); // the sum is taken over blanks in its own place
  put(156, "0"); // a regular file
  put(257, "ustar\x0000");
  put(148, `${octal(bytes.reduce((sum, byte) => sum + byte, 0), 6)}\0 `);
  return bytes;
}
