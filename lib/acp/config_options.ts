/**
 * What an editor's user can choose in a session: whether gated calls ask, and the model. Newer
 * editors read the options, older ones the modes; both say the same.
 *
 * @module
 */
import type { SessionConfigOption, SessionModeState } from "@agentclientprotocol/sdk";

/** The names of the two modes. */
export type ModeId = "ask" | "yolo";

/** Id of the option that chooses the mode. */
export const MODE_OPTION = "mode";

/** Id of the option that shows the model. */
export const MODEL_OPTION = "model";

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

/**
 * Returns all options with their current values.
 *
 * @param label `provider/model`; the one model there is to choose.
 */
export function configOptions(yolo: boolean, label: string): SessionConfigOption[] {
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
      currentValue: label,
      options: [{ value: label, name: label }],
    },
  ];
}
