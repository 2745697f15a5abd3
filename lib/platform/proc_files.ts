/**
 * Reading `/proc` on Linux. Deno gives its files to programs with all permissions only, which mm does
 * not have, so the system's own shell reads them.
 *
 * @module
 */
import { execFile } from "node:child_process";

/** Bytes that are read at most; a process table of thousands of rows is less. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Milliseconds after which the answer counts as empty. */
const TIMEOUT_MS = 5000;

/**
 * Returns what a script of `sh` prints. Files that vanish meanwhile or are another user's are left
 * out, so its status does not count.
 *
 * @param script never holds anything but mm's own words; values are its `args`, `$1` and so on.
 */
export function readProc(script: string, args: readonly string[] = []): Promise<string> {
  return new Promise((resolve) => {
    const options = {
      cwd: "/",
      env: { PATH: "/usr/bin:/bin" },
      maxBuffer: MAX_BYTES,
      timeout: TIMEOUT_MS,
    };
    try {
      execFile(
        "/bin/sh",
        ["-c", script, "mm-proc", ...args],
        options,
        (_error, stdout) => resolve(stdout),
      );
    } catch {
      // Nothing may be started here: then nothing was started whose processes could be looked for.
      resolve("");
    }
  });
}
