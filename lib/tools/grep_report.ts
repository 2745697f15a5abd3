/**
 * The result of a search as the model reads it: a file's name, below it the lines with numbers.
 *
 * @module
 */
import { headOf } from "../base/cut.ts";
import { type GrepLimit, type GrepSink, MAX_KEPT_LINE } from "./grep_search.ts";
import type { Line } from "./line_splitter.ts";
import { showPath } from "./tool_paths.ts";
import { count } from "./tool_result.ts";

/** Room kept for the facts below the matches. */
const FACTS_ROOM = 350;

const LIMIT_WORDS: Record<Exclude<GrepLimit, "enough">, string> = {
  time: "the search ran out of time, there may be more; narrow path or glob",
  entries: "the tree is very large and was not searched whole; narrow path or glob",
};

/** Options of {@linkcode GrepReport}. */
export interface GrepReportOptions {
  readonly cwd: string;
  /** Matching lines, or files, that are shown. */
  readonly limit: number;
  /** UTF-16 units of the whole result. */
  readonly maxOutput: number;
}

/** Collects what a search finds, within the limits. */
export class GrepReport implements GrepSink {
  readonly #options: GrepReportOptions;
  readonly #lines: string[] = [];
  #room: number;
  #matches = 0;
  #files = 0;
  #file = "";
  #full = false;

  /** Creates an empty report. */
  constructor(options: GrepReportOptions) {
    this.#options = options;
    this.#room = options.maxOutput - FACTS_ROOM;
  }

  /** Takes a line. */
  line(path: string, number: number, line: Line, isMatch: boolean): boolean {
    if (isMatch && this.#matches >= this.#options.limit) {
      this.#full = true;
      return false;
    }
    const text = headOf(line.text, MAX_KEPT_LINE).toWellFormed();
    const cut = line.length > text.length ? ` [line has ${line.length} characters]` : "";
    const added = [`${number}${isMatch ? ":" : "-"}${text}${cut}`];
    if (path !== this.#file) {
      added.unshift(`${this.#lines.length > 0 ? "\n" : ""}${showPath(path, this.#options.cwd)}`);
    }
    if (!this.#add(added)) return false;
    if (path !== this.#file) this.#files++;
    this.#file = path;
    if (isMatch) this.#matches++;
    return true;
  }

  /** Takes a file's name. */
  file(path: string): boolean {
    if (this.#files >= this.#options.limit) {
      this.#full = true;
      return false;
    }
    if (!this.#add([showPath(path, this.#options.cwd)])) return false;
    this.#files++;
    return true;
  }

  /**
   * Returns the text of the result.
   *
   * @param nothing what to say when nothing was found.
   * @param limit why the search ended early, if it did.
   */
  text(nothing: string, limit: GrepLimit | undefined): string {
    const facts: string[] = [];
    const found = this.#matches > 0
      ? `${count(this.#matches, "match", "matches")} in ${count(this.#files, "file")}`
      : count(this.#files, "file");
    if (this.#files === 0) facts.push(nothing);
    else if (this.#full) {
      facts.push(`${found} shown, there are more; narrow the search or raise limit`);
    } else facts.push(found);
    if (limit !== undefined && limit !== "enough") facts.push(LIMIT_WORDS[limit]);
    return [...this.#lines, `[${facts.join("; ")}]`].join("\n");
  }

  #add(lines: readonly string[]): boolean {
    const size = lines.reduce((sum, line) => sum + line.length + 1, 0);
    // The first is shown in any case: a result without anything helps nobody.
    if (size > this.#room && this.#lines.length > 0) {
      this.#full = true;
      return false;
    }
    this.#room -= size;
    this.#lines.push(...lines);
    return true;
  }
}
