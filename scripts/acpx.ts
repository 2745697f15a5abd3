/**
 * `deno task test:acpx`: runs mm with acpx, a client of the protocol that no one here wrote. It is installed, with
 * the Node it needs, into a folder of the user's cache, outside of the repository. Where npm cannot give
 * it, the task says why and has not failed. `MM_TEST_PROGRAM` chooses the mm, as for all tests.
 *
 * The last line is `N passed, N failed`.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { ACPX_DIR, ACPX_PACKAGE, missing } from "../tests/acpx/acpx.ts";
import { NODE_PACKAGE, nodePath, PEERS_DIR } from "../tests/interop/peers.ts";
import { ROOT } from "./checks/repository.ts";
import { runTests } from "./checks/test_run.ts";
import { installPackage } from "./peers/install.ts";

const REPORT = join(ROOT, "build", "junit-acpx.xml");

const say = (line: string) => void process.stdout.write(`${line}\n`);

/** Installs what is missing; returns why that failed, or nothing. */
async function install(): Promise<string | undefined> {
  if (!existsSync(nodePath())) {
    const folder = join(PEERS_DIR, "node");
    const failure = await installPackage({ folder, name: NODE_PACKAGE, scripts: false });
    if (failure !== undefined) return failure;
  }
  if (missing() === undefined) return undefined;
  return await installPackage({ folder: ACPX_DIR, name: ACPX_PACKAGE, scripts: false });
}

process.env.MM_ACPX = "1";
const why = await install() ?? missing();
if (why !== undefined) {
  say(`acpx: skipped, ${why}`);
  say("0 passed, 0 failed");
} else {
  const { passed, failed, ok } = await runTests({
    targets: [join(ROOT, "tests", "acpx")],
    report: REPORT,
  });
  say(`${passed} passed, ${failed === 0 && !ok ? 1 : failed} failed`);
  process.exitCode = ok ? 0 : 1;
}
