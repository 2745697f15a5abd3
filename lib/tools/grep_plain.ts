/**
 * Searching without ripgrep.
 *
 * @module
 */
import { compileExpression } from "./grep_expression.ts";
import type { GrepLimit, GrepSearch, GrepSink } from "./grep_search.ts";
import { lineBatches } from "./line_batches.ts";
import { type LineMatcher, lineMatcher } from "./line_matcher.ts";
import { type Line, LineSplitter } from "./line_splitter.ts";
import { MatchPrinter } from "./match_printer.ts";
import { openRegular } from "./open_regular.ts";
import { sniff, SNIFF_BYTES } from "./sniff.ts";
import { walkFiles } from "./walk.ts";

/** UTF-16 units of a line that are looked at. */
const MAX_SEARCHED_LINE = 100_000;

/** Files up to this size are read whole, several at a time; larger ones in pieces, one at a time. */
const MAX_SMALL_BYTES = 128 * 1024;

/** Files read at the same time. */
const BATCH_FILES = 64;

/** How a part of a search ended: everything seen, time ran out, or the sink wants no more. */
type PartEnd = "done" | "time" | "enough";

/** What the parts of a search share. */
interface Job {
  readonly search: GrepSearch;
  readonly sink: GrepSink;
  readonly matcher: LineMatcher;
}

/**
 * Searches in this process. Binary files and files that cannot be read are passed over.
 *
 * @returns the limit that ended the search, if one did.
 * @throws {FileProblem} for an invalid pattern.
 * @throws the error of reading the root, or the signal's reason when it is aborted.
 */
export async function searchPlain(
  search: GrepSearch,
  sink: GrepSink,
): Promise<GrepLimit | undefined> {
  const { signal, deadline } = search;
  const expression = compileExpression(search.pattern, search.ignoreCase);
  const matcher = lineMatcher({ expression, signal, deadline });
  const job: Job = { search, sink, matcher };
  try {
    if (!search.rootIsDirectory) return limitOf(await searchLarge(search.root, job));
    const walk = walkFiles(search.root, { signal, deadline });
    let paths: string[] = [];
    for (;;) {
      const step = await walk.next();
      if (step.done !== true && search.wants(step.value)) paths.push(step.value);
      if (step.done !== true && paths.length < BATCH_FILES) continue;
      const end = await searchBatch(paths, job);
      if (end !== "done") return end;
      if (step.done === true) return step.value;
      paths = [];
    }
  } finally {
    await matcher.close();
  }
}

function limitOf(end: PartEnd): GrepLimit | undefined {
  return end === "done" ? undefined : end;
}

/** What came of looking at a file: its lines, or that it is large, or that it is passed over. */
type Loaded = { readonly path: string; readonly lines?: readonly Line[]; readonly large?: true };

/** Reads many files at the same time and matches all their lines at once, but prints in order. */
async function searchBatch(paths: readonly string[], job: Job): Promise<PartEnd> {
  const { search, matcher } = job;
  if (performance.now() > search.deadline) return "time";
  const files = await Promise.all(paths.map(load));
  search.signal.throwIfAborted();
  const texts = files.flatMap(({ lines = [] }) => lines.map(({ text }) => text));
  const found = await matcher.match(texts);
  if (found === undefined) return "time";
  let next = 0;
  let before = 0;
  for (const { path, lines = [], large } of files) {
    const own: number[] = [];
    for (; (found[next] ?? Infinity) < before + lines.length; next++) {
      own.push((found[next] ?? 0) - before);
    }
    before += lines.length;
    const end = large === true
      ? await searchLarge(path, job).catch(() => passedOver(search))
      : report({ path, lines, numberBefore: 0, found: own }, job);
    if (end !== "done") return end;
  }
  return "done";
}

/** A file that cannot be read is passed over, but a cancelled search ends. */
function passedOver(search: GrepSearch): PartEnd {
  search.signal.throwIfAborted();
  return "done";
}

async function load(path: string): Promise<Loaded> {
  try {
    const { handle, stat } = await openRegular(path, { looked: true });
    try {
      if (stat.size > MAX_SMALL_BYTES) return { path, large: true };
      const buffer = new Uint8Array(stat.size);
      const { bytesRead } = await handle.read(buffer, 0, buffer.length, 0);
      const bytes = buffer.subarray(0, bytesRead);
      const kind = sniff(bytes.subarray(0, SNIFF_BYTES));
      if (kind.kind === "binary") return { path };
      const splitter = new LineSplitter(MAX_SEARCHED_LINE);
      const lines = splitter.push(new TextDecoder(kind.encoding).decode(bytes));
      const last = splitter.end();
      return { path, lines: last === undefined ? lines : [...lines, last] };
    } finally {
      await handle.close();
    }
  } catch {
    return { path };
  }
}

async function searchLarge(path: string, job: Job): Promise<PartEnd> {
  const { search, matcher, sink } = job;
  const { handle } = await openRegular(path);
  try {
    const head = new Uint8Array(SNIFF_BYTES);
    const { bytesRead } = await handle.read(head, 0, head.length, 0);
    const kind = sniff(head.subarray(0, bytesRead));
    if (kind.kind === "binary") return "done";
    const printer = new MatchPrinter(path, search.context, sink);
    let numberBefore = 0;
    const batches = lineBatches(handle, {
      encoding: kind.encoding,
      maxLine: MAX_SEARCHED_LINE,
      signal: search.signal,
    });
    for await (const lines of batches) {
      if (performance.now() > search.deadline) return "time";
      const found = await matcher.match(lines.map((line) => line.text));
      if (found === undefined) return "time";
      const end = report({ path, lines, numberBefore, found, printer }, job);
      if (end !== "done") return end;
      if (search.filesOnly && found.length > 0) return "done";
      numberBefore += lines.length;
    }
    return "done";
  } finally {
    await handle.close();
  }
}

/** What was found in some lines of a file. */
interface FoundLines {
  readonly path: string;
  readonly lines: readonly Line[];
  /** Lines of the file before these. */
  readonly numberBefore: number;
  /** Indexes of the lines that match, ascending. */
  readonly found: readonly number[];
  /** The printer of the file; absent when these are all its lines. */
  readonly printer?: MatchPrinter;
}

function report(part: FoundLines, { search, sink }: Job): PartEnd {
  const { path, lines, numberBefore, found } = part;
  if (found.length === 0 && part.printer === undefined) return "done";
  if (search.filesOnly) return found.length === 0 || sink.file(path) ? "done" : "enough";
  const printer = part.printer ?? new MatchPrinter(path, search.context, sink);
  return printer.print(lines, numberBefore, found) ? "done" : "enough";
}
