/**
 * What a search of file contents is, for both of its engines.
 *
 * @module
 */
import type { Line } from "./line_splitter.ts";

/** A search. */
export interface GrepSearch {
  /** A file or a directory, absolute. */
  readonly root: string;
  readonly rootIsDirectory: boolean;
  readonly pattern: string;
  readonly ignoreCase: boolean;
  /** Lines shown before and after a match. */
  readonly context: number;
  /** Only the names of files are wanted. */
  readonly filesOnly: boolean;
  /** The files to look at, as the model wrote the pattern; all when absent. */
  readonly glob?: string;
  /** Says whether a file (absolute) is to be looked at. */
  readonly wants: (path: string) => boolean;
  readonly signal: AbortSignal;
  /** When the search gives up, as `performance.now()` counts. */
  readonly deadline: number;
}

/** Takes what is found. Its methods return false when no more is wanted. */
export interface GrepSink {
  /** A line of a file (absolute): a match, or context of one. */
  line(path: string, number: number, line: Line, isMatch: boolean): boolean;
  /** A file with a match, where only names are wanted. */
  file(path: string): boolean;
}

/** Why a search ended before it had seen everything. */
export type GrepLimit = "time" | "entries" | "enough";

/** UTF-16 units kept of a line. */
export const MAX_KEPT_LINE = 500;
