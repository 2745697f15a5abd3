/**
 * `fetch`: a page of the web as text.
 *
 * @module
 */
import { z } from "zod";
import { headOf } from "../base/cut.ts";
import { formatDuration } from "../base/duration.ts";
import { messageOf } from "../base/errors.ts";
import { defineTool } from "./define_tool.ts";
import { FileProblem } from "./file_problem.ts";
import { type FetchedBody, readBody } from "./fetch_body.ts";
import { fetchText } from "./fetch_text.ts";
import { checkUrl, followRedirects } from "./fetch_url.ts";
import type { ToolContext, ToolResult } from "./tool.ts";

const DESCRIPTION =
  "Gets a URL (http, https) and returns its text; HTML as Markdown. Sends no cookies. A redirect to another host is told, not followed.";

/** Budget of a call, in milliseconds. */
const BUDGET_MS = 60_000;

/** Room kept for the facts above the text. */
const FACTS_ROOM = 600;

/** What a server sees of mm. */
const HEADERS: Readonly<Record<string, string>> = {
  "user-agent": "mm (coding agent)",
  "accept": "text/markdown, text/html;q=0.9, text/plain;q=0.9, application/json;q=0.9, */*;q=0.5",
};

/** Gets a page. */
export const fetchTool = defineTool({
  name: "fetch",
  kind: "fetch",
  description: DESCRIPTION,
  schema: z.object({
    // As it is written out, so that the person and the rules see the host that is really asked.
    url: z.string().transform((written, issue) => {
      const checked = checkUrl(written);
      if ("url" in checked) return checked.url.href;
      issue.addIssue(checked.error);
      return z.NEVER;
    }),
    max_chars: z.int().min(1).optional(),
  }),
  gated: true,
  parallel: true,
  preview: (input) => ({ title: input.url }),
  run: async (input, context) => {
    const resumeWatchdog = context.pauseWatchdog();
    const limit = AbortSignal.timeout(BUDGET_MS);
    const signal = AbortSignal.any([context.signal, limit]);
    try {
      return await get(input, { ...context, signal });
    } catch (error) {
      context.signal.throwIfAborted();
      if (error instanceof FileProblem) throw error;
      const why = limit.aborted ? `no answer within ${formatDuration(BUDGET_MS)}` : reasonOf(error);
      throw new FileProblem(`Cannot get "${input.url}": ${why}`, { cause: error });
    } finally {
      resumeWatchdog();
    }
  },
});

async function get(
  input: { readonly url: string; readonly max_chars?: number | undefined },
  context: ToolContext,
): Promise<ToolResult> {
  const { signal } = context;
  const { response, url, elsewhere } = await followRedirects(input.url, {
    headers: HEADERS,
    signal,
  });
  if (elsewhere !== undefined) {
    await response.body?.cancel();
    return {
      ok: false,
      text: `[${input.url} redirects to another host: ${elsewhere}; get that if you want it]`,
    };
  }
  const body = await readBody(response);
  const room = Math.max(0, Math.min(input.max_chars ?? Infinity, context.maxOutput - FACTS_ROOM));
  const text = await fetchText(body, { enough: room, signal });
  const facts = factsOf(response, url, body);
  if ("binary" in text) {
    return { ok: false, text: `[${facts}: ${text.binary}, which is not text and is not shown]` };
  }
  const form = text.form === undefined ? "" : `, ${text.form}`;
  const shown = headOf(text.text, room);
  const rest = text.more === true ? "; there is more" : ` of ${text.text.length}`;
  const whole = shown.length === text.text.length && text.more !== true;
  const cut = whole ? "" : `; the first ${shown.length} characters${rest}`;
  const content = shown.trim() === "" ? "" : `\n${shown}`;
  return { ok: response.ok, text: `[${facts}${form}${cut}]${content}` };
}

function factsOf(response: Response, url: string, body: FetchedBody): string {
  const words = response.statusText === "" ? "" : ` ${response.statusText}`;
  const size = body.cut
    ? `more than ${body.bytes.length} bytes, the rest not read`
    : `${body.bytes.length} bytes`;
  return `HTTP ${response.status}${words}, ${headOf(url, 300)}, ${body.type || "no type"}, ${size}`;
}

/** Node says only "fetch failed"; the reason is inside. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof Error && cause.message !== ""
    ? `${messageOf(error)}: ${cause.message}`
    : messageOf(error);
}
