/**
 * A plan in a scrolling terminal.
 *
 * @module
 */
import type { PlanEntry } from "../base/plan.ts";
import type { Paint } from "./paint.ts";
import { visibleText } from "./safe_text.ts";

/** Returns the entries, one on a line, without the final newline. */
export function planText(entries: readonly PlanEntry[], paint: Paint): string {
  return entries.map(({ content, status }) => {
    const text = visibleText(content);
    switch (status) {
      case "completed":
        return paint.dim(`  [x] ${text}`);
      case "in_progress":
        return `  [>] ${paint.bold(text)}`;
      case "pending":
        return `  [ ] ${text}`;
    }
  }).join("\n");
}
