/**
 * A mark of what a definition says, by which another one is told from it.
 *
 * @module
 */
import { createHash } from "node:crypto";
import type { AgentDefinition } from "./definition.ts";

/** Returns the mark: 16 letters, the same for the same fields. */
export function versionOf(fields: Omit<AgentDefinition, "source" | "version">): string {
  return createHash("sha256").update(JSON.stringify(fields)).digest("hex").slice(0, 16);
}
