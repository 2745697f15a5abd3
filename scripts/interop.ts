/**
 * `deno task test:interop`: installs agents of others into a folder of the user's cache, outside of the
 * repository, and asks them with mm. What cannot be installed is skipped, with the reason.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { mkdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { missing, NODE_PACKAGE, nodePath, PEERS, PEERS_DIR } from "../tests/interop/peers.ts";
import { countJunit } from "./checks/junit.ts";
import { ROOT } from "./checks/repository.ts";
import { runCommand } from "./checks/run_command.ts";
import { installPackage } from "./peers/install.ts";

const REPORT = join(ROOT, "build", "junit-interop.xml");

/** A run that hangs is ended after this many milliseconds, and has failed. */
const TEST_MS = 20 * 60_000;

const say = (line: string) => void process.stdout.write(`${line}\n`);

if (!existsSync(nodePath())) {
  await installPackage({ folder: join(PEERS_DIR, "node"), name: NODE_PACKAGE, scripts: false });
}
for (const peer of PEERS) {
  const folder = join(PEERS_DIR, peer.name);
  if (existsSync(join(folder, "node_modules", ...peer.package.split("/")))) continue;
  const failure = await installPackage({ folder, name: peer.package, scripts: peer.scripts });
  if (failure !== undefined) say(`${peer.package}: ${failure}`);
}

process.env.MM_INTEROP = "1";
const found = PEERS.filter((peer) => {
  const why = missing(peer);
  say(`${peer.name}: ${why === undefined ? `tested (${peer.package})` : `skipped, ${why}`}`);
  return why === undefined;
});
if (found.length > 0) {
  await mkdir(join(ROOT, "build"), { recursive: true });
  await rm(REPORT, { force: true });
  const status = await runCommand([
    process.execPath,
    "test",
    "-A",
    "--no-check",
    `--junit-path=${REPORT}`,
    join(ROOT, "tests", "interop"),
  ], { timeoutMs: TEST_MS });
  const counts = countJunit(await readFile(REPORT, "utf8").catch(() => ""));
  const failed = counts.failed + (status !== 0 && counts.failed === 0 ? 1 : 0);
  if (counts.skipped > 0) say(`${counts.skipped} skipped`);
  say(`${counts.passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
