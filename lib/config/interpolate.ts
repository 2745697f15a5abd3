/**
 * `${NAME}` in a value of the configuration: a variable of the environment.
 *
 * @module
 */
import { quotable } from "./problems.ts";

/** A text with its variables read, or what is wrong with it. */
export type Interpolated =
  | { readonly text: string; readonly changed: boolean }
  | { readonly error: string };

const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/u;

/**
 * Replaces each `${NAME}` by the variable's value and each `$${` by a literal `${`. A value is taken
 * as it is: what looks like a variable inside it is not read again.
 */
export function interpolate(
  source: string,
  env: Readonly<Record<string, string | undefined>>,
): Interpolated {
  if (!source.includes("${")) return { text: source, changed: false };
  let error: string | undefined;
  const text = source.replace(/\$\$\{|\$\{([^}\n]*)(\}?)/gu, (whole, name, close) => {
    if (whole === "$${") return "${";
    if (close === "" || !NAME.test(name)) {
      error ??= `has "\${" without the name of a variable and "}"; write "$\${" for a literal one`;
      return "";
    }
    const value = Object.hasOwn(env, name) ? env[name] : undefined;
    if (value === undefined) {
      error ??= `reads the environment variable "${quotable(name)}", which is not set; ` +
        `set it, or write "$\${" for a literal "\${"`;
    }
    return value ?? "";
  });
  return error === undefined ? { text, changed: true } : { error };
}
