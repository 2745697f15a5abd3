/**
 * The built-in tools that need no other agent.
 *
 * @module
 */
import { askUserTool } from "./ask_user_tool.ts";
import { bashTool } from "./bash_tool.ts";
import { editTool } from "./edit_tool.ts";
import { fetchTool } from "./fetch_tool.ts";
import { globTool } from "./glob_tool.ts";
import { grepTool } from "./grep_tool.ts";
import { lsTool } from "./ls_tool.ts";
import { readTool } from "./read_tool.ts";
import type { Tool } from "./tool.ts";
import { todoTool } from "./todo_tool.ts";
import { writeTool } from "./write_tool.ts";

/**
 * In the order in which they are declared to the model. The order never changes: it is part of the
 * prefix that model servers keep in their cache.
 */
const TOOLS: readonly Tool[] = [
  // The engine passes to `run` and `preview` only what the same tool's `parse` returned.
  bashTool as Tool,
  readTool as Tool,
  writeTool as Tool,
  editTool as Tool,
  globTool as Tool,
  grepTool as Tool,
  lsTool as Tool,
  fetchTool as Tool,
  todoTool as Tool,
  askUserTool as Tool,
];

/** Returns the tools, always in the same order. */
export function builtinTools(): readonly Tool[] {
  return TOOLS;
}
