/**
 * The environment in which commands do not wait for a person.
 *
 * @module
 */

/**
 * Variables that turn off pagers, editors and prompts. The editor is `true`, which accepts the text
 * that is proposed: a merge or a rebase goes on, and a commit without a message is refused by git.
 */
const QUIET: Readonly<Record<string, string>> = {
  PAGER: "cat",
  GIT_PAGER: "cat",
  GH_PAGER: "cat",
  MANPAGER: "cat",
  SYSTEMD_PAGER: "cat",
  AWS_PAGER: "",
  EDITOR: "true",
  VISUAL: "true",
  GIT_EDITOR: "true",
  GIT_SEQUENCE_EDITOR: "true",
  GIT_TERMINAL_PROMPT: "0",
  GH_PROMPT_DISABLED: "1",
  DEBIAN_FRONTEND: "noninteractive",
  PIP_NO_INPUT: "1",
  TERM: "dumb",
  NO_COLOR: "1",
};

/** Returns `env` with pagers, editors and prompts turned off. */
export function quietEnvironment(
  env: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  return { ...env, ...QUIET };
}
