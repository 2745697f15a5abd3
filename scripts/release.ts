/**
 * `deno task release [target…] [--repository <URL>] [--out <dir>]`: builds the executables of all
 * targets (or of those named), checks that each is one of its target, packs them and writes their
 * SHA-256 sums. A target whose runtime cannot be had is said and left out, and the exit status is 1.
 *
 * With `--repository`, and when all targets were built, it also fills in what people install from:
 * `install.sh`, the Homebrew formula `mm.rb` and the manifest `agent.json` of the ACP registry.
 *
 * Two releases of one commit are equal to the byte.
 *
 * @module
 */
import { copyFile, mkdir, readFile, rm, writeFile } from "node:fs/promises";
import { join, resolve } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import { gzipSync } from "node:zlib";
import { VERSION } from "../lib/base/version.ts";
import { completionScript } from "../lib/cli/completions.ts";
import { type Shell, SHELLS } from "../lib/cli/flags.ts";
import { bundle } from "./bundle.ts";
import { ROOT } from "./checks/repository.ts";
import { compileBundle, DENO_VERSION } from "./compile.ts";
import { manPage } from "./man_page.ts";
import { sha256Of, SUMS_FILE, sumsText } from "./release/checksums.ts";
import { checkExecutable } from "./release/executable_header.ts";
import { NOTICES_FILE, noticesOf } from "./release/notices.ts";
import { acpManifest, fillIn } from "./release/place.ts";
import { tar, type TarFile } from "./release/tar.ts";
import { type Target, TARGETS } from "./release/targets.ts";

/** Where shells look for completions, below a prefix. */
export const COMPLETION_FILES: Readonly<Record<Shell, string>> = {
  bash: "share/bash-completion/completions/mm",
  zsh: "share/zsh/site-functions/_mm",
  fish: "share/fish/vendor_completions.d/mm.fish",
};

/** Options of {@linkcode release}. */
export interface ReleaseOptions {
  readonly targets: readonly Target[];
  /** Where the files go, absolute; emptied first. */
  readonly out: string;
  /** Address of the repository, without a final slash. */
  readonly repository?: string;
  /** Takes a line about what was done. */
  readonly say: (line: string) => void;
}

/**
 * Builds a release and returns the targets that could not be built, with the reason.
 *
 * @throws {Error} when the program cannot be bundled, or a built executable is of another target.
 */
export async function release(options: ReleaseOptions): Promise<ReadonlyMap<string, string>> {
  const { out, say } = options;
  const work = join(out, "work");
  await rm(out, { recursive: true, force: true });
  await mkdir(work, { recursive: true });
  const inputs = await bundle(join(ROOT, "cli.ts"), join(work, "bundle"));
  const notices = await noticesOf(ROOT, inputs);
  // Besides the archives, for the executable that stands alone.
  await writeFile(join(out, NOTICES_FILE), notices);
  const besides: readonly TarFile[] = [
    file("LICENSE", await readFile(join(ROOT, "LICENSE"), "utf8")),
    file(NOTICES_FILE, notices),
    file("share/man/man1/mm.1", manPage()),
    ...SHELLS.map((shell) => file(COMPLETION_FILES[shell], completionScript(shell))),
  ];
  const failed = new Map<string, string>();
  const sums = new Map<string, string>();
  for (const target of options.targets) {
    say(`== ${target.name}`);
    const executable = join(work, target.name, target.executable);
    try {
      await compileBundle({
        folder: join(work, "bundle"),
        executable,
        ...(target.deno === hostTarget()?.deno ? {} : { target: target.deno }),
      });
    } catch (error) {
      failed.set(target.name, (error as Error).message);
      continue;
    }
    await checkExecutable(executable, target);
    const content = await readFile(executable);
    await writeFile(
      join(out, target.file),
      target.file.endsWith(".tar.gz")
        ? gzip(tar([{ name: target.executable, content, executable: true }, ...besides]))
        : content,
    );
    const sum = await sha256Of(join(out, target.file));
    sums.set(target.file, sum);
    say(`${sum}  ${target.file}`);
  }
  await rm(work, { recursive: true });
  await writeFile(join(out, SUMS_FILE), sumsText(sums));
  if (options.repository === undefined) return failed;
  if (sums.size < TARGETS.length) {
    say("install.sh, mm.rb and agent.json are not written, for they name the sums of all targets");
    return failed;
  }
  const facts = { version: VERSION, repository: options.repository, sums };
  for (const name of ["install.sh", "mm.rb"]) {
    const template = await readFile(join(ROOT, "packaging", name), "utf8");
    await writeFile(join(out, name), fillIn(template, facts), { mode: 0o755 });
  }
  await writeFile(join(out, "agent.json"), acpManifest(facts));
  // The registry wants it beside the manifest: 16 by 16, in the colour of the text.
  await copyFile(join(ROOT, "packaging", "icon.svg"), join(out, "icon.svg"));
  return failed;
}

/** Returns the target that this machine is, if it is one. */
export function hostTarget(): Target | undefined {
  const system = { linux: "linux", darwin: "macos", win32: "windows" }[process.platform as string];
  return TARGETS.find((target) => target.name === `${system}-${process.arch}`);
}

function file(name: string, text: string): TarFile {
  return { name, content: new TextEncoder().encode(text) };
}

/** Compresses without the time and the system that a header of gzip may name (RFC 1952, 2.3.1). */
function gzip(bytes: Uint8Array): Uint8Array {
  const zipped = gzipSync(bytes, { level: 6 });
  zipped.fill(0, 4, 8);
  zipped[9] = 255;
  return zipped;
}

if (import.meta.main) {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: { repository: { type: "string" }, out: { type: "string" } },
  });
  const unknown = positionals.find((name) => !TARGETS.some((target) => target.name === name));
  if (unknown !== undefined) {
    const names = TARGETS.map(({ name }) => name).join(", ");
    process.stderr.write(`Unknown target "${unknown}"; the targets are ${names}\n`);
    process.exit(2);
  }
  const failed = await release({
    targets: positionals.length === 0
      ? TARGETS
      : TARGETS.filter(({ name }) => positionals.includes(name)),
    out: resolve(values.out ?? join(ROOT, "build", "release")),
    ...(values.repository === undefined
      ? {}
      : { repository: values.repository.replace(/\/+$/u, "") }),
    say: (line) => void process.stdout.write(`${line}\n`),
  });
  if (failed.size > 0) {
    process.stderr.write(
      `Not built: ${
        [...failed.keys()].join(", ")
      }. Each needs the runtime denort ${DENO_VERSION} of ` +
        "its platform, which deno compile downloads; run this where it can be downloaded\n",
    );
    for (const [name, reason] of failed) process.stderr.write(`  ${name}: ${reason}\n`);
    process.exitCode = 1;
  }
}
