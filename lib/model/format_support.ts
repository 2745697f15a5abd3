/**
 * Whether a server takes `response_format`, and whether together with tools; found out by its refusals.
 *
 * @module
 */
import type { Failure } from "./failure.ts";
import type { ModelRequest } from "./types.ts";

/** How servers name what they refuse: the field, or what they make of it. */
const NAMES =
  /response_?format|json_?(schema|object|mode)|json mode|structured.?output|grammar|guided|response mime ?type/iu;

/** Statuses of a refused request; llama.cpp answers 500 where a request contradicts itself. */
const STATUSES: ReadonlySet<number> = new Set([400, 404, 415, 422, 500, 501]);

/** What is known about one server. */
export class FormatSupport {
  readonly #freely: boolean;
  #refused = false;
  #refusedWithTools = false;

  /**
   * @param options `freely`: a model held to a schema can still call tools. Where it cannot, the
   * schema goes with tools only when the answer is due.
   */
  constructor(options: { readonly freely: boolean }) {
    this.#freely = options.freely;
  }

  /** Whether the response format goes with a request. */
  sends({ responseFormat, tools }: ModelRequest): boolean {
    if (responseFormat === undefined || this.#refused) return false;
    if (tools.length === 0) return true;
    return !this.#refusedWithTools && (this.#freely || responseFormat.due);
  }

  /**
   * Learns from a failure. Returns whether the request was refused for its response format and is
   * worth sending again: it then goes without, from now on.
   */
  learns(failure: Failure, request: ModelRequest): boolean {
    if (!this.sends(request) || !STATUSES.has(failure.status ?? 0)) return false;
    if (!NAMES.test(failure.words.text)) return false;
    if (request.tools.length > 0) this.#refusedWithTools = true;
    else this.#refused = true;
    return true;
  }
}
