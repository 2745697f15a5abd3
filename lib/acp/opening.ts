/**
 * What a session of a subagent begins with, beside the protocol: in `_meta.mm` of the request that
 * opens it.
 *
 * @module
 */
import { isAbsolute } from "node:path";
import type { RequestError } from "@agentclientprotocol/sdk";
import type { ChildOpening, ForkOpening } from "../agents/child_connection.ts";
import type { ToolDeclaration } from "../model/types.ts";
import { MAX_SEEN_FILES, type SeenFile } from "../tools/file_views.ts";
import { invalidParams } from "./errors.ts";
import { type Fields, isFields } from "./fields.ts";
import { metaOf, type OpeningMeta, readMeta } from "./meta.ts";

/** Returns the `_meta` field of a request that opens a session; nothing where it would be empty. */
export function openingMeta({ save, fork }: ChildOpening): { _meta?: Record<string, unknown> } {
  const facts: OpeningMeta = {
    ...(save === undefined ? {} : { save }),
    ...(fork === undefined ? {} : { fork }),
  };
  return Object.keys(facts).length === 0 ? {} : { _meta: metaOf(facts) };
}

/**
 * Reads the opening in a request.
 *
 * @param options.forks whether a fork is taken: only a process that was started for subagents is one.
 * @throws {RequestError} -32602 when a field has another shape than it has to have.
 */
export function readOpening(request: unknown, options: { readonly forks: boolean }): OpeningMeta {
  const meta = readMeta(request);
  const save = meta["save"];
  if (save !== undefined && typeof save !== "boolean") throw wrong("save", "true or false");
  const fork = options.forks ? readFork(meta["fork"]) : undefined;
  return {
    ...(save === undefined ? {} : { save }),
    ...(fork === undefined ? {} : { fork }),
  };
}

const FORK_KEYS = new Set(["system", "tools", "allow", "callId", "files"]);

/** The hash of a file, as `read` makes it. */
const HASH = /^[0-9a-f]{64}$/u;

function readFork(value: unknown): ForkOpening | undefined {
  if (value === undefined) return undefined;
  if (!isFields(value)) throw wrong("fork", "an object");
  const unknown = Object.keys(value).find((key) => !FORK_KEYS.has(key));
  if (unknown !== undefined) throw wrong("fork", `an object without "${unknown.slice(0, 40)}"`);
  const { system, tools, allow, callId, files } = value as Readonly<
    Record<keyof ForkOpening, unknown>
  >;
  if (typeof system !== "string") throw wrong("fork.system", "a text");
  if (!Array.isArray(tools) || !tools.every(isDeclaration)) {
    throw wrong("fork.tools", "a list of tools, each with name, description and parameters");
  }
  if (allow !== undefined && !isTexts(allow)) throw wrong("fork.allow", "a list of texts");
  if (callId !== undefined && (typeof callId !== "string" || callId === "")) {
    throw wrong("fork.callId", "a text that is not empty");
  }
  if (files !== undefined && !isSeen(files)) {
    throw wrong(
      "fork.files",
      `a list of at most ${MAX_SEEN_FILES} files, each with an absolute path, mtimeMs and size`,
    );
  }
  return {
    system,
    tools: tools.map(({ name, description, parameters }) => ({ name, description, parameters })),
    ...(allow === undefined ? {} : { allow }),
    ...(callId === undefined ? {} : { callId }),
    ...(files === undefined ? {} : { files: files.map(seenFile) }),
  };
}

function isSeen(value: unknown): value is readonly SeenFile[] {
  return Array.isArray(value) && value.length <= MAX_SEEN_FILES && value.every(isSeenFile);
}

function isSeenFile(value: unknown): value is SeenFile {
  if (!isFields(value)) return false;
  const { path, mtimeMs, size, hash } = value as Fields & Record<string, unknown>;
  return typeof path === "string" && isAbsolute(path) && !path.includes("\0") &&
    typeof mtimeMs === "number" && Number.isFinite(mtimeMs) &&
    typeof size === "number" && Number.isSafeInteger(size) && size >= 0 &&
    (hash === undefined || typeof hash === "string" && HASH.test(hash));
}

function seenFile({ path, mtimeMs, size, hash }: SeenFile): SeenFile {
  return { path, mtimeMs, size, ...(hash === undefined ? {} : { hash }) };
}

function isDeclaration(value: unknown): value is ToolDeclaration {
  if (!isFields(value)) return false;
  const { name, description, parameters } = value as Fields & Record<string, unknown>;
  return typeof name === "string" && name !== "" && typeof description === "string" &&
    isFields(parameters);
}

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((one) => typeof one === "string");
}

function wrong(field: string, what: string): RequestError {
  return invalidParams(`Cannot open the session: "_meta.mm.${field}" must be ${what}`);
}
