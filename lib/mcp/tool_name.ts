/**
 * The names under which a model calls the tools of MCP servers: `mcp__<server>__<tool>`, of letters
 * that every provider takes, unique, and the same at every start.
 *
 * @module
 */
import { createHash } from "node:crypto";

/** Characters a name may have: the limit of the providers. */
export const MAX_TOOL_NAME = 64;

/** Characters of the server's name in it. */
const MAX_SERVER_PART = 32;

/** Letters of the mark that tells two names apart. */
const MARK = 6;

/**
 * Returns the name of a server as it stands in names of tools. Two servers never get the same.
 *
 * @param taken the names given so far; the new one is added.
 */
export function serverKey(name: string, taken: Set<string>): string {
  // `__` ends the server's part, so that `mcp__a__*` never means a server `a__b`.
  const clean = plain(name).replace(/_{2,}/gu, "_").replace(/^_+|_+$/gu, "").slice(
    0,
    MAX_SERVER_PART,
  ) || "server";
  let key = clean;
  for (let n = 2; taken.has(key); n++) {
    const suffix = `-${n}`;
    key = clean.slice(0, MAX_SERVER_PART - suffix.length) + suffix;
  }
  taken.add(key);
  return key;
}

/**
 * Returns the name of a tool. One that is too long, or whose plain form another tool has, gets a mark
 * made of its real name.
 *
 * @param server the server's key.
 * @param taken the names given so far; the new one is added.
 */
export function mcpToolName(server: string, tool: string, taken: Set<string>): string {
  const prefix = `mcp__${server}__`;
  const room = MAX_TOOL_NAME - prefix.length;
  const clean = plain(tool);
  let name = prefix + clean;
  if (clean === "" || clean.length > room || taken.has(name)) {
    const mark = createHash("sha256").update(tool).digest("hex").slice(0, MARK);
    name = `${prefix}${clean.slice(0, room - MARK - 1)}_${mark}`;
  }
  for (let n = 2; taken.has(name); n++) {
    const suffix = `-${n}`;
    name = name.slice(0, MAX_TOOL_NAME - suffix.length) + suffix;
  }
  taken.add(name);
  return name;
}

function plain(name: string): string {
  return name.normalize("NFKD").replace(/\p{M}/gu, "").replace(/[^A-Za-z0-9_-]+/gu, "_");
}
