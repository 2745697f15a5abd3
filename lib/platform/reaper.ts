/**
 * A helper process that outlives mm by a moment and ends the groups mm started, and removes its private
 * directories, even when mm had no chance to: `kill -9`, a crash, the system's out-of-memory killer.
 *
 * @module
 */
import { type ChildProcess, spawn } from "node:child_process";
import { clearTimeout, setTimeout } from "node:timers";
import { within } from "../base/within.ts";
import { isWindows } from "./runtime.ts";
import { END_STRAYS, patternOf } from "./strays.ts";

/** Ends the groups it was told of when this process ends, in whatever way it ends. */
export interface Reaper {
  /** The beginning of the marks of all that is started in its care; see `strays.ts`. */
  readonly mark: string;
  /**
   * Waits, for a moment at most, until the helper has been told all that was said so far. Whoever awaits
   * it before starting something loses nothing to a `kill -9` right after the start: the mark is known.
   */
  ready(): Promise<void>;
  /** Takes a group into its care. The helper is started with the first. */
  add(pgid: number): void;
  /** Forgets a group that is gone. */
  del(pgid: number): void;
  /** Takes a directory into its care, absolute: it is removed with all that is in it. */
  addDir(path: string): void;
  /** Forgets a directory that is gone. */
  delDir(path: string): void;
  /** Ends the groups that are left, removes the directories, and ends the helper. A later `add` starts a new one. */
  close(): void;
}

/**
 * The helper: POSIX sh, idle in `read` while mm lives. mm's end, however it comes, closes the pipe.
 * Descriptors that mm inherited are closed, so that whoever waits for their end does not wait for
 * the helper. `sleep` with a fraction is not POSIX, hence the second form.
 */
const SCRIPT = `
exec 3>&- 4>&- 5>&- 6>&- 7>&- 8>&- 9>&-
trap '' INT TERM HUP QUIT
mark=none
${END_STRAYS}
groups=' '
set --
while read -r verb group; do
  case $verb in
    mark) mark=$group ;;
    add) groups="$groups$group " ;;
    del) case "$groups" in
      *" $group "*) groups="\${groups%%" $group "*} \${groups#*" $group "}" ;;
    esac ;;
    adddir) set -- "$@" "$group" ;;
    deldir)
      n=$#
      while [ "$n" -gt 0 ]; do
        [ "$1" = "$group" ] || set -- "$@" "$1"
        shift
        n=$((n - 1))
      done ;;
  esac
done
left() { for group in $groups; do kill -0 "-$group" && return 0; done; return 1; }
for group in $groups; do kill -TERM "-$group"; done
n=0
while left && [ "$n" -lt 10 ]; do sleep 0.1 || sleep 1; n=$((n + 1)); done
for group in $groups; do kill -KILL "-$group"; done
end_strays
# A link in the place of a directory is removed itself, never what it leads to.
for dir; do rm -rf -- "$dir"; done
exit 0
`;

/**
 * A helper that lived longer, in milliseconds, is replaced at once when it is killed; one that did not
 * stay up after this time, ...
 */
const RESTART_AFTER_MS = 500;

/** How long the helper may take to be told something, in milliseconds. */
const READY_MS = 500;

/** ... which doubles each time up to this one, so that a system without a shell is left in peace. */
const RESTART_MAX_MS = 60_000;

/**
 * Returns a reaper whose helper starts with the first group. It never throws and keeps no event
 * loop alive. On Windows it does nothing: there are no groups, and a child notices mm's end by the
 * end of its stdin.
 */
export function createReaper(): Reaper {
  const mark = `${crypto.randomUUID()}.`;
  if (isWindows) {
    const ready = () => Promise.resolve();
    return { mark, ready, add() {}, del() {}, addDir() {}, delDir() {}, close() {} };
  }
  const groups = new Set<number>();
  const dirs = new Set<string>();
  let helper: ChildProcess | undefined;
  let waitMs = RESTART_AFTER_MS;
  let retry: ReturnType<typeof setTimeout> | undefined;

  /** Settles when the last line is in the pipe, where a helper finds it whatever becomes of mm. */
  let told: Promise<void> = Promise.resolve();
  const tell = (line: string) => {
    const stdin = helper?.stdin;
    if (stdin) told = new Promise((resolve) => stdin.write(line, () => resolve()));
  };

  function start(): void {
    let started: ChildProcess;
    try {
      started = spawn("/bin/sh", ["-c", SCRIPT, "mm-reaper"], {
        cwd: "/", // It must not hold a directory that someone wants to remove.
        env: { PATH: "/usr/bin:/bin" },
        stdio: ["pipe", "ignore", "ignore"],
        detached: true,
      });
    } catch {
      return; // Without a shell there is nothing to run in groups either.
    }
    helper = started;
    const since = performance.now();
    const gone = () => {
      if (helper !== started) return;
      helper = undefined;
      if (groups.size + dirs.size === 0) return;
      if (performance.now() - since <= RESTART_AFTER_MS) return startLater();
      waitMs = RESTART_AFTER_MS;
      start();
    };
    started.once("error", gone);
    started.once("exit", gone);
    started.stdin?.on("error", gone);
    started.unref();
    (started.stdin as { unref?: () => void } | null)?.unref?.();
    tell(`mark ${patternOf(mark)}\n`);
    for (const pgid of groups) tell(`add ${pgid}\n`);
    for (const path of dirs) tell(`adddir ${path}\n`);
  }

  function startLater(): void {
    clearTimeout(retry);
    retry = setTimeout(() => {
      if (helper === undefined && groups.size + dirs.size > 0) start();
    }, waitMs);
    retry.unref();
    waitMs = Math.min(2 * waitMs, RESTART_MAX_MS);
  }

  return {
    mark,
    async ready() {
      if (helper === undefined) start();
      await within(told, READY_MS);
    },
    add(pgid) {
      if (groups.has(pgid)) return;
      groups.add(pgid);
      if (helper === undefined) start();
      else tell(`add ${pgid}\n`);
    },
    del(pgid) {
      if (groups.delete(pgid)) tell(`del ${pgid}\n`);
    },
    addDir(path) {
      // One line is one path, and only one from the root is the same for the helper.
      if (!path.startsWith("/") || /[\r\n]|\s$/u.test(path) || dirs.has(path)) return;
      dirs.add(path);
      if (helper === undefined) start();
      else tell(`adddir ${path}\n`);
    },
    delDir(path) {
      if (dirs.delete(path)) tell(`deldir ${path}\n`);
    },
    close() {
      clearTimeout(retry);
      groups.clear();
      dirs.clear();
      helper?.stdin?.end();
      helper = undefined;
    },
  };
}
