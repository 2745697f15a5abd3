/**
 * Says what there is to say about a conversation's project instructions, each thing once: at its
 * beginning, or as soon as the model's window is known.
 *
 * @module
 */
import { within } from "../base/within.ts";
import type { Emit } from "../engine/events.ts";
import type { ModelClient } from "../model/types.ts";
import type { ProjectInstructions } from "./project_instructions.ts";

/** How long the end of a conversation waits for the window of its model, in milliseconds. */
const LAST_LOOK_MS = 300;

/** Options of {@linkcode InstructionsReporter}. */
export interface InstructionsReporterOptions {
  readonly model: Pick<ModelClient, "contextWindow" | "facts">;
  readonly emit: Emit;
}

/** Reports for one session. */
export class InstructionsReporter {
  readonly #options: InstructionsReporterOptions;
  #instructions: ProjectInstructions | undefined;
  /** Whether the window still has to be compared with the file. */
  #open = false;

  /** Creates a reporter; nothing is said yet. */
  constructor(options: InstructionsReporterOptions) {
    this.#options = options;
  }

  /** A conversation begins under these instructions, which were read with this window. */
  begin(instructions: ProjectInstructions, window: number | undefined): void {
    const { emit } = this.#options;
    this.#instructions = instructions;
    for (const { severity, text } of instructions.notices) emit({ type: "notice", severity, text });
    this.#open = window === undefined && instructions.section !== undefined;
    this.look();
  }

  /** Looks whether the window is known by now. Cheap; called when a prompt begins and ends. */
  look(): void {
    if (!this.#open) return;
    if (this.#options.model.contextWindow !== undefined) return this.#compare();
    const asked = this.#instructions;
    // Nobody waits for the server: it may be down, and is asked again the next time.
    void this.#options.model.facts({}).then(() => {
      if (asked === this.#instructions) this.#compare();
    }, () => {});
  }

  /**
   * Ends with the conversation; nothing is said afterwards. A server that is about to tell the window is
   * waited for a moment: a single prompt can be over before it has.
   */
  async close(): Promise<void> {
    if (this.#open) {
      const facts = this.#options.model.facts({}).then(() => this.#compare(), () => {});
      await within(facts, LAST_LOOK_MS);
    }
    this.#open = false;
  }

  #compare(): void {
    const { model: { contextWindow }, emit } = this.#options;
    if (!this.#open || contextWindow === undefined) return;
    this.#open = false;
    const text = this.#instructions?.windowWarning(contextWindow);
    if (text !== undefined) emit({ type: "notice", severity: "warning", text });
  }
}
