/**
 * The keys about points in which models and servers differ. Each has a default that the provider or
 * the server itself knows better than most people.
 *
 * @module
 */
import { flag } from "./fields.ts";

/** The keys about how a model's answers are read and what goes back to it. */
export const modelQuirkKeys = {
  textCalls: flag().optional().describe(
    "Whether a call of a tool that the model wrote as text counts as a call. Absent: true for " +
      "servers that anybody runs, false for the providers' own.",
  ),
  sendReasoning: flag().optional().describe(
    "Whether the reasoning of earlier answers goes back to the server with them. Absent: as the " +
      "provider needs it.",
  ),
  images: flag().optional().describe(
    "Whether the model takes images. Absent: as the server or the provider says.",
  ),
};
