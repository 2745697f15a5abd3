/**
 * The regular expression of a search without ripgrep.
 *
 * @module
 */
import { FileProblem } from "./file_problem.ts";

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
