/**
 * The JSON Schema of an agent's answers: checked when the configuration is loaded, and applied to
 * each answer.
 *
 * @module
 */
import type { ValidateFunction } from "ajv";
import { oneLine } from "../base/cut.ts";
import { messageOf } from "../base/errors.ts";
import { didYouMean } from "../base/nearest.ts";

/** A JSON Schema that is a map. */
export type JsonSchema = Readonly<Record<string, unknown>>;

/** A schema that can be applied. */
export interface OutputSchema {
  /**
   * Returns what is wrong with a value, one clause for each fault, none for a value that satisfies
   * the schema. The clauses are meant for the model.
   */
  faultsOf(value: unknown): string[];
}

/** A schema that cannot be applied. The message is a clause. */
export class OutputSchemaError extends Error {}

/** Faults of one value that are told; a model mends the first ones first. */
const MAX_FAULTS = 10;

/** Characters of one fault. */
const MAX_FAULT = 300;

/**
 * Keywords that no draft has but that generators of schemas write. They say nothing about a value;
 * every other unknown keyword is taken for a misspelt one.
 */
const ANNOTATIONS: ReadonlySet<string> = new Set([
  "defaultSnippets",
  "discriminator",
  "enumDescriptions",
  "enumNames",
  "errorMessage",
  "example",
  "externalDocs",
  "markdownDescription",
  "propertyOrdering",
  "tsType",
  "xml",
]);

/** Keywords that a misspelt one may have meant. */
const KEYWORDS: readonly string[] = [
  "additionalProperties",
  "allOf",
  "anyOf",
  "const",
  "contains",
  "default",
  "dependentRequired",
  "dependentSchemas",
  "description",
  "else",
  "enum",
  "examples",
  "exclusiveMaximum",
  "exclusiveMinimum",
  "format",
  "if",
  "items",
  "maxContains",
  "maxItems",
  "maxLength",
  "maxProperties",
  "maximum",
  "minContains",
  "minItems",
  "minLength",
  "minProperties",
  "minimum",
  "multipleOf",
  "not",
  "oneOf",
  "pattern",
  "patternProperties",
  "prefixItems",
  "properties",
  "propertyNames",
  "required",
  "then",
  "title",
  "type",
  "unevaluatedItems",
  "unevaluatedProperties",
  "uniqueItems",
];

const compiled = new WeakMap<JsonSchema, Promise<OutputSchema>>();

/**
 * Makes a schema applicable, once for each schema; the library is loaded only now.
 *
 * @throws {OutputSchemaError} when it is no valid JSON Schema of draft 7, 2019-09 or 2020-12.
 */
export function outputSchema(schema: JsonSchema): Promise<OutputSchema> {
  let made = compiled.get(schema);
  if (made === undefined) {
    made = compile(schema);
    compiled.set(schema, made);
  }
  return made;
}

async function compile(schema: JsonSchema): Promise<OutputSchema> {
  const { Ajv, options } = await libraryFor(schema);
  const ajv = new Ajv(options);
  let validate: ValidateFunction | undefined;
  while (validate === undefined) {
    try {
      validate = ajv.compile(schema);
    } catch (thrown) {
      const unknown = /unknown keyword: "(.*)"$/su.exec(messageOf(thrown))?.[1];
      if (unknown === undefined) throw new OutputSchemaError(clause(thrown), { cause: thrown });
      if (!ANNOTATIONS.has(unknown) && !unknown.startsWith("x-")) {
        throw new OutputSchemaError(
          `the keyword "${unknown}" is unknown${didYouMean(unknown, KEYWORDS)}`,
          { cause: thrown },
        );
      }
      ajv.addKeyword(unknown);
    }
  }
  const check = validate;
  return {
    faultsOf: (value) => check(value) ? [] : faults(check.errors ?? []),
  };
}

/** The drafts differ in a few keywords, so each has its own reader. */
async function libraryFor(schema: JsonSchema) {
  const options = {
    allErrors: true,
    // Formats are notes, as the newer drafts have it; a pattern is a rule.
    validateFormats: false,
    // Prices are multiples of 0.01, whatever binary fractions make of that.
    multipleOfPrecision: 9,
    strictSchema: true,
    strictNumbers: true,
    strictTypes: false,
    strictTuples: false,
    strictRequired: false,
    allowMatchingProperties: true,
    // Nothing is ever printed: stdout and stderr belong to the front ends.
    logger: false,
  } as const;
  const draft = schema["$schema"] ?? "2020-12";
  if (typeof draft !== "string") throw new OutputSchemaError("$schema must be text");
  const { DRAFTS } = await import("./json_schema_drafts.ts");
  const known = Object.entries(DRAFTS).find(([name]) => draft.includes(name));
  if (known !== undefined) return { Ajv: known[1], options };
  throw new OutputSchemaError(
    `$schema is "${oneLine(draft, 80)}"; draft-07, 2019-09 and 2020-12 are known`,
  );
}

function clause(thrown: unknown): string {
  const words = messageOf(thrown).replace(/^strict mode: /u, "")
    .replace(/^schema is invalid: data/u, "");
  return oneLine([...new Set(words.split(", data"))].join(", "), MAX_FAULT);
}

interface Fault {
  readonly instancePath: string;
  readonly message?: string;
  readonly params: Readonly<Record<string, unknown>>;
}

function faults(errors: readonly Fault[]): string[] {
  const told = [...new Set(errors.map(faultText))];
  const more = told.length - MAX_FAULTS;
  return more > 0 ? [...told.slice(0, MAX_FAULTS), `and ${more} more`] : told;
}

function faultText({ instancePath, message = "is wrong", params }: Fault): string {
  const where = instancePath === "" ? "the value" : instancePath;
  const detail = params["allowedValues"] ?? params["allowedValue"] ??
    params["additionalProperty"] ?? params["unevaluatedProperty"];
  const named = detail === undefined ? "" : `: ${JSON.stringify(detail)}`;
  return oneLine(`${where} ${message}${named}`, MAX_FAULT);
}
