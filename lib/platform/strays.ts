/**
 * Processes that left the group they were started in (`setsid`, daemons). On Linux the environment they
 * were started with tells whose they are: each process that mm starts has a mark of its own in it.
 *
 * @module
 */
import process from "node:process";
import { readProc } from "./proc_files.ts";

/** The variable with the mark. */
export const MARK_VARIABLE = "MM_GROUP";

/** How many tenths of a second a stray has between TERM and KILL. */
const GRACE_TENTHS = 3;

/**
 * Defines, in POSIX sh, `strays`, which prints the numbers of the processes whose mark begins with
 * `$mark`, and `end_strays`, which ends them: TERM, and KILL for what is left. A process that starts
 * others while it is ended is looked for again.
 */
export const END_STRAYS = `
strays() {
  for file in $(grep -alsz -- "^${MARK_VARIABLE}=$mark" /proc/[0-9]*/environ); do
    file=\${file#/proc/}
    echo "\${file%/environ}"
  done
}
end_strays() {
  n=0
  for pid in $(strays); do kill -TERM "$pid"; done
  while [ -n "$(strays)" ] && [ "$n" -lt ${GRACE_TENTHS} ]; do sleep 0.1 || sleep 1; n=$((n + 1)); done
  for again in 1 2 3; do
    left=$(strays)
    [ -n "$left" ] || return 0
    for pid in $left; do kill -KILL "$pid"; done
  done
}
`;

/** Returns what `$mark` is for a mark, and for those that go on behind it where it ends in a dot. */
export function patternOf(mark: string): string {
  const escaped = mark.replaceAll(".", "\\.");
  return mark.endsWith(".") ? escaped : `${escaped}$`;
}

/**
 * Ends the processes that carry a mark, wherever they went; with a dot at its end, all marks that begin
 * with it. Returns when they are gone, or were told to go. Does nothing where the system has no `/proc`.
 */
export async function endStrays(mark: string): Promise<void> {
  if (process.platform !== "linux") return;
  await readProc(`mark=$1\n${END_STRAYS}\nend_strays`, [patternOf(mark)]);
}
