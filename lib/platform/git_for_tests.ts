/**
 * For tests: an environment in which git knows of nothing but the test's own directory.
 *
 * @module
 */
import { join } from "node:path";
import process from "node:process";

/**
 * Returns the environment.
 *
 * @param home a directory of the test, absolute; the user's configuration of git is `gitconfig` in it.
 */
export function gitTestEnvironment(home: string) {
  return {
    PATH: process.env.PATH ?? "",
    HOME: home,
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_CONFIG_GLOBAL: join(home, "gitconfig"),
  };
}
