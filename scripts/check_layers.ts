/**
 * `deno run -A scripts/check_layers.ts`: fails where the source tree breaks its rules.
 *
 * @module
 */
import process from "node:process";
import { checkLayers } from "./checks/layers.ts";
import { listFiles, readText } from "./checks/repository.ts";

const paths = await listFiles([".ts"]);
const files = await Promise.all(paths.map(async (path) => ({ path, text: await readText(path) })));
const report = checkLayers(files);
for (const fault of report.faults) process.stderr.write(`${fault}\n`);
process.stdout.write(
  `${report.files} source files: median ${report.median}, p90 ${report.p90}, ` +
    `longest ${report.max} lines; ${report.faults.length} faults\n`,
);
process.exitCode = report.faults.length === 0 ? 0 : 1;
