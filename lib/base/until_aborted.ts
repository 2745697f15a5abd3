/**
 * Waiting no longer than until something is aborted.
 *
 * @module
 */

/**
 * Waits for a promise, no longer than until `signal` is aborted; what comes later is left alone.
 *
 * @returns its value.
 * @throws the signal's reason when it is aborted first, and what the promise rejects with before.
 */
export async function untilAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  let onAbort = () => {};
  const aborted = new Promise<never>((_, reject) => {
    onAbort = () => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) onAbort();
  });
  try {
    return await Promise.race([aborted, promise]);
  } finally {
    signal.removeEventListener("abort", onAbort);
  }
}

/**
 * Waits for a promise to settle, no longer than until `signal` is aborted, which is no error.
 *
 * @throws what the promise rejects with before that.
 */
export async function settledOrAborted(
  promise: Promise<unknown>,
  signal: AbortSignal,
): Promise<void> {
  try {
    await untilAborted(promise, signal);
  } catch (thrown) {
    if (!signal.aborted) throw thrown;
  }
}
