/**
 * The answer of a JSON agent in one turn: held back until it satisfies the schema, asked for again a
 * few times where it does not.
 *
 * @module
 */
import { oneLine } from "../base/cut.ts";
import type { End } from "../base/ends.ts";
import { type JsonSchema, type OutputSchema, outputSchema } from "../config/output_schema.ts";
import type { ModelReply, ResponseFormat, ToolDeclaration } from "../model/types.ts";
import type { Emit, EngineEvent } from "./events.ts";
import { signOfLife } from "./sign_of_life.ts";
import { findJson, notJson } from "./structured_json.ts";
import { repairPrompt } from "./structured_prompt.ts";

/** How often the model is asked again. */
const MAX_REPAIRS = 2;

/** Characters of the reason in a message. */
const MAX_REASON = 500;

/** What an answer is. */
export type Verdict =
  /** It is the answer; `text` is its JSON alone. */
  | { readonly kind: "answer"; readonly text: string }
  /** The model is told `prompt`. */
  | { readonly kind: "repair"; readonly prompt: string }
  /** The model had its chances. */
  | { readonly kind: "failed"; readonly end: End };

/** What of a request depends on the shape of the answer. */
export interface FormattedRequest {
  readonly tools: readonly ToolDeclaration[];
  readonly responseFormat: ResponseFormat;
}

/** The answer of one turn. */
export class StructuredAnswer {
  readonly #schema: OutputSchema;
  readonly #json: JsonSchema;
  readonly #emit: Emit;
  readonly #alive: () => void;
  #repairs = 0;
  /** Whether the server held the last answer to the schema. */
  #constrained = false;
  #held = "";
  #messageId = "";

  /** Use {@linkcode StructuredAnswer.of}. */
  constructor(schema: OutputSchema, json: JsonSchema, emit: Emit) {
    this.#schema = schema;
    this.#json = json;
    this.#emit = emit;
    this.#alive = signOfLife(emit);
  }

  /** Prepares a turn whose answer has to satisfy `schema`; `emit` is the front end's. */
  static async of(schema: JsonSchema, emit: Emit): Promise<StructuredAnswer> {
    return new StructuredAnswer(await outputSchema(schema), schema, emit);
  }

  /**
   * Takes the events of the turn. Text is held back; a warning becomes information, because older
   * clients have no other place for a warning than the answer.
   */
  readonly emit: Emit = (event: EngineEvent) => {
    if (event.type === "text") {
      if (event.messageId !== this.#messageId) this.#held = "";
      this.#messageId = event.messageId;
      this.#held += event.text;
      this.#alive();
    } else if (event.type === "notice" && event.severity === "warning") {
      this.#emit({ ...event, severity: "info" });
    } else {
      this.#emit(event);
    }
  };

  /**
   * Returns what the next request is sent with. While the model may need its tools, they are offered
   * and the server decides nothing; once an answer is due, the server is asked to hold it to the
   * schema. A server that does so only without tools gets none for the last attempt: there the cost,
   * that it reads the conversation anew, is smaller than that of no answer.
   */
  request(tools: readonly ToolDeclaration[]): FormattedRequest {
    const last = this.#repairs === MAX_REPAIRS && !this.#constrained;
    const { $schema: _, ...schema } = this.#json;
    return {
      tools: last ? [] : tools,
      responseFormat: { name: "answer", schema, due: this.#repairs > 0 },
    };
  }

  /** The reply calls tools: what was said beside that is no answer. */
  calls(): void {
    if (this.#held.trim() !== "") {
      this.#emit({ type: "thought", messageId: this.#messageId, text: this.#held });
    }
    this.#held = "";
  }

  /** Judges a reply without calls, and shows it when it is the answer or the last one there is. */
  judge(reply: ModelReply): Verdict {
    this.#constrained = reply.constrained === true;
    const { text } = reply.message;
    const judged = this.#read(text);
    if ("json" in judged) {
      this.#show(judged.json);
      return { kind: "answer", text: judged.json };
    }
    const { faults } = judged;
    const reason = oneLine(faults.join("; "), MAX_REASON);
    if (this.#repairs === MAX_REPAIRS) {
      this.#show(text);
      return {
        kind: "failed",
        end: {
          kind: "failed",
          reason: `the answer does not satisfy structuredOutput, also after ${MAX_REPAIRS} ` +
            `attempts to mend it: ${reason}`,
        },
      };
    }
    this.#repairs++;
    this.#held = "";
    this.#emit({
      type: "notice",
      severity: "info",
      text: `The answer does not satisfy structuredOutput: ${reason}; asking again ` +
        `(${this.#repairs} of ${MAX_REPAIRS})`,
    });
    return { kind: "repair", prompt: repairPrompt(faults) };
  }

  /** The turn is over: what there is of an answer that was not judged is shown. */
  end(end: End): void {
    // Who cancelled does not wait for half a value.
    if (this.#held !== "" && end.kind !== "cancelled") this.#show(this.#held);
  }

  #show(text: string): void {
    this.#held = "";
    this.#emit({ type: "text", messageId: this.#messageId || crypto.randomUUID(), text });
  }

  #read(text: string): { readonly json: string } | { readonly faults: readonly string[] } {
    const found = findJson(text);
    const judged = found.map((json) => ({ json, faults: this.#schema.faultsOf(json.value) }));
    const [right, ...others] = judged.filter(({ faults }) => faults.length === 0);
    if (right !== undefined && others.length === 0) return { json: right.json.text };
    if (right !== undefined) {
      return { faults: [`it holds ${others.length + 1} JSON values that satisfy it; send one`] };
    }
    const [first] = judged.sort((a, b) => b.json.text.length - a.json.text.length);
    return { faults: first?.faults ?? [`it is no JSON: ${notJson(text)}`] };
  }
}
