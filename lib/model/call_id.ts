/**
 * Ids of tool calls: new ones, and ones that strict servers accept.
 *
 * @module
 */

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** The form of ids that Mistral's templates demand; every other server takes it as well. */
const LENGTH = 9;

/** Returns a new random id of nine letters and digits. */
export function newCallId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(LENGTH));
  let id = "";
  for (const byte of bytes) id += ALPHABET[byte % ALPHABET.length];
  return id;
}

/**
 * Returns the id itself where it has nine letters and digits, else nine derived from it: the same
 * every time, so that a call and its result still match and the history stays the same.
 */
export function nineLetterId(id: string): string {
  if (/^[A-Za-z0-9]{9}$/u.test(id)) return id;
  // Two rounds of FNV-1a with different seeds: enough bits that ids of one history never meet.
  let result = "";
  let hash = fnv(id, 0x811c9dc5);
  for (let i = 0; i < LENGTH; i++) {
    if (i === 5) hash = fnv(id, 0x01000193);
    result += ALPHABET[hash % ALPHABET.length];
    hash = Math.floor(hash / ALPHABET.length);
  }
  return result;
}

function fnv(text: string, seed: number): number {
  let hash = seed;
  for (let i = 0; i < text.length; i++) {
    hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193) >>> 0;
  }
  return hash;
}
