/**
 * `deno task test:interop`: installs agents of others into a folder of the user's cache, outside of the
 * repository, and asks them with mm. What cannot be installed is skipped, with the reason.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { missing, NODE_PACKAGE, nodePath, PEERS, PEERS_DIR } from "../tests/interop/peers.ts";
import { ROOT } from "./checks/repository.ts";
import { runTests } from "./checks/test_run.ts";
import { installPackage } from "./peers/install.ts";

const REPORT = join(ROOT, "build", "junit-interop.xml");

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
  const counts = await runTests({ targets: [join(ROOT, "tests", "interop")], report: REPORT });
  const failed = counts.failed + (!counts.ok && counts.failed === 0 ? 1 : 0);
  if (counts.skipped > 0) say(`${counts.skipped} skipped`);
  say(`${counts.passed} passed, ${failed} failed`);
  process.exitCode = failed === 0 ? 0 : 1;
}
