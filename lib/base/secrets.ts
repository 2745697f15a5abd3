/**
 * Keeping secrets out of what is shown, logged or passed on.
 *
 * @module
 */

/** Shorter strings are not treated as secrets: replacing them would garble ordinary text. */
const MIN_SECRET_LENGTH = 6;

const HIDDEN = "[secret]";

/** What stands before the secret itself in a header's value. */
const SCHEME = /^(?:Bearer|Basic|Token)\s+/iu;

/** Returns a function that replaces every given secret in a text. */
export function redactor(secrets: readonly (string | undefined)[]): (text: string) => string {
  const known = secrets.filter((secret) => secret !== undefined)
    .flatMap((secret) => [secret, secret.replace(SCHEME, "")])
    .filter((secret) => secret.length >= MIN_SECRET_LENGTH);
  return (text) => {
    let clean = text;
    for (const secret of known) clean = clean.replaceAll(secret, HIDDEN);
    // Keys that servers echo in their errors, in whole or in part, in the usual notations.
    return clean
      .replace(/\b(sk|pk|gsk|xai|key)-[A-Za-z0-9_*.-]{8,}/gu, HIDDEN)
      .replace(/\b(Bearer)\s+[A-Za-z0-9._~+/=-]{6,}/giu, `$1 ${HIDDEN}`);
  };
}
