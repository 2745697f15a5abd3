/**
 * The text of `mm -version`.
 *
 * @module
 */
import process from "node:process";
import { VERSION } from "../base/version.ts";

/** Returns `mm 0.1.0 (deno 2.9.6)` without a newline: this mm and the runtime it runs on. */
export function versionLine(): string {
  const versions: Record<string, string | undefined> = process.versions;
  for (const runtime of ["deno", "bun", "node"]) {
    const version = versions[runtime];
    if (version !== undefined) return `mm ${VERSION} (${runtime} ${version})`;
  }
  return `mm ${VERSION}`;
}
