/**
 * The key `sessions`: whether conversations are saved, and how many.
 *
 * @module
 */
import { count, flag, group } from "./fields.ts";

/** The key about saved conversations. */
export const sessionsKeys = {
  sessions: group({
    enabled: flag().default(true).describe("Whether conversations are saved."),
    keep: count({ min: 0, max: 100_000 }).default(200).describe(
      "Conversations that are kept of each project; the oldest go first. 0: all.",
    ),
  }).prefault({}).describe("Saved conversations, which can be gone on with later."),
};
