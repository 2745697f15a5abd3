/**
 * `deno run -A scripts/check_docs_links.ts`: fails where a relative link in a Markdown file leads
 * nowhere.
 *
 * @module
 */
import process from "node:process";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { checkDocsLinks } from "./checks/docs_links.ts";
import { listFiles, readText, ROOT } from "./checks/repository.ts";

const paths = await listFiles([".md"]);
const pages = new Map(
  await Promise.all(paths.map(async (path) => [path, await readText(path)] as const)),
);
const faults = checkDocsLinks({ pages, exists: (path) => existsSync(join(ROOT, path)) });
for (const fault of faults) process.stderr.write(`${fault}\n`);
process.stdout.write(`${pages.size} Markdown files, ${faults.length} broken links\n`);
process.exitCode = faults.length === 0 ? 0 : 1;
