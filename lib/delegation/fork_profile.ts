/**
 * The profile of a fork: a file of the project that says which tools a fork may run, and what it is
 * advised.
 *
 * @module
 */
import { realpath } from "node:fs/promises";
import { join, sep } from "node:path";
import { readTextFile } from "../config/text_file.ts";
import { readForkTools } from "./fork_tools.ts";

/** Where profiles are, in this order; the first file of the name counts. */
export const PROFILE_FOLDERS: readonly string[] = [".mm", ".qwen"].map((own) =>
  join(own, "fork-profiles")
);

/** What a caller does instead: the end of each error about a file. */
export const WITHOUT_PROFILE =
  "; leave fork_profile out, or name what the fork may run with fork_tools";

/** Bytes that a file may have. */
const MAX_BYTES = 64 * 1024;

/** Characters of a name, and of the advice. */
const MIN_NAME = 2;
const MAX_NAME = 50;
const MAX_HINT = 200;

const NAME = /^[\p{L}\p{N}](?:[\p{L}\p{N}_-]*[\p{L}\p{N}])?$/u;

const FIELDS = ["name", "tools", "promptHint"];

/** What a fork begins with, as its profile says. Read once, before the fork begins. */
export interface ForkProfile {
  /** The file, absolute. */
  readonly path: string;
  /** What the fork may run; see `readForkTools`. */
  readonly allow: readonly string[];
  /** What the fork is advised; absent for nothing. */
  readonly hint?: string;
}

/** Options of {@linkcode readForkProfile}. */
export interface ReadForkProfileOptions {
  /** As the model or the person wrote it. */
  readonly name: string;
  /** The session's directory, absolute. */
  readonly cwd: string;
}

/**
 * Reads a profile of the session's project. Never rejects.
 *
 * @returns the profile, or why there is none: a sentence that names the file and says what to do.
 */
export async function readForkProfile(
  { name, cwd }: ReadForkProfileOptions,
): Promise<{ readonly profile: ForkProfile } | { readonly error: string }> {
  // Before anything else: the name becomes a path.
  const length = [...name].length;
  if (length < MIN_NAME || length > MAX_NAME || !NAME.test(name)) {
    return {
      error: `fork_profile is no name of a profile; write ${MIN_NAME} to ${MAX_NAME} letters, ` +
        'digits, "-" or "_", with a letter or a digit first and last',
    };
  }
  const home = await realpath(cwd).catch(() => cwd);
  for (const folder of PROFILE_FOLDERS) {
    const path = join(home, folder, `${name}.md`);
    const read = await readInside(path, join(home, folder));
    if (read.kind === "absent") continue;
    if (read.kind === "unusable") return unusable(path, read.reason);
    const parts = await partsOf(read.text, name);
    return typeof parts === "string" ? unusable(path, parts) : { profile: { path, ...parts } };
  }
  const places = PROFILE_FOLDERS.map((folder) => JSON.stringify(join(home, folder, `${name}.md`)));
  return {
    error: `There is no fork profile "${name}": neither ${places.join(" nor ")} exists` +
      WITHOUT_PROFILE,
  };
}

function unusable(path: string, reason: string): { readonly error: string } {
  return {
    error: `The fork profile ${JSON.stringify(path)} cannot be used: it ${reason}` +
      WITHOUT_PROFILE,
  };
}

/** Reads a file that has to be where it seems to be: links may not lead out of the folder. */
async function readInside(path: string, folder: string) {
  let real: string;
  try {
    real = await realpath(path);
  } catch {
    // Says whether it is absent, or what is wrong with it.
    return await readTextFile(path, { maxBytes: MAX_BYTES });
  }
  if (!real.startsWith(folder + sep)) {
    return { kind: "unusable", reason: "is a link that leads out of its folder" } as const;
  }
  return await readTextFile(real, { maxBytes: MAX_BYTES });
}

/** Returns what the text of a profile says, or what is wrong with it: the end of a sentence. */
async function partsOf(
  text: string,
  name: string,
): Promise<Omit<ForkProfile, "path"> | string> {
  const { readFrontMatter } = await import("./front_matter.ts");
  const front = readFrontMatter(text, { lenient: false });
  if ("error" in front) return front.error;
  if (front.body !== "") return 'holds text below its front matter; a profile ends with "---"';
  const { values } = front;
  const unknown = Object.keys(values).find((key) => !FIELDS.includes(key));
  if (unknown !== undefined) {
    return `holds the field ${JSON.stringify(unknown)}; it may hold ${FIELDS.join(", ")}`;
  }
  if (values["name"] !== name) return `has to say "name: ${name}", as its file is called`;
  const tools = readForkTools(values["tools"], "tools");
  if ("error" in tools) return `cannot be followed: ${tools.error}`;
  const hint = hintOf(values["promptHint"]);
  if (typeof hint === "string") return hint;
  return { allow: tools.allow, ...hint };
}

function hintOf(value: unknown): { readonly hint?: string } | string {
  if (value === undefined) return {};
  if (typeof value !== "string") return "has a promptHint that is no text";
  const hint = value.trim();
  const length = [...hint].length;
  if (length > MAX_HINT) {
    return `has a promptHint of ${length} characters; at most ${MAX_HINT} are taken`;
  }
  return hint === "" ? {} : { hint };
}
