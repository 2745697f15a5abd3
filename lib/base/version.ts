/**
 * The version of mm. The release script writes it; a test keeps it equal to the manifest's.
 *
 * @module
 */

/** The version of this mm, as in `deno.json`. */
export const VERSION = "0.1.0";
