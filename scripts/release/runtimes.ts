/**
 * The other runtimes that mm is tested on, from packages of npm that carry the program itself.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { ROOT } from "../checks/repository.ts";
import { runCommand } from "../checks/run_command.ts";

/** A runtime. */
export interface Runtime {
  readonly name: "node" | "bun";
  readonly version: string;
  /** Its package on npm, for this machine. */
  readonly package: string;
  /** The program, absolute; it exists once {@linkcode installRuntimes} ran. */
  readonly program: string;
}

/** Where they are kept. */
const FOLDER = join(ROOT, "build", "runtimes");

/** The runtimes for this machine. */
export const RUNTIMES: readonly Runtime[] = [
  runtime(
    "node",
    "22.23.5",
    `node-${process.platform === "win32" ? "win" : process.platform}-${process.arch}`,
  ),
  runtime(
    "bun",
    "1.4.5",
    `@oven/bun-${process.platform === "win32" ? "windows" : process.platform}-${
      process.arch === "arm64" ? "aarch64" : process.arch
    }`,
  ),
];

function runtime(name: Runtime["name"], version: string, packageName: string): Runtime {
  const file = process.platform === "win32" ? `${name}.exe` : name;
  const program = join(FOLDER, `${name}-${version}`, "node_modules", packageName, "bin", file);
  return { name, version, package: packageName, program };
}

/**
 * Installs the runtimes that are not there yet, without running any script of their packages.
 *
 * @throws {Error} when one cannot be installed.
 */
export async function installRuntimes(): Promise<void> {
  for (const { name, version, package: packageName, program } of RUNTIMES) {
    if (existsSync(program)) continue;
    const prefix = join(FOLDER, `${name}-${version}`);
    await mkdir(prefix, { recursive: true });
    const status = await runCommand([
      "npm",
      "install",
      "--ignore-scripts",
      "--no-audit",
      "--no-fund",
      "--no-save",
      "--loglevel=error",
      "--prefix",
      prefix,
      `${packageName}@${version}`,
    ], { cwd: prefix });
    if (status !== 0 || !existsSync(program)) {
      throw new Error(`Cannot install ${name} ${version}: npm ended with status ${status}`);
    }
  }
}
