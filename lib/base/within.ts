/**
 * Waiting no longer than a time.
 *
 * @module
 */
import { clearTimeout, setTimeout } from "node:timers";

/**
 * Waits for a promise, at most `ms` milliseconds; what comes later is left alone.
 *
 * @returns its value, or `undefined` when that was too short.
 * @throws what the promise rejects with in time.
 */
export async function within<T>(promise: Promise<T>, ms: number): Promise<T | undefined> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<undefined>((resolve) =>
    timer = setTimeout(() => resolve(undefined), ms)
  );
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
