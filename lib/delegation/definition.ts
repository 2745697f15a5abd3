/**
 * What a subagent is: a definition from a file, or one that mm brings along.
 *
 * @module
 */

/** Where a definition comes from. */
export type DefinitionSource =
  | { readonly kind: "builtin" }
  | {
    readonly kind: "file";
    /** Absolute. */
    readonly path: string;
    /** Whose form the file has: that of the folder it lies in. */
    readonly dialect: "mm" | "qwen" | "claude";
    /** `listed`: a folder of `agents.paths`. */
    readonly scope: "project" | "listed" | "user";
  };

/** A subagent that can be started by its name. */
export interface AgentDefinition {
  /** As it was written; looked up in any case. */
  readonly name: string;
  /** What it is for: the model chooses by it. */
  readonly description: string;
  readonly source: DefinitionSource;
  /** Its system prompt, before what mm adds. */
  readonly prompt: string;
  /** Names of mm's tools and patterns of MCP tools; absent for all that the configuration has. */
  readonly tools?: readonly string[];
  /** What of those it has not. */
  readonly withoutTools: readonly string[];
  /** The model on the configured server; absent for the one in use. */
  readonly model?: string;
  /** Model requests in one run. */
  readonly maxTurns?: number;
  /** Longest time of one run, in milliseconds. */
  readonly maxTimeMs?: number;
  /** Whether it runs in the background where the call does not say. */
  readonly background?: boolean;
  /** What its file asks for and mm does not do, each a sentence without a period. */
  readonly notes: readonly string[];
  /** Changes with what the definition says. */
  readonly version: string;
}

/** A file that is no definition, and why: a sentence without a period that names the file. */
export interface DefinitionFault {
  readonly path: string;
  /** The name the file would have, where that much is known: a call of it is told the reason. */
  readonly name?: string;
  readonly reason: string;
}

/** A file that is not used though nothing is wrong with it, and why: a sentence that names it. */
export interface UnusedDefinition {
  readonly path: string;
  readonly reason: string;
}

/** The definitions as they are at one time. */
export interface CurrentDefinitions {
  readonly definitions: readonly AgentDefinition[];
  readonly faults: readonly DefinitionFault[];
  readonly unused: readonly UnusedDefinition[];
}

/** The definitions of one session. */
export interface DefinitionBook {
  /** The definitions as they were when the session began: what is offered, in a fixed order. */
  readonly offered: readonly AgentDefinition[];
  /** The files that were none then. */
  readonly faults: readonly DefinitionFault[];
  /** The definitions as they are now, the files read anew. */
  current(): Promise<CurrentDefinitions>;
  /**
   * Finds a definition by its name, in any case, as it is now.
   *
   * @param also names that can be called as well where this one is asked for.
   * @returns the definition, or why there is none: a sentence for the model, with the names there are.
   */
  find(
    name: string,
    also?: readonly string[],
  ): Promise<{ readonly definition: AgentDefinition } | { readonly error: string }>;
}
