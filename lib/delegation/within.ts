/**
 * Waiting no longer than a time.
 *
 * @module
 */
import { clearTimeout, setTimeout } from "node:timers";

/** Waits for something that does not reject, at most `ms` milliseconds. */
export async function within(task: Promise<unknown>, ms: number): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    await Promise.race([task, new Promise<void>((resolve) => timer = setTimeout(resolve, ms))]);
  } finally {
    clearTimeout(timer);
  }
}
