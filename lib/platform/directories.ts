/**
 * Where mm keeps the user's configuration, its state and private temporary files.
 *
 * @module
 */
import { chmod, mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { isAbsolute, join, posix, win32 } from "node:path";
import { UsageError } from "../base/errors.ts";

/** Variables of the environment. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Systems whose conventions differ, in Node's names; all others are treated as Linux. */
export type Platform = "linux" | "darwin" | "win32" | (string & Record<never, never>);

/**
 * Returns the directory of users' configurations, in which `mm/` is mm's: `MM_CONFIG_DIR`, else the
 * system's own place.
 *
 * @param home the user's home directory, absolute.
 * @throws {UsageError} when `MM_CONFIG_DIR` is not absolute.
 */
export function configDir(env: Env, home: string, os: Platform): string {
  const chosen = ownDirectory(env, "MM_CONFIG_DIR", os);
  if (chosen !== undefined) return chosen;
  switch (os) {
    case "win32":
      return absolute(env["APPDATA"], os) ?? win32.join(home, "AppData/Roaming");
    case "darwin":
      return absolute(env["XDG_CONFIG_HOME"], os) ??
        posix.join(home, "Library/Application Support");
    default:
      return absolute(env["XDG_CONFIG_HOME"], os) ?? posix.join(home, ".config");
  }
}

/**
 * Returns the directory of mm's state (sessions, logs): `MM_STATE_DIR`, else `mm` in the system's
 * own place for state.
 *
 * @param home the user's home directory, absolute.
 * @throws {UsageError} when `MM_STATE_DIR` is not absolute.
 */
export function stateDir(env: Env, home: string, os: Platform): string {
  const chosen = ownDirectory(env, "MM_STATE_DIR", os);
  if (chosen !== undefined) return chosen;
  switch (os) {
    case "win32":
      return win32.join(
        absolute(env["LOCALAPPDATA"], os) ?? win32.join(home, "AppData/Local"),
        "mm",
      );
    case "darwin":
      return posix.join(
        absolute(env["XDG_STATE_HOME"], os) ??
          posix.join(home, "Library/Application Support"),
        "mm",
      );
    default:
      return posix.join(
        absolute(env["XDG_STATE_HOME"], os) ?? posix.join(home, ".local/state"),
        "mm",
      );
  }
}

/**
 * Creates a directory for temporary files that only this user can enter, and returns its path.
 *
 * @param prefix the beginning of its name: `mm-demo-`.
 * @param parent where it is created. @default the system's directory for temporary files
 */
export async function privateTempDir(prefix: string, parent: string = tmpdir()): Promise<string> {
  if (!isAbsolute(parent)) {
    throw new UsageError(`Cannot use "${parent}" for temporary files: the path is not absolute`);
  }
  const path = await mkdtemp(join(parent, prefix));
  await chmod(path, 0o700);
  return path;
}

function ownDirectory(env: Env, name: string, os: Platform): string | undefined {
  const value = env[name];
  if (value === undefined || value === "") return undefined;
  const path = absolute(value, os);
  if (path === undefined) {
    throw new UsageError(
      `Cannot use the directory "${value}" of ${name}: the path is not absolute`,
    );
  }
  return path;
}

/** The XDG convention: a path that is not absolute counts as not set. */
function absolute(value: string | undefined, os: Platform): string | undefined {
  if (value === undefined || value === "") return undefined;
  return (os === "win32" ? win32 : posix).isAbsolute(value) ? value : undefined;
}
