/**
 * `read`: a text file with line numbers.
 *
 * @module
 */
import { realpath } from "node:fs/promises";
import { z } from "zod";
import { headOf } from "../base/cut.ts";
import { defineTool } from "./define_tool.ts";
import { errorCode, FileProblem, whyNot } from "./file_problem.ts";
import { lineBatches } from "./line_batches.ts";
import { missingHint } from "./missing_path.ts";
import { type OpenFile, openRegular } from "./open_regular.ts";
import { sniff, SNIFF_BYTES, type TextEncoding } from "./sniff.ts";
import type { ToolContext, ToolResult } from "./tool.ts";
import { resolvePath, showPath } from "./tool_paths.ts";
import { count } from "./tool_result.ts";

const DESCRIPTION =
  "Reads a text file. Each line comes as its number, a tab and its text. Says how to read on when not all lines are shown.";

/** Lines shown when the model names no number. */
const DEFAULT_LINES = 2000;

/** UTF-16 units shown of one line. */
const MAX_LINE = 2000;

/** Room kept for the facts below the lines. */
const FACTS_ROOM = 400;

/** The whole file is counted up to this many bytes; beyond, reading stops after the lines shown. */
const MAX_COUNTED_BYTES = 256 * 1024 * 1024;

/** Lines whose cut is told one by one. */
const MAX_CUT_LINES_TOLD = 3;

/** Reads a text file. */
export const readTool = defineTool({
  name: "read",
  kind: "read",
  description: DESCRIPTION,
  schema: z.object({
    path: z.string(),
    offset: z.int().min(0).optional().describe("first line, from 1"),
    limit: z.int().min(1).optional().describe(`lines, default ${DEFAULT_LINES}`),
  }),
  gated: false,
  parallel: true,
  preview: (input, { cwd }) => {
    const { path } = resolvePath(input.path, cwd);
    const line = input.offset === undefined || input.offset < 1 ? {} : { line: input.offset };
    return { title: showPath(path, cwd), locations: [{ path, ...line }] };
  },
  run: async (input, context) => {
    const { path } = resolvePath(input.path, context.cwd);
    const shown = showPath(path, context.cwd);
    const file = await open(path, shown, context);
    try {
      const first = Math.max(1, input.offset ?? 1);
      const window = { first, limit: input.limit ?? DEFAULT_LINES };
      const result = await readWindow(file, { path, shown, window }, context);
      return { ...result, locations: [{ path, line: first }] };
    } finally {
      await file.handle.close();
    }
  },
});

async function open(path: string, shown: string, context: ToolContext): Promise<OpenFile> {
  try {
    return await openRegular(path);
  } catch (error) {
    const code = errorCode(error);
    if (code === "ENOENT") {
      throw new FileProblem(
        `Cannot read "${shown}": no such file${await missingHint(path, context.cwd)}`,
        { cause: error },
      );
    }
    const why = whyNot(error);
    const hint = why === "it is a directory" ? "; use ls or glob" : "";
    throw new FileProblem(`Cannot read "${shown}": ${why}${hint}`, { cause: error });
  }
}

/** What is read, from which line and how many. */
interface Wanted {
  readonly path: string;
  readonly shown: string;
  readonly window: { readonly first: number; readonly limit: number };
}

async function readWindow(
  file: OpenFile,
  wanted: Wanted,
  context: ToolContext,
): Promise<ToolResult> {
  const { path, shown } = wanted;
  const encoding = await textEncoding(file, shown);
  const scanned = await scan(file, encoding, wanted, context);
  const { mtimeMs, size } = file.stat;
  const hash = scanned.hash === undefined ? {} : { hash: scanned.hash };
  context.files.seen(await realpath(path).catch(() => path), { mtimeMs, size, ...hash });

  const { first } = wanted.window;
  if (scanned.total === 0 && first === 1) return { ok: true, text: `[${shown} is empty]` };
  if (scanned.lines.length === 0) {
    throw new FileProblem(
      `Cannot read "${shown}" from line ${first}: it has ${count(scanned.total, "line")}`,
    );
  }
  const facts = factsOf(scanned, first);
  return { ok: true, text: [...scanned.lines, ...facts].join("\n") };
}

async function textEncoding(file: OpenFile, shown: string): Promise<TextEncoding> {
  const head = new Uint8Array(SNIFF_BYTES);
  const { bytesRead } = await file.handle.read(head, 0, head.length, 0);
  const kind = sniff(head.subarray(0, bytesRead));
  if (kind.kind === "text") return kind.encoding;
  throw new FileProblem(
    `Cannot read "${shown}" as text: it is a binary file (${kind.type}, ${file.stat.size} bytes)`,
  );
}

/** What a pass over the file found. */
interface Scanned {
  /** The lines shown, with their numbers. */
  readonly lines: readonly string[];
  /** Lines counted. */
  readonly total: number;
  /** Whether the whole file was counted. */
  readonly complete: boolean;
  /** Notes on lines that were cut. */
  readonly cutLines: readonly string[];
  readonly valid: boolean;
  readonly hash?: string;
}

async function scan(
  file: OpenFile,
  encoding: TextEncoding,
  wanted: Wanted,
  context: ToolContext,
): Promise<Scanned> {
  const { first, limit } = wanted.window;
  const room = Math.max(MAX_LINE / 10, context.maxOutput - FACTS_ROOM);
  const lines: string[] = [];
  const cutLines: string[] = [];
  let used = 0;
  let number = 0;
  let full = false;
  let complete = false;
  let end: { hash: string; valid: boolean } | undefined;
  const batches = lineBatches(file.handle, {
    encoding,
    maxLine: MAX_LINE,
    signal: context.signal,
    onEnd: (facts) => {
      end = facts;
      complete = true;
    },
  });
  for await (const batch of batches) {
    for (const line of batch) {
      number++;
      if (full || number < first) continue;
      let text = `${number}\t${line.text}`;
      // One line alone may be longer than the room there is; then its beginning is shown.
      if (lines.length === 0) text = headOf(text, room);
      if (used + text.length + 1 > room && lines.length > 0) full = true;
      else {
        if (line.length > text.length - `${number}\t`.length) {
          cutLines.push(
            `line ${number} has ${line.length} characters, the first ${
              text.length - `${number}\t`.length
            } are shown`,
          );
        }
        lines.push(text);
        used += text.length + 1;
        full = lines.length >= limit;
      }
    }
    if (full && file.stat.size > MAX_COUNTED_BYTES) break;
  }
  return {
    lines,
    total: number,
    complete,
    cutLines,
    valid: end?.valid ?? true,
    ...(end === undefined ? {} : { hash: end.hash }),
  };
}

function factsOf(scanned: Scanned, first: number): string[] {
  const facts: string[] = [];
  const last = first + scanned.lines.length - 1;
  const all = scanned.complete && last === scanned.total;
  if (!all || first > 1) {
    const total = scanned.complete ? `${scanned.total}` : `more than ${scanned.total}`;
    const next = all ? "" : `; read on with offset ${last + 1}`;
    facts.push(`lines ${first}-${last} of ${total}${next}`);
  }
  facts.push(...scanned.cutLines.slice(0, MAX_CUT_LINES_TOLD));
  const untold = scanned.cutLines.length - MAX_CUT_LINES_TOLD;
  if (untold > 0) facts.push(`${count(untold, "more line")} cut likewise`);
  if (!scanned.valid) facts.push("bytes that are not valid UTF-8 are shown as \ufffd");
  return facts.length === 0 ? [] : [`[${facts.join("; ")}]`];
}
