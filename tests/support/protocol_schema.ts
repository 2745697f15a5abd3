/**
 * The protocol's own JSON Schema, against which a test holds what mm sends.
 *
 * @module
 */
import { readFile } from "node:fs/promises";
import type { ValidateFunction } from "ajv";
import { Ajv2020 } from "ajv/dist/2020.js";
import type { Json } from "./acp_editor.ts";

/** Checks messages of an agent. */
export interface ProtocolSchema {
  /** All kinds of updates there are. */
  readonly updateKinds: readonly string[];
  /** Returns what is wrong with the parameters of a message, by the name of their type. */
  faults(type: string, params: Json): string[];
}

/** Reads the schema of the stable protocol that comes with the library. */
export async function protocolSchema(): Promise<ProtocolSchema> {
  const url = import.meta.resolve("@agentclientprotocol/sdk/schema/v1/schema.json");
  const schema = JSON.parse(await readFile(new URL(url), "utf8"));
  // The schema carries words of its own that are no part of JSON Schema, and formats of numbers.
  const ajv = new Ajv2020({ strict: false, validateFormats: false, allErrors: true });
  ajv.addSchema(schema, "acp");
  const checks = new Map<string, ValidateFunction>();
  return {
    updateKinds: schema.$defs.SessionUpdate.oneOf.map((one: Json) =>
      one.properties.sessionUpdate.const
    ),
    faults(type, params) {
      const check = checks.get(type) ?? ajv.compile({ $ref: `acp#/$defs/${type}` });
      checks.set(type, check);
      if (check(params)) return [];
      return (check.errors ?? []).map((error) => `${type}${error.instancePath} ${error.message}`);
    },
  };
}
