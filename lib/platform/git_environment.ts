/**
 * The environment of git.
 *
 * @module
 */
import { OVERRIDE_VARIABLE, PROVIDER_VARIABLE } from "../base/fenced_variables.ts";

/**
 * The variables of git that are the user's settings. All others name a repository, an index or a program
 * of whoever started mm (a hook of git, for one), and would turn a run on another repository.
 */
const USERS = new RegExp(
  "^GIT_(?:CONFIG_(?:GLOBAL|SYSTEM|NOSYSTEM|COUNT|KEY_\\d+|VALUE_\\d+)|EXEC_PATH|" +
    "CEILING_DIRECTORIES|DISCOVERY_ACROSS_FILESYSTEM)$",
  "u",
);

/** Variables that would let git, or what it starts, ask somebody. */
const ASKING = /^(?:SSH_ASKPASS|SUDO_ASKPASS)$/u;

/** Returns the whole environment of a run of git, from mm's own. */
export function gitEnvironment(
  env: Readonly<Record<string, string | undefined>>,
): Record<string, string> {
  const own: Record<string, string> = {};
  for (const [name, value] of Object.entries(env)) {
    if (value === undefined || ASKING.test(name)) continue;
    if (OVERRIDE_VARIABLE.test(name) || PROVIDER_VARIABLE.test(name) || /^MM_/u.test(name)) {
      continue;
    }
    if (/^GIT_/iu.test(name) && !USERS.test(name)) continue;
    own[name] = value;
  }
  return {
    ...own,
    LC_ALL: "C", // What git says is read.
    GIT_TERMINAL_PROMPT: "0",
    GIT_OPTIONAL_LOCKS: "0",
    // No transport at all: an incomplete clone would fetch what it lacks, with the commands and from
    // the addresses that the repository's own configuration names.
    GIT_ALLOW_PROTOCOL: "",
    GIT_NO_LAZY_FETCH: "1",
  };
}
