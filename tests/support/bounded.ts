/**
 * Waiting that ends: tests wait for events, and say what they saw when none came.
 *
 * @module
 */

/** How long a test waits for an event, in milliseconds, unless it says otherwise. */
export const DEFAULT_WAIT_MS = 20_000;

/**
 * Returns what `promise` gives.
 *
 * @throws {Error} after `ms` milliseconds, with what `seen` says then.
 */
export async function bounded<T>(promise: Promise<T>, ms: number, seen: () => string): Promise<T> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`Waited ${ms} ms in vain. ${seen()}`)), ms);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
