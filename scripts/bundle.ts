/**
 * `deno task bundle [entry]`: bundles `cli.ts` to `build/bundle/mm.mjs` with its lazily loaded parts
 * as chunks. The result runs on Deno, Node and Bun, and is what `deno task compile` compiles: a
 * compiled bundle starts in a third of the time of compiled sources with their packages.
 *
 * @module
 */
import * as esbuild from "esbuild";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import process from "node:process";
import { ROOT } from "./checks/repository.ts";

/** Where the bundle goes. */
const FOLDER = join(ROOT, "build", "bundle");

/** The bundle's main file, in its folder. */
export const MAIN = "mm.mjs";

/** Folder of the chunks inside the bundle's folder. */
export const CHUNKS = "chunks";

/** Packages written as CommonJS call `require` for what the runtime has built in. */
const BANNER = "import { createRequire as mmCreateRequire } from 'node:module';" +
  "const require = mmCreateRequire(import.meta.url);";

/** Unstable features of Deno that bundled packages rely on; they are baked in by `deno compile`. */
export const UNSTABLE: readonly string[] = ["node-globals", "bare-node-builtins", "worker-options"];

/**
 * Bundles a program into a folder, which is emptied first.
 *
 * @throws {Error} when it cannot be bundled; esbuild said why on stderr.
 */
export async function bundle(entry: string, folder: string): Promise<void> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  try {
    await esbuild.build({
      entryPoints: { mm: entry },
      absWorkingDir: ROOT,
      outdir: folder,
      outExtension: { ".js": ".mjs" },
      chunkNames: `${CHUNKS}/[name]-[hash]`,
      bundle: true,
      splitting: true,
      format: "esm",
      platform: "node",
      target: "node20",
      minify: true,
      legalComments: "none",
      banner: { js: BANNER },
      logLevel: "warning",
    });
  } finally {
    await esbuild.stop();
  }
  // The folder of chunks has to exist: `deno compile` includes it.
  await mkdir(join(folder, CHUNKS), { recursive: true });
  await writeFile(
    join(folder, "deno.json"),
    `${JSON.stringify({ unstable: UNSTABLE }, null, 2)}\n`,
  );
}

if (import.meta.main) {
  const entry = resolve(process.argv[2] ?? join(ROOT, "cli.ts"));
  await bundle(entry, FOLDER);
  process.stdout.write(`${join(FOLDER, MAIN)}\n`);
}
