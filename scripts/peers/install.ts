/**
 * Installing a package of npm outside of the repository.
 *
 * @module
 */
import { spawn } from "node:child_process";
import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import process from "node:process";
import { nodePath } from "../../tests/interop/peers.ts";

/** An installation that hangs is ended after this many milliseconds. */
const INSTALL_MS = 10 * 60_000;

/** Options of {@linkcode installPackage}. */
export interface InstallOptions {
  /** Where its `node_modules` goes, absolute; made where it is missing. */
  readonly folder: string;
  /** The package, with a version where it has to be one. */
  readonly name: string;
  /** Whether its own scripts run. */
  readonly scripts: boolean;
}

/** Installs a package; returns why that failed, or nothing. */
export async function installPackage(options: InstallOptions): Promise<string | undefined> {
  const { folder, name, scripts } = options;
  await mkdir(folder, { recursive: true });
  const file = join(folder, "package.json");
  if (!existsSync(file)) await writeFile(file, '{"private": true}\n');
  const args = ["install", "--no-audit", "--no-fund", "--loglevel=error"];
  if (!scripts) args.push("--ignore-scripts");
  // npm chooses versions by the Node it runs on: with an old one they would be years old.
  const node = nodePath();
  const env = existsSync(node)
    ? { ...process.env, PATH: `${dirname(node)}:${process.env.PATH}` }
    : process.env;
  const child = spawn("npm", [...args, name], {
    cwd: folder,
    env,
    stdio: ["ignore", "ignore", "pipe"],
    timeout: INSTALL_MS,
  });
  let said = "";
  child.stderr?.on("data", (bytes: Uint8Array) => said = (said + bytes).slice(-2000));
  return await new Promise((resolve) => {
    child.once("error", (error) => resolve(`npm could not be run: ${error.message}`));
    child.once(
      "exit",
      (code) =>
        resolve(code === 0 ? undefined : `npm ended with ${code ?? "a signal"}: ${said.trim()}`),
    );
  });
}
