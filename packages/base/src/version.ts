/** Constants defined by `scripts/build.ts` in bundles. They are undefined in unbundled code. */
declare const PODWRIGHT_VERSION: string;
declare const PODWRIGHT_COMMIT: string;
declare const PODWRIGHT_BUILD: string;

/** The version of all packages. */
export const VERSION = typeof PODWRIGHT_VERSION === 'undefined' ? '0.1.0' : PODWRIGHT_VERSION;

/** The Git commit that the program was built from; empty if unknown. */
export const COMMIT = typeof PODWRIGHT_COMMIT === 'undefined' ? '' : PODWRIGHT_COMMIT;

/** Digest of the sources, which distinguishes builds of the same version and commit; empty if the code is not bundled. */
export const BUILD = typeof PODWRIGHT_BUILD === 'undefined' ? '' : PODWRIGHT_BUILD;

/** The runtime name reported in the CRI's Version response. */
export const RUNTIME_NAME = 'podwright';
