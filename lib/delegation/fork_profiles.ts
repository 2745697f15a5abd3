/**
 * The profiles of forks that a project has, for a person.
 *
 * @module
 */
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import {
  type ForkProfile,
  PROFILE_FOLDERS,
  readForkProfile,
  WITHOUT_PROFILE,
} from "./fork_profile.ts";

/** More files of one folder are not read. */
const MAX_FILES = 100;

/** The profiles of a project. */
export interface ForkProfiles {
  /** By name. */
  readonly profiles: readonly (ForkProfile & { readonly name: string })[];
  /** Why files are none, each a sentence that names the file, without a period. */
  readonly faults: readonly string[];
}

/**
 * Reads all profiles of the project. Never rejects.
 *
 * @param cwd the session's directory, absolute.
 */
export async function listForkProfiles(cwd: string): Promise<ForkProfiles> {
  const listed = await Promise.all(PROFILE_FOLDERS.map(async (folder) => {
    const names = await readdir(join(cwd, folder)).catch(() => []);
    return names.filter((name) => name.endsWith(".md")).map((name) => name.slice(0, -3)).sort()
      .slice(0, MAX_FILES).map((name) => ({ folder, name }));
  }));
  const profiles = new Map<string, ForkProfile & { readonly name: string }>();
  const faults: string[] = [];
  const seen = new Set<string>();
  for (const { folder, name } of listed.flat()) {
    // The same name in the second folder is not read at all.
    if (seen.has(name)) {
      faults.push(
        `The fork profile ${JSON.stringify(join(cwd, folder, `${name}.md`))} is not used: one of ` +
          `${PROFILE_FOLDERS[0]} has its name`,
      );
      continue;
    }
    seen.add(name);
    const read = await readForkProfile({ name, cwd });
    if ("profile" in read) profiles.set(name, { ...read.profile, name });
    else if (read.error.endsWith(WITHOUT_PROFILE)) {
      faults.push(read.error.slice(0, -WITHOUT_PROFILE.length));
    } else {
      faults.push(
        `The fork profile ${JSON.stringify(join(cwd, folder, `${name}.md`))} cannot be used: its ` +
          'name must have 2 to 50 letters, digits, "-" and "_"',
      );
    }
  }
  return {
    profiles: [...profiles.values()].sort((a, b) => a.name < b.name ? -1 : 1),
    faults,
  };
}

/** Returns the list as a person reads it, each with its tools and its advice; empty for none. */
export function forkProfilesText({ profiles, faults }: ForkProfiles): string {
  return [
    ...profiles.flatMap(({ name, path, allow, hint }) => [
      `${name}${hint === undefined ? "" : ` - ${hint.replaceAll(/\s+/gu, " ")}`}`,
      `  ${path}; tools: ${allow.length === 0 ? "none" : allow.join(", ")}`,
    ]),
    ...faults,
  ].join("\n");
}
