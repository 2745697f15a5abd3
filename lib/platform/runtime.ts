/**
 * The runtime mm runs on, and how this program is started again.
 *
 * @module
 */

/** How to start this same program again: the executable and the arguments before mm's own. */
export type SelfCommand = readonly [string, ...string[]];
