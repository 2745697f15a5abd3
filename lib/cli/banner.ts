/**
 * What line mode says at its start.
 *
 * @module
 */
import { oneLine } from "../base/cut.ts";
import type { SessionHost } from "../session/types.ts";
import type { Paint } from "./paint.ts";
import { visibleText } from "./safe_text.ts";

/** Columns of an agent's description. */
const DESCRIPTION_WIDTH = 72;

/** Returns the banner in whole lines, without the final newline. */
export function bannerText(
  options: {
    readonly host: Pick<SessionHost, "title" | "label" | "config">;
    readonly cwd: string;
    readonly yolo: boolean;
    /** Which project instructions were read; empty when there are none. */
    readonly instructions: string;
    readonly paint: Paint;
  },
): string {
  const { host, cwd, yolo, instructions, paint } = options;
  const shown = (text: string) => visibleText(oneLine(text, 200));
  // What the server says of its window comes later, and only where nothing is declared.
  const { contextWindow } = host.config.model;
  const window = contextWindow === undefined ? "" : ` · window ${contextWindow} tokens`;
  const lines = [
    `${paint.bold(shown(host.title))} · ${shown(host.label)}${window}`,
    `in ${shown(cwd)}`,
    yolo ? "yolo is on: calls run without a question" : "calls that change things ask first",
  ];
  if (instructions !== "") lines.push(`project instructions: ${shown(instructions)}`);
  for (const { name, description } of host.config.agents) {
    const text = description === undefined ? "" : ` ${oneLine(description, DESCRIPTION_WIDTH)}`;
    lines.push(`/ask-${shown(name)}${paint.dim(visibleText(text))}`);
  }
  lines.push(paint.dim("/help lists the commands, Ctrl-C cancels, Ctrl-D leaves"));
  return lines.join("\n");
}
