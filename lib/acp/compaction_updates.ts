/**
 * The compression of a conversation, as an editor that has a place for it is told. Others see the
 * notices alone.
 *
 * @module
 */
import type { SessionUpdate } from "@agentclientprotocol/sdk";
import { headOf } from "../base/cut.ts";
import type { EngineEvent } from "../engine/events.ts";
import { MAX_PART } from "./limits.ts";

/** An event about a compression. */
export type CompactionEvent = Extract<EngineEvent, { readonly compactionId: string }>;

/** Returns the update for an event. */
export function compactionUpdate(event: CompactionEvent): SessionUpdate {
  const { compactionId } = event;
  switch (event.type) {
    case "compaction_start":
      return { sessionUpdate: "compaction_update", compactionId, status: "in_progress" };
    case "compaction_text":
      return {
        sessionUpdate: "compaction_summary_chunk",
        compactionId,
        content: { type: "text", text: headOf(event.text, MAX_PART) },
      };
    case "compaction_end":
      return {
        sessionUpdate: "compaction_update",
        compactionId,
        status: event.status,
        // The whole takes the place of the pieces: it may have been shortened.
        ...(event.summary === undefined
          ? {}
          : { summary: [{ type: "text", text: headOf(event.summary, MAX_PART) }] }),
        ...(event.error === undefined ? {} : { error: event.error }),
      };
  }
}
