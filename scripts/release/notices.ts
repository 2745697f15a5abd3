/**
 * The licences of the packages that a bundle contains, which most of them ask to be handed on.
 *
 * @module
 */
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";

/** Name of the file of licences. */
export const NOTICES_FILE = "THIRD_PARTY_LICENSES";

/** What a package calls the file of its licence. */
const LICENCE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/iu;

/**
 * Returns the names, versions and licences of the packages among the files of a bundle.
 *
 * @param root the directory the paths are relative to.
 * @param inputs paths with slashes, as `bundle()` returns them.
 */
export async function noticesOf(root: string, inputs: readonly string[]): Promise<string> {
  const packages = new Set<string>();
  for (const input of inputs) {
    const end = /^.*node_modules\/(?:@[^/]+\/)?[^/]+/u.exec(input)?.[0];
    if (end !== undefined) packages.add(end);
  }
  const notices = new Map<string, string>();
  for (const path of packages) {
    const folder = join(root, path);
    const manifest = JSON.parse(await readFile(join(folder, "package.json"), "utf8")) as {
      readonly name?: string;
      readonly version?: string;
      readonly license?: string;
    };
    // A folder inside a package may carry a manifest that only says how its files are read.
    if (manifest.name === undefined || manifest.version === undefined) continue;
    const title = `${manifest.name} ${manifest.version} (${manifest.license ?? "see below"})`;
    const texts: string[] = [];
    for (const name of (await readdir(folder)).sort()) {
      if (LICENCE.test(name)) texts.push((await readFile(join(folder, name), "utf8")).trim());
    }
    notices.set(title, texts.join("\n\n"));
  }
  const line = "=".repeat(78);
  return "mm contains these packages.\n" +
    [...notices].sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([title, licence]) => `\n${line}\n${title}\n${line}\n\n${licence}\n`).join("");
}
