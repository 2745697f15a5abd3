/**
 * Which commit this program was built from.
 *
 * @module
 */

/** Put in place of the name by `scripts/bundle.ts`; nothing defines it where mm runs from source. */
declare const MM_BUILD_COMMIT: string | undefined;

/**
 * The commit this program was bundled from, 12 hexadecimal digits, with `-dirty` where files differed
 * from it; `unknown` for a bundle made outside a git repository, `undefined` from source.
 */
export const BUILD_COMMIT: string | undefined = typeof MM_BUILD_COMMIT === "undefined"
  ? undefined
  : MM_BUILD_COMMIT;
