/**
 * Writing a record as a line, without secrets: a model may have read the file that a key stands in.
 *
 * @module
 */
import type { EntryLine, Header } from "./record.ts";

/** Shorter texts are not treated as secrets: hiding them would garble what people said. */
const MIN_SECRET_LENGTH = 8;

const HIDDEN = "[secret]";

/** Writes records. */
export interface LineWriter {
  /** Returns a record as a line, with its newline. */
  readonly line: (record: Header | EntryLine) => string;
  /** Returns a text without the secrets. */
  readonly hide: (text: string) => string;
}

/** Returns a writer that hides the given secrets wherever they stand. */
export function lineWriter(secrets: readonly (string | undefined)[]): LineWriter {
  const known = [...new Set(secrets)].filter((secret): secret is string =>
    secret !== undefined && secret.length >= MIN_SECRET_LENGTH
  );
  const written = known.map((secret) => JSON.stringify(secret).slice(1, -1));
  const hide = (text: string) =>
    known.reduce((clean, secret) => clean.replaceAll(secret, HIDDEN), text);
  return {
    hide,
    line(record) {
      const line = JSON.stringify(record);
      // Looking is cheap; replacing inside the JSON could break an escape, so it is done on values.
      if (!written.some((secret) => line.includes(secret))) return `${line}\n`;
      const clean = (_key: string, value: unknown) =>
        typeof value === "string" ? hide(value) : value;
      return `${JSON.stringify(record, clean)}\n`;
    },
  };
}
