/**
 * What an editor's user can choose in a session: whether gated calls ask, the model, and how much it
 * thinks. Newer editors read the options, older ones the modes; both say the same.
 *
 * @module
 */
import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";
import type { Effort } from "../config/types.ts";
import type { ModelChoice, Session } from "../session/types.ts";

/** The names of the two modes. */
export type ModeId = "ask" | "yolo";

/** Id of the option that chooses the mode. */
export const MODE_OPTION = "mode";

/** Id of the option that chooses the model. */
export const MODEL_OPTION = "model";

/** Id of the option that chooses how much the model thinks; only where it can be told. */
export const EFFORT_OPTION = "reasoning";

/** The effort of a model that is told none. */
export const OWN_EFFORT = "default";

/** Models that are offered at most: some providers have hundreds. */
const MAX_MODELS = 200;

const MODES = [
  {
    id: "ask",
    name: "Ask",
    description: "Commands, changes of files and asked agents need permission",
  },
  { id: "yolo", name: "Yolo", description: "Everything runs without a question" },
] as const;

/** Returns the mode that a session with or without questions is in. */
export function modeOf(yolo: boolean): ModeId {
  return yolo ? "yolo" : "ask";
}

/** Returns whether `mode` runs without questions; `undefined` when there is no such mode. */
export function yoloOf(mode: string): boolean | undefined {
  return MODES.some((known) => known.id === mode) ? mode === "yolo" : undefined;
}

/** Returns the modes in the older form. */
export function modeState(yolo: boolean): SessionModeState {
  return { currentModeId: modeOf(yolo), availableModes: MODES.map((mode) => ({ ...mode })) };
}

/** Returns all options with their current values. */
export function configOptions(session: Pick<Session, "yolo" | "model">): SessionConfigOption[] {
  const { yolo, model } = session;
  return [
    {
      id: MODE_OPTION,
      name: "Mode",
      description: "Whether calls that change something ask first",
      category: "mode",
      type: "select",
      currentValue: modeOf(yolo),
      options: MODES.map(({ id, name, description }) => ({ value: id, name, description })),
    },
    {
      id: MODEL_OPTION,
      name: "Model",
      category: "model",
      type: "select",
      currentValue: model.label,
      options: modelLabels(model).map((label) => ({ value: label, name: label })),
    },
    ...effortOption(model),
  ];
}

/** Returns the model that a value of the option means, by the name it has on its server. */
export function modelNameOf(value: string, model: ModelChoice): string {
  const provider = providerOf(model);
  return value.startsWith(provider) ? value.slice(provider.length) : value;
}

/**
 * Returns the effort that a value of the option means: `undefined` within for the model's own.
 *
 * @returns `undefined` when there is no such choice.
 */
export function effortOf(
  value: unknown,
  model: ModelChoice,
): { readonly effort: Effort | undefined } | undefined {
  if (value === OWN_EFFORT && model.efforts.length > 0) return { effort: undefined };
  const effort = model.efforts.find((known) => known === value);
  return effort === undefined ? undefined : { effort };
}

/** The models by their labels; the one in use stands first where the server does not list it. */
function modelLabels(model: ModelChoice): string[] {
  const provider = providerOf(model);
  const listed = model.listed.slice(0, MAX_MODELS).map((name) => provider + name);
  return listed.includes(model.label) ? listed : [model.label, ...listed];
}

/** The beginning of the labels of one server: `llamacpp/`. */
function providerOf({ label, settings }: ModelChoice): string {
  const { model } = settings;
  return model !== undefined && label.endsWith(`/${model}`)
    ? label.slice(0, label.length - model.length)
    : "";
}

function effortOption({ efforts, settings }: ModelChoice): SessionConfigOption[] {
  if (efforts.length === 0) return [];
  return [{
    id: EFFORT_OPTION,
    name: "Reasoning",
    description: "How much the model thinks",
    category: "thought_level",
    type: "select",
    currentValue: settings.reasoning ?? OWN_EFFORT,
    options: [OWN_EFFORT, ...efforts].map((value) => ({ value, name: capitalized(value) })),
  }];
}

function capitalized(word: string): string {
  return word.charAt(0).toUpperCase() + word.slice(1);
}
