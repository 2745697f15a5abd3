/**
 * Tasks that share one thing, such as the person at the terminal.
 *
 * @module
 */

/** Returns a function that runs tasks one after the other, in the order they come. */
export function oneAtATime(): <T>(task: () => Promise<T>) => Promise<T> {
  let before: Promise<unknown> = Promise.resolve();
  return (task) => {
    const result = before.then(task);
    before = result.catch(() => {});
    return result;
  };
}
