/** Constants that `scripts/build.ts` defines in bundles. In unbundled code, they are undefined. */
declare const PODWRIGHT_VERSION: string;
declare const PODWRIGHT_COMMIT: string;
declare const PODWRIGHT_BUILD: string;

/** The version of all packages. */
export const VERSION = typeof PODWRIGHT_VERSION === 'undefined' ? '0.1.0' : PODWRIGHT_VERSION;

/** The Git commit of the sources; empty if unknown. */
export const COMMIT = typeof PODWRIGHT_COMMIT === 'undefined' ? '' : PODWRIGHT_COMMIT;

/** Digest of the sources, which distinguishes builds of the same version and commit; '' if the code is not bundled. */
export const BUILD = typeof PODWRIGHT_BUILD === 'undefined' ? '' : PODWRIGHT_BUILD;

/** The runtime name that Podwright's container runtime reports in the CRI's Version call. */
export const RUNTIME_NAME = 'podwright';
