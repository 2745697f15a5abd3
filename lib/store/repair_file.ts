/**
 * Making a conversation's file hold what was read from it. What only has to be added is added; where a
 * line has to change, a new file takes the place of the old one, and the old one is kept beside it.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { constants } from "node:fs";
import { copyFile, link, open, rename, rm } from "node:fs/promises";
import { byteLines, lineBlocks } from "./line_blocks.ts";
import type { Entry, Header } from "./record.ts";
import type { ReadSession } from "./read_session.ts";

const NEWLINE = 10;

/** Copies that are kept of one conversation's damaged files: the first ones, and the latest. */
const MAX_COPIES = 20;

/** Options of {@linkcode repairFile}. */
export interface RepairFileOptions {
  readonly path: string;
  readonly session: ReadSession;
  /** Writes an entry as a line, with its newline. */
  readonly lineOf: (entry: Entry | Header) => string;
}

/**
 * Repairs a file that is locked by this process.
 *
 * @returns the path under which the file as it was is kept, where a line of it had to change.
 * @throws {Error} of the file system; the file is then as it was.
 */
export async function repairFile(options: RepairFileOptions): Promise<string | undefined> {
  const { path, session } = options;
  const { drop, before, rewritten, headerLost } = session.repair;
  if (!headerLost && drop.size === 0 && before.size === 0 && rewritten.size === 0) {
    await addMissing(options);
    return undefined;
  }
  const kept = await keep(path);
  const temporary = `${path}.new`;
  try {
    await writeRepaired(temporary, options);
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true }).catch(() => {});
    await rm(kept, { force: true }).catch(() => {});
    throw error;
  }
  return kept;
}

async function addMissing({ path, session, lineOf }: RepairFileOptions): Promise<void> {
  const { repair } = session;
  const text = (repair.open ? "\n" : "") + repair.after.map(lineOf).join("");
  if (text === "") return;
  const handle = await open(path, "a");
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}

/** Keeps the file as it is under another name. */
async function keep(path: string): Promise<string> {
  for (let copy = 1;; copy++) {
    const name = `${path}.${copy}.bak`;
    if (copy === MAX_COPIES) await rm(name, { force: true });
    try {
      await link(path, name);
      return name;
    } catch (error) {
      const { code } = error as { readonly code?: string };
      if (code === "EEXIST" && copy < MAX_COPIES) continue;
      if (code === "ENOENT") throw error;
    }
    // A file system without links.
    await copyFile(path, name, constants.COPYFILE_EXCL);
    return name;
  }
}

async function writeRepaired(temporary: string, options: RepairFileOptions): Promise<void> {
  const { path, session, lineOf } = options;
  const { drop, before, rewritten, after } = session.repair;
  await rm(temporary, { force: true });
  const handle = await open(temporary, "wx", 0o600);
  try {
    let number = 0;
    if (session.repair.headerLost) await handle.writeFile(lineOf(session.header));
    for await (const block of lineBlocks(path)) {
      const pieces: Uint8Array[] = [];
      for (const line of byteLines(block)) {
        const at = number++;
        for (const entry of before.get(at) ?? []) pieces.push(text(lineOf(entry)));
        if (drop.has(at)) continue;
        const changed = rewritten.get(at);
        pieces.push(changed === undefined ? line : text(`${changed}\n`));
        if (changed === undefined && line.at(-1) !== NEWLINE) pieces.push(text("\n"));
      }
      await handle.writeFile(Buffer.concat(pieces));
    }
    await handle.writeFile(after.map(lineOf).join(""));
    await handle.datasync();
  } finally {
    await handle.close();
  }
}

function text(value: string): Uint8Array {
  return Buffer.from(value, "utf8");
}
