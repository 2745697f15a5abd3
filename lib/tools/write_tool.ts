/**
 * `write`: a whole file.
 *
 * @module
 */
import { z } from "zod";
import { defineTool } from "./define_tool.ts";
import { FileProblem } from "./file_problem.ts";
import { eolOf, toEol } from "./line_endings.ts";
import { decodeText, encodeText, readWhole, type TextForm } from "./text_file.ts";
import { resolvePath, showPath } from "./tool_paths.ts";
import { count, diffsOf, explaining } from "./tool_result.ts";
import { findTarget, refuseStale, replaceFile, type WriteTarget } from "./write_target.ts";

const DESCRIPTION =
  "Writes a whole file; directories are made as needed. An existing file must have been read before; change parts of it with edit instead.";

const NEW_FILE: TextForm = { encoding: "utf-8", bom: false };

/** Writes a whole file. */
export const writeTool = defineTool({
  name: "write",
  kind: "edit",
  description: DESCRIPTION,
  schema: z.object({ path: z.string(), content: z.string() }),
  gated: true,
  parallel: false,
  preview: async (input, { cwd }) => {
    const { path } = resolvePath(input.path, cwd);
    const basics = { title: showPath(path, cwd), locations: [{ path }] };
    try {
      const planned = await planWrite(await findTarget(path), input.content);
      return { ...basics, diffs: diffsOf(path, planned.oldText, planned.newText) };
    } catch {
      return basics;
    }
  },
  run: async (input, context) => {
    const named = resolvePath(input.path, context.cwd);
    const { path } = named;
    const shown = showPath(path, context.cwd);
    return await explaining(`Cannot write "${shown}"`, async () => {
      if (named.asDirectory) {
        throw new FileProblem("a path with a slash at its end names a directory");
      }
      const target = await findTarget(path);
      const planned = await planWrite(target, input.content);
      if (planned.file !== undefined) refuseStale(target, planned.file, context.files);
      const locations = [{ path }];
      if (planned.newText === planned.oldText) {
        return { ok: true, text: `"${shown}" has this content already; left as it is`, locations };
      }
      const bytes = encodeText(planned.newText, planned.form);
      await replaceFile({ target, bytes, views: context.files, signal: context.signal });
      const what = planned.oldText === null ? "Created" : "Wrote";
      const lines = input.content === "" ? 0 : input.content.split("\n").length -
        (input.content.endsWith("\n") ? 1 : 0);
      return {
        ok: true,
        text: `${what} "${shown}" (${count(lines, "line")}, ${count(bytes.length, "byte")}${
          planned.crlf ? ", CRLF line endings kept" : ""
        })`,
        locations,
        diffs: diffsOf(path, planned.oldText, planned.newText),
      };
    });
  },
});

/** Content in the form the file has: its byte order mark, encoding and line endings stay. */
async function planWrite(target: WriteTarget, content: string) {
  const wanted = content.toWellFormed();
  if (target.stat === undefined) {
    return { oldText: null, newText: wanted, form: NEW_FILE, crlf: false };
  }
  const file = await readWhole(target.real);
  const { text, form } = decodeText(file.bytes);
  const crlf = eolOf(text) === "\r\n" && wanted.includes("\n") && !wanted.includes("\r\n");
  const plain = form.bom && wanted.startsWith("\ufeff") ? wanted.slice(1) : wanted;
  return {
    oldText: text,
    newText: crlf ? toEol(plain, "\r\n") : plain,
    form,
    crlf,
    file,
  };
}
