/** The version of all packages. */
export const VERSION = '0.1.0';

/** The runtime name that Podwright's runtime reports in the CRI's Version call. */
export const RUNTIME_NAME = 'podwright';
