/**
 * The command `/model`: what there is to choose from, and choosing.
 *
 * @module
 */
import { modelText } from "./info.ts";
import type { SessionModel } from "./session_model.ts";

/** Models that are listed at most: some providers have hundreds. */
const MAX_LISTED = 40;

/**
 * Runs the command and returns what it says.
 *
 * @param name the model to take; empty for the list.
 * @throws {UserError} when the server has no such model.
 */
export async function modelCommand(
  model: SessionModel,
  name: string,
  options: { readonly signal: AbortSignal },
): Promise<string> {
  if (name !== "") {
    await model.choose(name, options);
    return `The model is now ${modelText(model)}.`;
  }
  const models = await model.models(options);
  return [modelText(model), ...listLines(models ?? [], model.settings.model)].join("\n");
}

function listLines(models: readonly string[], current: string | undefined): string[] {
  if (models.length < 2) return [];
  const lines = models.slice(0, MAX_LISTED).map((name) =>
    `${name === current ? "*" : "-"} ${name}`
  );
  const more = models.length - MAX_LISTED;
  return [
    ...lines,
    ...(more > 0 ? [`- and ${more} more`] : []),
    "/model <name> takes another one.",
  ];
}
