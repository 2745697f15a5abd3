/**
 * The text of `mm -version`.
 *
 * @module
 */
import process from "node:process";
import { BUILD_COMMIT } from "../base/build_info.ts";
import { VERSION } from "../base/version.ts";

/**
 * Returns one line without its newline: this mm, the runtime it runs on and the commit it was built
 * from, `mm 0.1.0 (deno 2.9.6, commit 0123456789ab)`; from source `mm 0.1.0 (deno 2.9.6, dev)`.
 */
export function versionLine(): string {
  const versions: Record<string, string | undefined> = process.versions;
  const runtime = ["deno", "bun", "node"].find((name) => versions[name] !== undefined);
  const build = BUILD_COMMIT === undefined ? "dev" : `commit ${BUILD_COMMIT}`;
  const facts = runtime === undefined ? [build] : [`${runtime} ${versions[runtime]}`, build];
  return `mm ${VERSION} (${facts.join(", ")})`;
}
