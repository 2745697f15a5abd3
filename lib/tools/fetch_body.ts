/**
 * The body of an answer, read up to a limit.
 *
 * @module
 */

/** Bytes that are read: 5 MiB. */
const MAX_BYTES = 5 * 1024 * 1024;

/** A body. */
export interface FetchedBody {
  readonly bytes: Uint8Array;
  /** Whether there was more. */
  readonly cut: boolean;
  /** The media type in small letters, without parameters; empty where the server told none. */
  readonly type: string;
  /** The character set the server told; empty for none. */
  readonly charset: string;
}

/** Reads the body of a response. What is beyond the limit is not waited for. */
export async function readBody(response: Response): Promise<FetchedBody> {
  const [type = "", ...parameters] = (response.headers.get("content-type") ?? "").split(";");
  const charset =
    parameters.map((parameter) => /^\s*charset\s*=\s*"?([^"\s]+)/iu.exec(parameter)?.[1])
      .find((found) => found !== undefined) ?? "";
  const chunks: Uint8Array[] = [];
  let size = 0;
  let cut = false;
  const reader = response.body?.getReader();
  while (reader !== undefined) {
    const { value, done } = await reader.read();
    if (done) break;
    const room = MAX_BYTES - size;
    chunks.push(value.subarray(0, room));
    size += Math.min(value.length, room);
    if (value.length > room) {
      cut = true;
      await reader.cancel();
      break;
    }
  }
  const bytes = new Uint8Array(size);
  let at = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, at);
    at += chunk.length;
  }
  return { bytes, cut, type: type.trim().toLowerCase(), charset };
}
