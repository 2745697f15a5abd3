/**
 * Keeping stdout for the protocol.
 *
 * @module
 */
import { Console } from "node:console";
import type { Writable } from "node:stream";

/**
 * Sends everything that this program or a library prints with `console` to `stderr`. One printed
 * line on stdout would end the conversation with an editor.
 *
 * @param stderr where it goes instead.
 * @returns a function that puts the old console back.
 */
export function guardConsole(stderr: Writable): () => void {
  const before = globalThis.console;
  globalThis.console = new Console({ stdout: stderr, stderr });
  return () => {
    globalThis.console = before;
  };
}
