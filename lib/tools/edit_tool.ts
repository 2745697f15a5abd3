/**
 * `edit`: one text for another in a file.
 *
 * @module
 */
import { z } from "zod";
import { defineTool } from "./define_tool.ts";
import { notFoundHint } from "./edit_hint.ts";
import { type EditPlan, type LineRange, planEdit } from "./edit_plan.ts";
import { FileProblem } from "./file_problem.ts";
import { missingHint } from "./missing_path.ts";
import { decodeText, encodeText, readWhole } from "./text_file.ts";
import { resolvePath, showPath } from "./tool_paths.ts";
import { count, diffsOf, explaining } from "./tool_result.ts";
import { findTarget, refuseStale, replaceFile } from "./write_target.ts";

const DESCRIPTION =
  "Replaces text in a file that was read before. old_string must be exact, without line numbers, and occur once: add lines around it, or set replace_all. Line endings are kept.";

/** Places whose lines are told one by one. */
const MAX_PLACES_TOLD = 10;

const schema = z.object({
  path: z.string(),
  old_string: z.string(),
  new_string: z.string(),
  replace_all: z.boolean().optional(),
});

/** Replaces text in a file. */
export const editTool = defineTool({
  name: "edit",
  kind: "edit",
  description: DESCRIPTION,
  schema,
  gated: true,
  parallel: false,
  preview: async (input, { cwd }) => {
    const { path } = resolvePath(input.path, cwd);
    const basics = { title: showPath(path, cwd), locations: [{ path }] };
    try {
      const target = await findTarget(path);
      const { text } = decodeText((await readWhole(target.real)).bytes);
      const plan = planEdit(text, replacementOf(input));
      if (plan.kind !== "change") return basics;
      const line = plan.places[0]?.first;
      return {
        ...basics,
        locations: [{ path, ...(line === undefined ? {} : { line }) }],
        diffs: diffsOf(path, text, plan.text),
      };
    } catch {
      return basics;
    }
  },
  run: async (input, context) => {
    const { path } = resolvePath(input.path, context.cwd);
    const shown = showPath(path, context.cwd);
    return await explaining(`Cannot edit "${shown}"`, async () => {
      const target = await findTarget(path);
      if (target.stat === undefined) {
        const hint = await missingHint(path, context.cwd);
        throw new FileProblem(`no such file${hint || "; use write to create it"}`);
      }
      const file = await readWhole(target.real);
      const { text, form } = decodeText(file.bytes);
      refuseStale(target, file, context.files);
      const plan = planEdit(text, replacementOf(input));
      if (plan.kind !== "change") throw new FileProblem(whyNoChange(plan, input, text));
      const bytes = encodeText(plan.text, form);
      await replaceFile({ target, bytes, views: context.files, signal: context.signal });
      const line = plan.places[0]?.first ?? 1;
      return {
        ok: true,
        text: `Edited "${shown}": ${count(plan.places.length, "replacement")}, ${
          lineList(plan.places)
        }`,
        locations: [{ path, line }],
        diffs: diffsOf(path, text, plan.text),
      };
    });
  },
});

function replacementOf(input: z.output<typeof schema>) {
  return {
    oldString: input.old_string,
    newString: input.new_string,
    replaceAll: input.replace_all ?? false,
  };
}

function whyNoChange(
  plan: Exclude<EditPlan, { kind: "change" }>,
  input: z.output<typeof schema>,
  text: string,
): string {
  switch (plan.kind) {
    case "empty":
      return "old_string is empty; give the text to replace, or use write for a whole file";
    case "same":
      return "old_string and new_string are the same, nothing would change";
    case "none":
      return `old_string is not in the file${
        notFoundHint(text, input.old_string, input.new_string)
      }`;
    case "many": {
      const told = plan.lines.slice(0, MAX_PLACES_TOLD).join(", ");
      const more = plan.lines.length > MAX_PLACES_TOLD ? ", ..." : "";
      return `old_string occurs ${plan.lines.length} times (lines ${told}${more}); add lines around it until it occurs once, or set replace_all`;
    }
  }
}

function lineList(places: readonly LineRange[]): string {
  const told = places.slice(0, MAX_PLACES_TOLD).map(({ first, last }) =>
    last > first ? `${first}-${last}` : `${first}`
  );
  const only = places.length === 1 && places[0]?.first === places[0]?.last;
  const more = places.length > MAX_PLACES_TOLD ? ", ..." : "";
  return `${only ? "line" : "lines"} ${told.join(", ")}${more}`;
}
