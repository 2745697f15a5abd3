/**
 * The readers of JSON Schema, one for each draft. A file of its own, to be loaded when the first
 * schema is; static imports, because a bundle knows no names in packages of the older module format.
 *
 * @module
 */
import { Ajv } from "ajv";
import { Ajv2019 } from "ajv/dist/2019.js";
import { Ajv2020 } from "ajv/dist/2020.js";

/** Readers by what a schema's `$schema` contains. */
export const DRAFTS = {
  "2020-12": Ajv2020,
  "2019-09": Ajv2019,
  "draft-07": Ajv,
} as const;
