/**
 * The key `mcpServers`: the MCP servers whose tools the agent has.
 *
 * @module
 */
import * as z from "zod";
import { group, line, list } from "./fields.ts";

/** Longest name of a server, in characters: it is a part of the names of its tools. */
export const MAX_MCP_SERVER_NAME = 32;

/** Most servers of one agent. */
const MAX_SERVERS = 32;

/** The name stands between `__` in `mcp__server__tool`, so it holds none. */
const SERVER_NAME = /^[A-Za-z](?:[A-Za-z0-9-]|_(?!_))*$/u;

const VARIABLE_NAME = /^[A-Za-z_][A-Za-z0-9_]*$/u;

/** A name of a header, as HTTP allows it. */
const HEADER_NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/u;

const serverName = z.string().superRefine((name, context) => {
  if (name.length > MAX_MCP_SERVER_NAME) {
    context.addIssue(
      `is too long for the name of an MCP server: at most ${MAX_MCP_SERVER_NAME} characters`,
    );
  } else if (!SERVER_NAME.test(name) || name.endsWith("_")) {
    context.addIssue(
      "is not the name of an MCP server: a letter, then letters, digits, - and single _ inside",
    );
  }
}).meta({ pattern: "^[A-Za-z]([A-Za-z0-9-]|_(?!_))*$", maxLength: MAX_MCP_SERVER_NAME });

const argument = z.string({ error: "must be text" }).max(100_000, {
  error: "must have at most 100000 characters",
}).regex(/^[^\0]*$/u, { error: "must not hold a NUL" });

/** An entry as it stands in the file. */
export const mcpServerEntry = group({
  command: line({ max: 4096 }).optional().describe(
    "The program of a server on stdin and stdout: a name on the PATH, or a path relative to this " +
      "file. Exactly one of command and url is given.",
  ),
  args: list(argument, "arguments").optional().describe(
    "The arguments of command.",
  ),
  env: z.record(
    z.string().regex(VARIABLE_NAME, { error: "is not the name of an environment variable" }),
    z.string({ error: "must be text" }).regex(/^[^\0]*$/u, { error: "must not hold a NUL" }),
    { error: "must be a map from names of variables to text" },
  ).optional().describe("Environment variables of command, in addition to mm's own."),
  url: line({ max: 4096 }).refine(isHttp, {
    error: "must be an address that begins with http:// or https://",
  }).optional().describe("The address of a server over streamable HTTP, instead of command."),
  headers: z.record(
    z.string().regex(HEADER_NAME, { error: "is not the name of an HTTP header" }),
    z.string({ error: "must be text" }).regex(/^[^\0\r\n]*$/u, { error: "must be one line" }),
    { error: "must be a map from names of headers to text" },
  ).optional().describe("Headers sent to url: authorization, for example."),
}).superRefine((entry, context) => {
  // A misspelt key has been reported already; what is missing would follow from it.
  if (context.issues.length > 0) return;
  const { command, url } = entry;
  if (command !== undefined && url !== undefined) {
    context.addIssue("has both command and url; remove one of them");
  } else if (command === undefined && url === undefined) {
    context.addIssue("has neither command nor url; name the server's program in command");
  } else if (url !== undefined && (entry.args !== undefined || entry.env !== undefined)) {
    context.addIssue("has args or env, which belong to command; with url there is headers");
  } else if (command !== undefined && entry.headers !== undefined) {
    context.addIssue("has headers, which belong to url; with command there is env");
  }
}).meta({ oneOf: [{ required: ["command"] }, { required: ["url"] }] });

/** The key about MCP servers. */
export const mcpKeys = {
  mcpServers: z.record(serverName, mcpServerEntry, {
    error: "must be a map from the names of MCP servers to their entries",
  }).refine((servers) => Object.keys(servers).length <= MAX_SERVERS, {
    error: `must have at most ${MAX_SERVERS} servers`,
  }).optional().describe(
    "MCP servers. Their tools are called mcp__<server>__<tool>, and ask like bash unless the server " +
      "says that they only read.",
  ),
};

function isHttp(value: string): boolean {
  return URL.canParse(value) && /^https?:$/u.test(new URL(value).protocol);
}
