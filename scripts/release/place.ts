/**
 * What a release writes for the places that people install from: each text has its address, its
 * version and its sums filled in.
 *
 * @module
 */
import { TARGETS } from "./targets.ts";

/** A release as its places name it. */
export interface Release {
  readonly version: string;
  /** The address of the repository, for example `https://github.com/owner/mm`, without a final slash. */
  readonly repository: string;
  /** SHA-256 of the released files by their names. */
  readonly sums: ReadonlyMap<string, string>;
}

/** Returns the address that a released file is downloaded from. */
export function addressOf(release: Release, file: string): string {
  return `${release.repository}/releases/download/v${release.version}/${file}`;
}

/**
 * Returns a text with each `@NAME@` filled in: `@VERSION@`, `@REPOSITORY@`, and for each target
 * `@URL_LINUX_X64@` and `@SHA256_LINUX_X64@`.
 *
 * @throws {Error} when the text names something else, or a target that was not built.
 */
export function fillIn(template: string, release: Release): string {
  const values = new Map([["VERSION", release.version], ["REPOSITORY", release.repository]]);
  for (const { name, file } of TARGETS) {
    const suffix = name.toUpperCase().replace("-", "_");
    const sum = release.sums.get(file);
    values.set(`URL_${suffix}`, addressOf(release, file));
    if (sum !== undefined) values.set(`SHA256_${suffix}`, sum);
  }
  return template.replaceAll(/@([A-Z][A-Z0-9_]+)@/gu, (_, name: string) => {
    const value = values.get(name);
    if (value === undefined) throw new Error(`Cannot fill in "@${name}@": it is not known`);
    return value;
  });
}

/**
 * Returns the manifest `agent.json` of the registry of ACP agents, from which editors install.
 *
 * @throws {Error} when a target was not built.
 */
export function acpManifest(release: Release): string {
  const binary: Record<string, unknown> = {};
  for (const { acp, file, executable, name } of TARGETS) {
    const sha256 = release.sums.get(file);
    if (sha256 === undefined) throw new Error(`Cannot write agent.json: ${name} was not built`);
    // The registry runs the command in the directory it unpacked the archive to; a file that is no
    // archive keeps the name it was downloaded under.
    const cmd = `./${file.endsWith(".tar.gz") ? executable : file}`;
    binary[acp] = { archive: addressOf(release, file), sha256, cmd, args: ["-acp"] };
  }
  return `${
    JSON.stringify(
      {
        id: "mm",
        name: "mm",
        version: release.version,
        description: "A coding agent for any OpenAI-compatible model server that asks other agents",
        repository: release.repository,
        authors: ["the mm authors"],
        license: "MIT",
        license_url: `${release.repository}/blob/v${release.version}/LICENSE`,
        distribution: {
          binary,
          npx: { package: `@mm/cli@${release.version}`, args: ["-acp"] },
        },
      },
      null,
      2,
    )
  }\n`;
}
