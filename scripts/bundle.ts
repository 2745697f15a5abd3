/**
 * `deno task bundle [entry]`: bundles `cli.ts` to `build/bundle/mm.mjs` with its lazily loaded parts
 * as chunks. The result runs on Deno, Node and Bun, and is what `deno task compile` compiles: a
 * compiled bundle starts in a third of the time of compiled sources with their packages.
 *
 * @module
 */
import * as esbuild from "esbuild";
import { mkdir, readdir, rm, utimes, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import process from "node:process";
import { ROOT } from "./checks/repository.ts";
import { commitOf } from "./release/commit.ts";

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

/** The time of every file of a bundle: an executable made from it would differ with each build. */
const FILE_TIME = new Date("2000-01-01T00:00:00Z");

/**
 * zod exports its messages in fifty languages as one object, which no bundler can shake off: a third
 * of what is read at each start. mm says its own words and needs none of them.
 */
const ENGLISH_ONLY: esbuild.Plugin = {
  name: "english-only",
  setup(build) {
    build.onLoad({ filter: /zod[\\/]v4[\\/]locales[\\/]index\.js$/ }, () => ({
      contents: 'export { default as en } from "./en.js";',
    }));
  },
};

/**
 * Bundles a program into a folder, which is emptied first. Two bundles of the same sources are equal
 * to the byte, wherever they are made. Returns the files that went into it, relative to the
 * repository's root.
 *
 * @throws {Error} when it cannot be bundled; esbuild said why on stderr.
 */
export async function bundle(entry: string, folder: string): Promise<readonly string[]> {
  await rm(folder, { recursive: true, force: true });
  await mkdir(folder, { recursive: true });
  let inputs: readonly string[];
  try {
    const { metafile } = await esbuild.build({
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
      define: { MM_BUILD_COMMIT: JSON.stringify(await commitOf(ROOT)) },
      logLevel: "warning",
      metafile: true,
      plugins: [ENGLISH_ONLY],
    });
    inputs = Object.keys(metafile.inputs);
  } finally {
    await esbuild.stop();
  }
  // The folder of chunks has to exist: `deno compile` includes it.
  await mkdir(join(folder, CHUNKS), { recursive: true });
  await writeFile(
    join(folder, "deno.json"),
    `${JSON.stringify({ unstable: UNSTABLE }, null, 2)}\n`,
  );
  for (const name of await readdir(folder, { recursive: true })) {
    await utimes(join(folder, name), FILE_TIME, FILE_TIME);
  }
  return inputs;
}

if (import.meta.main) {
  const entry = resolve(process.argv[2] ?? join(ROOT, "cli.ts"));
  await bundle(entry, FOLDER);
  process.stdout.write(`${join(FOLDER, MAIN)}\n`);
}
