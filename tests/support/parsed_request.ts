/**
 * A request to a model, taken apart for the checks.
 *
 * @module
 */
import type { WireBody } from "./wire.ts";

/** A request taken apart. */
export interface ParsedRequest {
  /** Counted from 1, as violations name it. */
  readonly number: number;
  readonly body: WireBody;
  /** Literal JSON of what stands in front of the messages in a server's cache: model and tools. */
  readonly head: string;
  /** Literal JSON of each message. */
  readonly messages: readonly string[];
  readonly newPrefix: boolean;
}
