/**
 * Whose form a file with a definition has.
 *
 * @module
 */
import type { DefinitionSource } from "./definition.ts";

/** mm's own, Qwen Code's or Claude Code's. */
export type Dialect = Extract<DefinitionSource, { kind: "file" }>["dialect"];
