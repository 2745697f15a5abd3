/**
 * Searching with ripgrep, where it is installed.
 *
 * @module
 */
import type { Readable } from "node:stream";
import { dirname } from "node:path";
import { clearTimeout, setTimeout } from "node:timers";
import { type GroupLeader, spawnGroup } from "../platform/spawn_group.ts";
import { type GrepLimit, type GrepSearch, type GrepSink, MAX_KEPT_LINE } from "./grep_search.ts";
import { rulesAbove } from "./ignore_rules.ts";
import { type Line, LineSplitter } from "./line_splitter.ts";
import { SKIPPED_DIRECTORIES } from "./walk.ts";

/** UTF-16 units kept of ripgrep's complaints. */
const MAX_COMPLAINT = 4000;

/** Room for a path and a number in front of a line. */
const MAX_PREFIX = 4500;

/** How a search with ripgrep went. */
export type RipgrepEnd =
  | { readonly kind: "done"; readonly limit?: GrepLimit }
  /** It could not do its work, or does not understand the pattern, and has found nothing. */
  | { readonly kind: "failed"; readonly reason: string };

/**
 * Searches with ripgrep: no shell, none of its configuration, the pattern behind `--`.
 *
 * @param program its path.
 * @throws {Error} when it cannot be started.
 * @throws the signal's reason when it is aborted.
 */
export async function searchWithRipgrep(
  program: string,
  search: GrepSearch,
  sink: GrepSink,
): Promise<RipgrepEnd> {
  search.signal.throwIfAborted();
  const leader = await spawnGroup({
    program,
    args: await argumentsOf(search),
    // What is skipped is skipped below the root only: inside of it, it was named on purpose.
    cwd: search.rootIsDirectory ? search.root : dirname(search.root),
    env: {},
    stdio: ["ignore", "pipe", "pipe"],
  });
  let limit: GrepLimit | undefined;
  let found = false;
  const noting: GrepSink = {
    line: (...line) => (found = true) && sink.line(...line),
    file: (path) => (found = true) && sink.file(path),
  };
  const stop = () => void leader.process.kill("SIGKILL");
  const timer = setTimeout(() => {
    limit ??= "time";
    stop();
  }, Math.max(0, search.deadline - performance.now()));
  search.signal.addEventListener("abort", stop, { once: true });
  try {
    if (search.signal.aborted) stop();
    const complaint = readComplaint(leader);
    if (!await readMatches(leader, search, noting)) {
      limit ??= "enough";
      stop();
    }
    const { code } = await leader.exited;
    search.signal.throwIfAborted();
    if (limit !== undefined) return { kind: "done", limit };
    if (code === 0 || code === 1) return { kind: "done" };
    const reason = await complaint;
    // Files that could not be read are no failure of the search.
    return found || /^rg: .*: .*\(os error \d+\)/mu.test(reason)
      ? { kind: "done" }
      : { kind: "failed", reason };
  } finally {
    clearTimeout(timer);
    search.signal.removeEventListener("abort", stop);
    stop();
  }
}

async function argumentsOf(search: GrepSearch): Promise<string[]> {
  const args = [
    "--no-config",
    "--color=never",
    "--hidden",
    "--crlf",
    "--sort=path",
    "--engine=auto",
    // The same rules as in the search without ripgrep: `.gitignore` files and nothing else.
    "--no-require-git",
    "--no-ignore-dot",
    "--no-ignore-exclude",
    "--no-ignore-global",
    search.ignoreCase ? "--ignore-case" : "--case-sensitive",
    ...[...SKIPPED_DIRECTORIES].map((name) => `--glob=!**/${name}/**`),
  ];
  if (search.rootIsDirectory && await rulesAbove(search.root) === undefined) {
    args.push("--no-ignore-parent");
  }
  // As a type and not as a glob: a glob would bring back files that are ignored.
  if (search.glob !== undefined && /^[^/\\{}[\]!:]+$/u.test(search.glob)) {
    args.push(`--type-add=wanted:${search.glob}`, "--type=wanted");
  }
  if (search.filesOnly) args.push("--files-with-matches", "--null");
  else args.push("--null", "--with-filename", "--line-number", `--context=${search.context}`);
  args.push("--", search.pattern, search.root);
  return args;
}

/** Returns false when the sink wants no more. */
async function readMatches(
  leader: GroupLeader,
  search: GrepSearch,
  sink: GrepSink,
): Promise<boolean> {
  const splitter = new LineSplitter(MAX_KEPT_LINE + MAX_PREFIX, search.filesOnly ? "\0" : "\n");
  const decoder = new TextDecoder();
  const take = search.filesOnly
    ? ({ text }: Line) => text === "" || !search.wants(text) || sink.file(text)
    : (line: Line) => takeLine(line, search, sink);
  for await (const chunk of leader.process.stdout as Readable) {
    const text = decoder.decode(chunk as Uint8Array, { stream: true });
    for (const line of splitter.push(text)) if (!take(line)) return false;
  }
  const last = splitter.end();
  return last === undefined || take(last);
}

/** A line is `path NUL number : text`, with `-` instead of `:` for context. */
function takeLine(line: Line, search: GrepSearch, sink: GrepSink): boolean {
  const end = line.text.indexOf("\0");
  const parts = /^(\d+)([:-])/u.exec(line.text.slice(end + 1, end + 20));
  // Separators between groups and notes about binary files have another form.
  if (end < 0 || parts === null) return true;
  const path = line.text.slice(0, end);
  if (!search.wants(path)) return true;
  const prefix = end + 1 + parts[0].length;
  const text = line.text.slice(prefix);
  return sink.line(
    path,
    Number(parts[1]),
    { text, length: line.length - prefix },
    parts[2] === ":",
  );
}

async function readComplaint(leader: GroupLeader): Promise<string> {
  let text = "";
  const decoder = new TextDecoder();
  try {
    for await (const chunk of leader.process.stderr as Readable) {
      if (text.length < MAX_COMPLAINT) {
        text += decoder.decode(chunk as Uint8Array, { stream: true });
      }
    }
  } catch {
    // What was read is enough.
  }
  return text.slice(0, MAX_COMPLAINT).toWellFormed().trim();
}
