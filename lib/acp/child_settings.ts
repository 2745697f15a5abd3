/**
 * The model and the reasoning effort of a session of another mm, set where they are others than it
 * begins with.
 *
 * @module
 */
import type { ModelSettings } from "../model/types.ts";
import { EFFORT_OPTION, MODEL_OPTION, OWN_EFFORT } from "./config_options.ts";
import { type Fields, fieldsOf, listOf, textOf } from "./fields.ts";
import { metaOf, readMeta } from "./meta.ts";

/** One option to set. */
export interface SettingChange {
  readonly configId: string;
  readonly value: string;
  readonly _meta?: Record<string, unknown>;
}

/**
 * Returns what has to be set, in order.
 *
 * @param reply the answer that opened the session.
 * @param settings what has to be in use, without a model the one that is; absent for what is.
 */
export function settingChanges(
  reply: Fields,
  settings: ModelSettings | undefined,
): SettingChange[] {
  if (settings === undefined) return [];
  const { model, reasoning } = settings;
  const used = fieldsOf(readMeta(reply)["settings"]);
  const changes: SettingChange[] = [];
  if (model !== undefined && model !== textOf(used["model"])) {
    changes.push({ configId: MODEL_OPTION, value: model, _meta: metaOf({ bare: true }) });
  }
  const effort = listOf(reply["configOptions"]).map(fieldsOf)
    .find((option) => option["id"] === EFFORT_OPTION);
  const wanted = reasoning ?? OWN_EFFORT;
  // A model that cannot be told how much it thinks has no such option.
  if (effort !== undefined && effort["currentValue"] !== wanted) {
    changes.push({ configId: EFFORT_OPTION, value: wanted });
  }
  return changes;
}
