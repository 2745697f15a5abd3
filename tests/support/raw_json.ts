/**
 * Finds the literal text of values inside a JSON document, to compare bytes and not meanings.
 *
 * @module
 */

/**
 * Returns the literal text of each member of a JSON object, in order.
 *
 * @throws {SyntaxError} when the text is no JSON object.
 */
export function rawMembers(json: string): Map<string, string> {
  JSON.parse(json);
  const members = new Map<string, string>();
  let at = skipSpace(json, 0);
  if (json[at] !== "{") throw new SyntaxError("The document is no JSON object");
  at = skipSpace(json, at + 1);
  while (json[at] !== "}") {
    const keyEnd = endOfValue(json, at);
    const key = JSON.parse(json.slice(at, keyEnd)) as string;
    at = skipSpace(json, skipSpace(json, keyEnd) + 1);
    const end = endOfValue(json, at);
    members.set(key, json.slice(at, end));
    at = skipSpace(json, end);
    if (json[at] === ",") at = skipSpace(json, at + 1);
  }
  return members;
}

/**
 * Returns the literal text of each element of a JSON array.
 *
 * @throws {SyntaxError} when the text is no JSON array.
 */
export function rawElements(json: string): string[] {
  JSON.parse(json);
  const elements: string[] = [];
  let at = skipSpace(json, 0);
  if (json[at] !== "[") throw new SyntaxError("The document is no JSON array");
  at = skipSpace(json, at + 1);
  while (json[at] !== "]") {
    const end = endOfValue(json, at);
    elements.push(json.slice(at, end));
    at = skipSpace(json, end);
    if (json[at] === ",") at = skipSpace(json, at + 1);
  }
  return elements;
}

function skipSpace(json: string, at: number): number {
  while (/[ \t\r\n]/u.test(json.charAt(at))) at++;
  return at;
}

/** The offset after the value that begins at `at`. The document is known to be valid JSON. */
function endOfValue(json: string, at: number): number {
  const first = json.charAt(at);
  if (first === '"') return endOfString(json, at);
  if (first !== "{" && first !== "[") {
    while (at < json.length && !/[,\]}\s]/u.test(json.charAt(at))) at++;
    return at;
  }
  let depth = 0;
  while (at < json.length) {
    const char = json.charAt(at);
    if (char === '"') {
      at = endOfString(json, at);
      continue;
    }
    if (char === "{" || char === "[") depth++;
    if (char === "}" || char === "]") depth--;
    at++;
    if (depth === 0) return at;
  }
  return at;
}

function endOfString(json: string, at: number): number {
  at++;
  while (json[at] !== '"') at += json[at] === "\\" ? 2 : 1;
  return at + 1;
}
