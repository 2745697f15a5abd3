/**
 * The modes of permissions that definitions of other programs name. None of them raises anything: who
 * starts a subagent decides what it may do. One that forbids changes is kept.
 *
 * @module
 */
import { didYouMean } from "../base/nearest.ts";
import { quotable } from "../config/problems.ts";

/** What a mode means here. */
export type Approval =
  /** `note`: what is not done, a sentence without a period. */
  | { readonly readOnly: boolean; readonly note?: string }
  /** Why the file cannot be used. */
  | { readonly fault: string };

/** The modes of `approvalMode`; those that would raise permissions are `true`. */
const APPROVAL_MODES: Readonly<Record<string, boolean>> = {
  default: false,
  plan: false,
  bubble: false,
  "auto-edit": true,
  auto: true,
  yolo: true,
};

/** The modes of `permissionMode`, likewise. */
const PERMISSION_MODES: Readonly<Record<string, boolean>> = {
  default: false,
  plan: false,
  dontAsk: false,
  acceptEdits: true,
  auto: true,
  bypassPermissions: true,
};

/** Reads `approvalMode`, else `permissionMode`. */
export function approvalOf(values: Readonly<Record<string, unknown>>): Approval {
  const { approvalMode, permissionMode } = values;
  if (approvalMode !== undefined && approvalMode !== null) {
    if (typeof approvalMode !== "string" || !Object.hasOwn(APPROVAL_MODES, approvalMode)) {
      const names = Object.keys(APPROVAL_MODES);
      const hint = typeof approvalMode === "string" ? didYouMean(approvalMode, names) : "";
      return { fault: `"approvalMode" must be one of ${names.join(", ")}${hint}` };
    }
    return meaning("approvalMode", approvalMode, APPROVAL_MODES[approvalMode] === true);
  }
  if (permissionMode === undefined || permissionMode === null) return { readOnly: false };
  if (typeof permissionMode !== "string" || !Object.hasOwn(PERMISSION_MODES, permissionMode)) {
    const shown = typeof permissionMode === "string" ? ` "${quotable(permissionMode)}"` : "";
    return { readOnly: false, note: `the "permissionMode"${shown} is not known, and left out` };
  }
  return meaning("permissionMode", permissionMode, PERMISSION_MODES[permissionMode] === true);
}

function meaning(key: string, mode: string, raises: boolean): Approval {
  if (mode === "plan") return { readOnly: true };
  if (mode === "dontAsk") {
    return {
      readOnly: false,
      note: `"${key}: ${mode}" is not honoured: calls that need a permission ask for it`,
    };
  }
  if (!raises) return { readOnly: false };
  return {
    readOnly: false,
    note: `"${key}: ${mode}" is not honoured: what the subagent may do is decided by the agent ` +
      "that starts it",
  };
}
