/**
 * The key `compaction`: when a long conversation is compressed, and what of it is kept.
 *
 * @module
 */
import { flag, group, number } from "./fields.ts";

/** The key about the compression of conversations. */
export const compactionKeys = {
  compaction: group({
    enabled: flag().default(true).describe(
      "Whether conversations are compressed without being told to.",
    ),
    threshold: number({ min: 0.1, max: 0.95 }).default(0.8).describe(
      "Share of the model's window from which on a conversation is compressed.",
    ),
    keep: number({ min: 0, max: 0.9 }).default(0.2).describe(
      "Share of the window that the latest turns may take, which are kept as they are.",
    ),
  }).prefault({}).describe("What happens before a conversation outgrows the model's window."),
};
