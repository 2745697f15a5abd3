/**
 * What the runtime permits mm itself: the one list that the executable is compiled with and that mm
 * starts itself with under `deno run`. `docs/reference/permissions-of-the-executable.md` explains
 * each entry, and a test finds an access that is not on it.
 *
 * @module
 */

/**
 * What mm may learn of the system: where the user lives, which machine this is, and the user's own
 * numbers, which `node:fs` compares with a file's when it is asked whether a file can be used.
 */
export const OWN_SYS: readonly string[] = ["homedir", "hostname", "uid", "gid"];

/**
 * The flags. Which files, programs, hosts and variables a project, its configuration and its commands
 * need is known only when mm runs, so these are granted as a whole; the gate and the fence narrow
 * them. Native code (`ffi`) and remote modules (`import`) are not granted.
 */
export const OWN_PERMISSIONS: readonly string[] = [
  "--allow-read",
  "--allow-write",
  "--allow-run",
  "--allow-env",
  "--allow-net",
  `--allow-sys=${OWN_SYS.join(",")}`,
  // Without it, what is not granted would be asked for on the user's terminal.
  "--no-prompt",
];
