/**
 * Searching without ripgrep.
 *
 * @module
 */
import { FileProblem } from "./file_problem.ts";
import type { GrepLimit, GrepSearch, GrepSink } from "./grep_search.ts";
import { lineBatches } from "./line_batches.ts";
import { type LineMatcher, lineMatcher } from "./line_matcher.ts";
import type { Line } from "./line_splitter.ts";
import { openRegular } from "./open_regular.ts";
import { sniff, SNIFF_BYTES } from "./sniff.ts";
import { walkFiles } from "./walk.ts";

/** UTF-16 units of a line that are looked at. */
const MAX_SEARCHED_LINE = 100_000;

/** How a search of one file ended: everything seen, time ran out, or the sink wants no more. */
type FileEnd = "done" | "time" | "enough";

/**
 * Searches in this process. Binary files and files that cannot be read are passed over.
 *
 * @returns the limit that ended the search, if one did.
 * @throws {FileProblem} for an invalid pattern, and for a root that cannot be read.
 * @throws the signal's reason when it is aborted.
 */
export async function searchPlain(
  search: GrepSearch,
  sink: GrepSink,
): Promise<GrepLimit | undefined> {
  const { signal, deadline } = search;
  const expression = compileExpression(search.pattern, search.ignoreCase);
  const matcher = lineMatcher({ expression, signal, deadline });
  try {
    if (!search.rootIsDirectory) {
      const end = await searchFile(search.root, search, matcher, sink);
      return end === "done" ? undefined : end;
    }
    const walk = walkFiles(search.root, { signal, deadline });
    for (;;) {
      const step = await walk.next();
      if (step.done === true) return step.value;
      if (!search.wants(step.value)) continue;
      const end = await searchFile(step.value, search, matcher, sink).catch((error) => {
        signal.throwIfAborted();
        if (error instanceof RangeError) throw error;
        return "done" as const;
      });
      if (end !== "done") return end;
    }
  } finally {
    await matcher.close();
  }
}

/**
 * Compiles a pattern.
 *
 * @throws {FileProblem} when it is invalid.
 */
export function compileExpression(pattern: string, ignoreCase: boolean): RegExp {
  // Ripgrep's notation for a whole pattern without regard to case.
  const inline = /^\(\?i\)/u.test(pattern);
  const source = inline ? pattern.slice(4) : pattern;
  const flags = ignoreCase || inline ? "i" : "";
  try {
    return new RegExp(source, `${flags}u`);
  } catch {
    // Without `u` needless backslashes and lone braces are allowed, as people write them.
  }
  try {
    return new RegExp(source, flags);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new FileProblem(
      `Cannot search: pattern is no valid regular expression (${
        why.replace(/^Invalid regular expression: /u, "")
      }); put a backslash before characters that are meant literally`,
      { cause: error },
    );
  }
}

async function searchFile(
  path: string,
  search: GrepSearch,
  matcher: LineMatcher,
  sink: GrepSink,
): Promise<FileEnd> {
  const { handle } = await openRegular(path);
  try {
    const head = new Uint8Array(SNIFF_BYTES);
    const { bytesRead } = await handle.read(head, 0, head.length, 0);
    const kind = sniff(head.subarray(0, bytesRead));
    if (kind.kind === "binary") return "done";
    const printer = new MatchPrinter(path, search.context, sink);
    let before = 0;
    const batches = lineBatches(handle, {
      encoding: kind.encoding,
      maxLine: MAX_SEARCHED_LINE,
      signal: search.signal,
    });
    for await (const lines of batches) {
      if (performance.now() > search.deadline) return "time";
      const found = await matcher.match(lines.map((line) => line.text));
      if (found === undefined) return "time";
      if (search.filesOnly) {
        if (found.length > 0) return sink.file(path) ? "done" : "enough";
      } else if (!printer.print(lines, before, found)) return "enough";
      before += lines.length;
    }
    return "done";
  } finally {
    await handle.close();
  }
}

/** Prints matches with the lines around them, across the borders of batches. */
class MatchPrinter {
  readonly #path: string;
  readonly #context: number;
  readonly #sink: GrepSink;
  /** The last lines that were not printed. */
  #before: { number: number; line: Line }[] = [];
  /** Lines still to print after a match. */
  #after = 0;

  constructor(path: string, context: number, sink: GrepSink) {
    this.#path = path;
    this.#context = context;
    this.#sink = sink;
  }

  /** Returns false when the sink wants no more. */
  print(lines: readonly Line[], numberBefore: number, found: readonly number[]): boolean {
    let next = 0;
    for (const [index, line] of lines.entries()) {
      const number = numberBefore + index + 1;
      if (found[next] === index) {
        next++;
        for (const context of this.#before) {
          if (!this.#sink.line(this.#path, context.number, context.line, false)) return false;
        }
        this.#before = [];
        if (!this.#sink.line(this.#path, number, line, true)) return false;
        this.#after = this.#context;
      } else if (this.#after > 0) {
        this.#after--;
        if (!this.#sink.line(this.#path, number, line, false)) return false;
      } else if (this.#context > 0) {
        this.#before.push({ number, line });
        if (this.#before.length > this.#context) this.#before.shift();
      }
    }
    return true;
  }
}
