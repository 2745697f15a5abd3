/**
 * `deno task test:runtimes [node] [bun] [compiled] [test file…]`: runs the end-to-end tests of the main
 * job (or the given files) with the bundle under Node and under Bun, and with the executable `build/mm`
 * (or on those that are named); then `tests/runtimes_test.ts`, which runs the same job on all of them.
 *
 * The last line is `N passed, N failed` over all runs.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import process from "node:process";
import { bundle, MAIN } from "./bundle.ts";
import { ROOT } from "./checks/repository.ts";
import { runTests } from "./checks/test_run.ts";
import { EXECUTABLE } from "./compile.ts";
import { installRuntimes, RUNTIMES } from "./release/runtimes.ts";

/** The end-to-end tests of the main job. */
const MAIN_JOB = [
  "tests/ask_typed_test.ts",
  "tests/ask_agent_test.ts",
  "tests/ask_ends_test.ts",
  "tests/ask_script_test.ts",
  "tests/prompt_mode_test.ts",
  "tests/processes_test.ts",
];

interface Counts {
  readonly passed: number;
  readonly failed: number;
}

/** Runs test files with a program (or as they are) and returns their counts. */
async function run(
  name: string,
  files: readonly string[],
  program?: readonly string[],
): Promise<Counts> {
  process.stdout.write(`== ${name}\n`);
  const report = join(ROOT, "build", `junit-${name.replaceAll(/\W+/gu, "-")}.xml`);
  const counts = await runTests({
    targets: files,
    report,
    ...(program === undefined ? {} : { env: { MM_TEST_PROGRAM: JSON.stringify(program) } }),
  });
  const failed = counts.failed === 0 && (!counts.ok || counts.passed === 0) ? 1 : counts.failed;
  process.stdout.write(`== ${name}: ${counts.passed} passed, ${failed} failed\n`);
  return { passed: counts.passed, failed };
}

const words = process.argv.slice(2);
const names = words.filter((word) => ["node", "bun", "compiled"].includes(word));
const chosen = words.filter((word) => !names.includes(word));
const files = chosen.length === 0 ? MAIN_JOB : chosen;
const wanted = (name: string) => names.length === 0 || names.includes(name);
await installRuntimes();
const folder = join(ROOT, "build", "runtimes", "bundle");
await mkdir(folder, { recursive: true });
await bundle(join(ROOT, "cli.ts"), folder);

const runs: Counts[] = [];
for (const { name, version, program } of RUNTIMES.filter(({ name }) => wanted(name))) {
  runs.push(await run(`${name} ${version}`, files, [program, join(folder, MAIN)]));
}
if (wanted("compiled")) {
  if (existsSync(EXECUTABLE)) runs.push(await run("compiled", files, [EXECUTABLE]));
  else process.stdout.write("== compiled: there is no executable; the task compile makes it\n");
}
runs.push(await run("all", ["tests/runtimes_test.ts"]));

const total = (key: keyof Counts) => runs.reduce((sum, counts) => sum + counts[key], 0);
process.stdout.write(`${total("passed")} passed, ${total("failed")} failed\n`);
process.exitCode = total("failed") === 0 ? 0 : 1;
