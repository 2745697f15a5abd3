/**
 * How benchmarks show their figures: medians, in Markdown tables.
 *
 * @module
 */
import { availableParallelism, loadavg } from "node:os";
import process from "node:process";

/** Returns the middle of numbers, of an even count the mean of the two middle ones. */
export function median(numbers: readonly number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = Math.floor(sorted.length / 2);
  const upper = sorted[middle] ?? NaN;
  return sorted.length % 2 === 1 ? upper : ((sorted[middle - 1] ?? NaN) + upper) / 2;
}

/** Returns a Markdown table. */
export function markdownTable(
  head: readonly string[],
  rows: readonly (readonly string[])[],
): string {
  const lines = [head, head.map(() => "---"), ...rows];
  return lines.map((cells) => `| ${cells.join(" | ")} |`).join("\n");
}

/** Returns a whole number for a cell, or a dash where nothing was measured. */
export function cell(numbers: readonly number[], digits = 0): string {
  return numbers.length === 0 ? "-" : median(numbers).toFixed(digits);
}

/** Says what the machine was like: figures of a busy one are good for ratios only. */
export function machine(): string {
  return `${availableParallelism()} cores, load ${loadNow()}`;
}

/** The load of the last minute. */
export function loadNow(): string {
  return (loadavg()[0] ?? NaN).toFixed(1);
}

/** Prints a line of the result. */
export const say = (line: string): void => void process.stdout.write(`${line}\n`);

/** Prints a line about how it goes. */
export const note = (line: string): void => void process.stderr.write(`${line}\n`);
