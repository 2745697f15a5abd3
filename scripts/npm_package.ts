/**
 * `deno task npm [--repository <URL>]`: makes the npm package `@mm/cli` in `build/npm`: the bundle that
 * the executable is compiled from, for Node and Bun. It has no dependencies and no install script.
 *
 * @module
 */
import { copyFile, readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { bundle, MAIN } from "./bundle.ts";
import { ROOT } from "./checks/repository.ts";
import { NOTICES_FILE, noticesOf } from "./release/notices.ts";

/** Where the package is made. */
export const NPM_FOLDER: string = join(ROOT, "build", "npm");

/** The oldest Node that the tests run on. */
const OLDEST_NODE = 22;

/** Options of {@linkcode npmPackage}. */
export interface NpmPackageOptions {
  /** Where the package is made, absolute; emptied first. */
  readonly folder: string;
  /** Address of the repository; npm checks it against the workflow that publishes with provenance. */
  readonly repository?: string;
}

/** Makes the package. */
export async function npmPackage({ folder, repository }: NpmPackageOptions): Promise<void> {
  const manifest = JSON.parse(await readFile(join(ROOT, "deno.json"), "utf8")) as {
    readonly name: string;
    readonly version: string;
    readonly license: string;
  };
  const inputs = await bundle(join(ROOT, "cli.ts"), folder);
  await rm(join(folder, "deno.json"));
  const main = join(folder, MAIN);
  const program = await readFile(main, "utf8");
  if (!program.startsWith("#!")) {
    throw new Error(`Cannot make a package of "${main}": it has no #!`);
  }
  await writeFile(main, `#!/usr/bin/env node${program.slice(program.indexOf("\n"))}`);
  await writeFile(join(folder, NOTICES_FILE), await noticesOf(ROOT, inputs));
  for (const file of ["README.md", "LICENSE"]) await copyFile(join(ROOT, file), join(folder, file));
  const description = {
    name: manifest.name,
    version: manifest.version,
    description: "A coding agent for any OpenAI-compatible model server that asks other agents",
    keywords: ["agent", "acp", "agent-client-protocol", "llm", "cli"],
    license: manifest.license,
    ...(repository === undefined
      ? {}
      : { repository: { type: "git", url: `git+${repository}.git` } }),
    type: "module",
    bin: { mm: MAIN },
    engines: { node: `>=${OLDEST_NODE}` },
    files: [MAIN, "chunks", NOTICES_FILE],
    publishConfig: { access: "public" },
  };
  await writeFile(join(folder, "package.json"), `${JSON.stringify(description, null, 2)}\n`);
}

if (import.meta.main) {
  const { values } = parseArgs({ options: { repository: { type: "string" } } });
  await npmPackage({
    folder: NPM_FOLDER,
    ...(values.repository === undefined ? {} : { repository: values.repository }),
  });
  process.stdout.write(`${NPM_FOLDER}\n`);
}
